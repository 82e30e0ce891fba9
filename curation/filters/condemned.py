"""The trajectories of a part that are masked as a whole, and how that changes the rows of a sidecar."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.elsewhere import Elsewhere
from curation.reasons import NO_REASON, REASON_NAMES, Codes, Reason, code_of, reason_names
from trajectories.part_files import read_part, reading_part


class Condemned:
    """Trajectories that are masked, each for a reason: of several, for the first in the order of `Reason`.

    Args:
        elsewhere: what is known of trajectories, and of single turns, that their part does not show.
    """

    def __init__(self, elsewhere: Elsewhere) -> None:
        self._codes = {name: int(code_of(reason)) for name, reason in elsewhere.trajectories.items()}
        self._turns = elsewhere.turns

    def add(self, trajectory_ids: Iterable[str], reason: Reason) -> None:
        code = int(code_of(reason))
        for trajectory_id in trajectory_ids:
            self._codes[trajectory_id] = min(code, self._codes.get(trajectory_id, code))

    def add_found(self, rows: pa.Table) -> None:
        """Add what turns say against their trajectories: the columns ``trajectory_id`` and ``condemns``."""
        told = rows.filter(pc.is_valid(rows["condemns"])).group_by(["trajectory_id", "condemns"]).aggregate([])
        for trajectory_id, reason in zip(*(told[name].to_pylist() for name in rows.column_names), strict=True):
            self.add([trajectory_id], Reason(reason))

    def mask(self, rows: pa.Table) -> pa.Table:
        """Sidecar rows of which those of condemned trajectories are masked, where no earlier reason is told."""
        if not self._codes and not self._turns:
            return rows
        theirs = self._codes_of(rows)
        told = pc.index_in(rows["reason"], REASON_NAMES).to_numpy().astype(np.int8)
        kept = rows["kept"].to_numpy() & (theirs == NO_REASON)
        for name, values in (("kept", pa.array(kept)), ("reason", reason_names(np.minimum(told, theirs)))):
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, rows.schema.field(name), values)
        return rows

    def _codes_of(self, rows: pa.Table) -> Codes:
        """What speaks against each row: against its trajectory, or against itself."""
        ids = rows["trajectory_id"].combine_chunks().dictionary_encode()
        names, places = ids.dictionary.to_pylist(), ids.indices.to_numpy()
        found: Codes = np.array([self._codes.get(name, NO_REASON) for name in names], dtype=np.int8)[places]
        turns = rows["turn"].to_numpy()
        said = np.array([name in self._turns for name in names], dtype=np.bool_)
        for row in np.flatnonzero(said[places]).tolist():
            reason = self._turns[names[places[row]]].get(int(turns[row]))
            if reason is not None:
                found[row] = min(found[row], code_of(reason))
        return found


def with_few_turns(trajectories: Path, min_turns: int) -> list[str]:
    """The ids of a trajectories part's trajectories that have fewer turns than that.

    Raises:
        DamagedFileError: the part cannot be read.
    """
    with reading_part(trajectories):
        rows = read_part(trajectories, columns=["trajectory_id", "num_turns"])
    few: list[str] = rows.filter(pc.less(rows["num_turns"], min_turns))["trajectory_id"].to_pylist()
    return few
