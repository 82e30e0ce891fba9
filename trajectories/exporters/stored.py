"""The committed trajectories of a data set, each with its turns, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from fsspec import AbstractFileSystem

from trajectories.dataset import Dataset
from trajectories.part_files import part_batches, reading_part

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class StoredTrajectory:
    """A trajectory's row (with ``domain`` and ``run``) and the rows of its turns, in order."""

    row: Row
    turns: list[Row]


def stored_trajectories(dataset: Dataset, *, run: str | None = None) -> Iterator[StoredTrajectory]:
    """Every committed trajectory, or those of one run: both files of a part are sorted by trajectory id."""
    for part, turn_part in zip(dataset.trajectory_parts(), dataset.turn_parts(), strict=True):
        if run not in (None, part.run):
            continue
        place = {"domain": part.domain, "run": part.run}
        by_id = groupby(_rows(dataset.filesystem, turn_part.path), key=lambda turn: turn["trajectory_id"])
        next_id, turns = next(by_id, (None, iter(())))
        for row in _rows(dataset.filesystem, part.path):
            if row["trajectory_id"] != next_id:
                yield StoredTrajectory(row | place, [])
                continue
            yield StoredTrajectory(row | place, list(turns))
            next_id, turns = next(by_id, (None, iter(())))


def _rows(filesystem: AbstractFileSystem, path: str) -> Iterator[Row]:
    with reading_part(path), filesystem.open(path, "rb") as file:
        for batch in part_batches(file):
            yield from batch.to_pylist()
