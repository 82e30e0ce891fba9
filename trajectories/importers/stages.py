"""How much came into each stage that open traces pass, and how much came out: summed over what an import has read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from trajectories.importers.base import Imported
from trajectories.model import JsonValue

STAGED: Final = frozenset({"asciicast"})
"""The formats of open traces. An export of one tells of stages too, which were those of an earlier import."""

_UNITS: Final[Mapping[str, str]] = {
    "fetch": "sources",
    "denoise": "lines",
    "segment": "events into turns",
    "align": "turns",
    "score": "turns",
}
"""Stage → what is counted."""
_PASSED: Final = ("turns_segmented", "turns_aligned", "turns_entered")
"""What an outcome says came out of the last three stages."""
_DENOISE: Final = "denoise: "
_REPLY: Final = "denoise: reply of the terminal"
"""The one kind of noise that is among the events which were given."""


class Stages:
    """Counts of the stages; of a format that has none, nothing."""

    def __init__(self) -> None:
        self._came_in: Counter[str] = Counter()
        self._came_out: Counter[str] = Counter()

    def add(self, imported: Imported) -> None:
        """Count a trajectory whose outcome tells of stages."""
        events = _count(imported, "events")
        passed = [_count(imported, name) for name in _PASSED]
        if events is None or None in passed:
            return
        noise = {kind: count for kind, count in imported.loss.skipped.items() if kind.startswith(_DENOISE)}
        kept = events - noise.get(_REPLY, 0)
        outs = [1, kept, *(count or 0 for count in passed)]
        ins = [1, kept + sum(noise.values()), *outs[1:-1]]
        for stage, came_in, came_out in zip(_UNITS, ins, outs, strict=True):
            self._came_in[stage] += came_in
            self._came_out[stage] += came_out

    def as_json(self, num_sources: int) -> dict[str, JsonValue]:
        """Stage → ``{"of", "in", "out"}``, in their order; all that was to be fetched came into the first."""
        came_in = {**self._came_in, "fetch": num_sources}
        if not self._came_out:
            return {}
        return {
            stage: {"of": unit, "in": came_in[stage], "out": self._came_out[stage]} for stage, unit in _UNITS.items()
        }


def _count(imported: Imported, name: str) -> int | None:
    value = imported.outcome.get(name)
    return value if isinstance(value, int) else None
