"""What is known of a part's turns that the part itself does not show: later attempts, copies, benchmark items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from curation.fingerprints import fingerprint_of
from curation.reasons import Reason


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What speaks against trajectories of a part, and against single turns of them."""

    trajectories: Mapping[str, Reason] = field(default_factory=dict)
    """By id, for what all turns of a trajectory are masked."""
    turns: Mapping[str, Mapping[int, Reason]] = field(default_factory=dict)
    """By the trajectory's id and the number of the turn."""

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that change with anything in it; none where it is empty."""
        if not self.trajectories and not self.turns:
            return ""
        return fingerprint_of([self.trajectories, self.turns])
