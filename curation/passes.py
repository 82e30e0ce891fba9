"""A pass over all turns of a data set: what is cut to pieces, read, and spread, whatever is looked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from curation.job import JobSizes
from curation.neighbours import turns_by_row_group
from curation.pieces import Piece, cut
from curation.spread import spread
from trajectories.dataset import Dataset

_Task = TypeVar("_Task")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """Who does the work: a Dask scheduler anywhere, or ``number`` processes here (all cores unless given)."""

    scheduler: str | None = None
    number: int | None = None
    sizes: JobSizes = field(default_factory=JobSizes)

    def do(self, work: Callable[[list[_Task]], object], tasks: Sequence[_Task], num_bytes: Sequence[int]) -> None:
        """Do all tasks, in lists of about ``sizes.task_bytes``; with little to do, in this process.

        Args:
            work: gives the same result however often and wherever it runs.
            tasks: what to do.
            num_bytes: the size of each task.

        Raises:
            InputError: the scheduler does not answer.
            WorldtapeError: a task killed several workers in a row.
            Exception: what ``work`` raised.
        """
        number = self.number or os.cpu_count() or 1
        if sum(num_bytes) < self.sizes.in_process_bytes:
            number = 1
        for _ in spread(work, self._together(tasks, num_bytes), scheduler=self.scheduler, workers=number):
            pass

    def _together(self, tasks: Sequence[_Task], num_bytes: Sequence[int]) -> list[list[_Task]]:
        lists: list[list[_Task]] = []
        room = 0
        for task, size in zip(tasks, num_bytes, strict=True):
            if not lists or room < size:
                lists.append([])
                room = self.sizes.task_bytes
            lists[-1].append(task)
            room -= size
        return lists


def turn_pieces(dataset: Dataset, sizes: JobSizes) -> list[Piece]:
    """The pieces of all turns parts, in the order of the parts' names.

    Raises:
        InputError: no data set, no turns, or not a local folder.
        DamagedFileError: a part is not a Parquet file.
    """
    turns = dataset.folder / "turns"
    parts = [Path(part.path).relative_to(turns).as_posix() for part in dataset.turn_parts()]
    return [piece for part in parts for piece in cut(turns, part, sizes.task_bytes)]


def place_of(piece: Piece) -> tuple[str, str]:
    """Domain and run of a piece's turns."""
    domain, run, _ = piece.part.split("/")
    return domain.removeprefix("domain="), run.removeprefix("run=")


def row_groups(turns: Path, piece: Piece, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The row groups of a piece, one in memory at a time.

    Raises:
        DamagedFileError: one cannot be read.
    """
    for seen in turns_by_row_group(turns / piece.part, piece.first, piece.end, columns):
        yield seen.rows
