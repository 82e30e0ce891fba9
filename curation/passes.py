"""A pass over all turns of a data set: what is cut to pieces, read, and spread, whatever is looked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curation.neighbours import turns_by_row_group
from curation.pieces import Piece, cut
from curation.spread import Pool
from trajectories.dataset import Dataset
from trajectories.part_files import reading_part

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSizes:
    """How the work is cut, in uncompressed bytes of text; the result does not depend on it."""

    task_bytes: int = 128 * 2**20
    """About a second's work, against the few milliseconds that a task costs."""
    in_process_bytes: int = 512 * 2**20
    """With less than this to do, processes would take longer to start than to work; who asks for some gets them."""


class Progress(Protocol):
    """Told, now and then, how many bytes of text are done, and of how many."""

    def __call__(self, done: int, total: int) -> None: ...


class Watch(Protocol):
    """What shows how far a job is: each stage of it has a block, and a name for people."""

    def __call__(self, stage: str) -> AbstractContextManager[Progress]: ...


def unwatched(stage: str) -> AbstractContextManager[Progress]:  # noqa: ARG001  # the name is the protocol's
    """The watch of a job at which nobody looks."""
    return nullcontext(lambda done, total: None)  # noqa: ARG005  # and so are these


@dataclass(slots=True, kw_only=True)
class Workers:
    """Who does the work: a Dask scheduler anywhere, or ``number`` processes here.

    Where no number is given, it is all cores, or none but this process for what is little to do.

    In a ``with`` block the processes are started once for all that they do in it, else for each job anew.
    """

    scheduler: str | None = None
    number: int | None = None
    sizes: JobSizes = field(default_factory=JobSizes)
    watch: Watch = unwatched
    _pool: Pool | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> Self:
        self._pool = self._new_pool().__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.__exit__(kind, error, trace)

    def _new_pool(self) -> Pool:
        return Pool(scheduler=self.scheduler, workers=self.number or os.cpu_count() or 1)

    def each(
        self, work: Callable[[list[_Task]], _Result], tasks: Sequence[_Task], num_bytes: Sequence[int], *, stage: str
    ) -> Iterator[_Result]:
        """The results of ``work`` on lists of tasks, in the order they finish.

        A list is of about ``sizes.task_bytes``, or of less, so that workers that were asked for have one each.

        Args:
            work: gives the same result however often and wherever it runs.
            tasks: what to do.
            num_bytes: the size of each task.
            stage: what this is to people who watch.

        Raises:
            InputError: the scheduler does not answer, or has no worker.
            WorldtapeError: a task killed several workers in a row.
            Exception: what ``work`` raised.
        """
        total, done = sum(num_bytes), 0
        lists, sizes = _together(tasks, num_bytes, min(self.sizes.task_bytes, total // (self.number or 1)))
        little = self.scheduler is None and self.number is None and total < self.sizes.in_process_bytes
        with self.watch(stage) as progress, self._pool_for(little) as pool:
            for size, result in pool.map(_Sized(work), list(zip(sizes, lists, strict=True))):
                yield result
                done += size
                progress(done, total)

    def do(
        self,
        work: Callable[[list[_Task]], object],
        tasks: Sequence[_Task],
        num_bytes: Sequence[int],
        *,
        stage: str = "turns",
    ) -> None:
        """`each`, where nothing is made of the results."""
        for _ in self.each(work, tasks, num_bytes, stage=stage):
            pass

    def _pool_for(self, little: bool) -> AbstractContextManager[Pool]:
        if little:
            return Pool(scheduler=None, workers=1)
        return self._new_pool() if self._pool is None else nullcontext(self._pool)


def _together(tasks: Sequence[_Task], num_bytes: Sequence[int], list_bytes: int) -> tuple[list[list[_Task]], list[int]]:
    """Tasks in order, as many to a list as are ``list_bytes`` together, and one at least; the sizes of the lists."""
    lists: list[list[_Task]] = []
    sizes: list[int] = []
    for task, size in zip(tasks, num_bytes, strict=True):
        if not lists or sizes[-1] + size > list_bytes:
            lists.append([])
            sizes.append(0)
        lists[-1].append(task)
        sizes[-1] += size
    return lists, sizes


@dataclass(frozen=True, slots=True)
class _Sized(Generic[_Task, _Result]):
    """Work that tells the size of the list it has done beside its result."""

    work: Callable[[list[_Task]], _Result]

    def __call__(self, task: tuple[int, list[_Task]]) -> tuple[int, _Result]:
        size, tasks = task
        return size, self.work(tasks)


def turn_pieces(dataset: Dataset, sizes: JobSizes) -> list[Piece]:
    """The pieces of all turns parts, in the order of the parts' names.

    Raises:
        InputError: no data set, no turns, or not a local folder.
        DamagedFileError: a part is not a Parquet file.
    """
    turns = dataset.folder / "turns"
    return [piece for part in turn_part_names(dataset) for piece in cut(turns, part, sizes.task_bytes)]


def turn_part_names(dataset: Dataset) -> list[str]:
    """The paths of the turns parts below ``turns/``, sorted: their names in every table that mirrors them.

    Raises:
        InputError: no data set, no turns, or not a local folder.
    """
    turns = dataset.folder / "turns"
    return [Path(part.path).relative_to(turns).as_posix() for part in dataset.turn_parts()]


def done_parts(
    work: Callable[[list[Piece]], list[Piece]], dataset: Path, parts: Sequence[str], workers: Workers, *, stage: str
) -> Iterator[list[Piece]]:
    """Have parts done piece by piece; yields the pieces of each part as soon as the last of them is done.

    Args:
        work: gives back the pieces that it was given.
        dataset: the folder of the data set.

    Raises:
        DamagedFileError: a part is not a Parquet file.
        Exception: as `Workers.each`.
    """
    pieces = {part: cut(dataset / "turns", part, workers.sizes.task_bytes) for part in parts}
    waiting = {part: len(of_part) for part, of_part in pieces.items()}
    everything = [piece for of_part in pieces.values() for piece in of_part]
    for done in workers.each(work, everything, [piece.num_bytes for piece in everything], stage=stage):
        for piece in done:
            waiting[piece.part] -= 1
            if not waiting[piece.part]:
                yield pieces[piece.part]


def header_rows(dataset: Path, piece: Piece, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The rows of a part's trajectories, with the first piece of the part: row groups, one in memory at a time.

    Raises:
        DamagedFileError: one cannot be read.
    """
    if piece.first == 0:
        path = dataset / "trajectories" / piece.part
        with reading_part(path):
            num_groups = pq.read_metadata(path).num_row_groups
        yield from row_groups(dataset / "trajectories", Piece(piece.part, 0, num_groups, 0), columns)


def texts_to_search(
    dataset: Path, piece: Piece, *, of_headers: Sequence[str], of_turns: Sequence[str]
) -> Iterator[pa.Table]:
    """Row groups with ``trajectory_id``, ``turn`` and the columns that are searched. Headers count as turn 0.

    Raises:
        DamagedFileError: one cannot be read.
    """
    for rows in header_rows(dataset, piece, ("trajectory_id", *of_headers)):
        yield rows.append_column("turn", pa.array(np.zeros(rows.num_rows, np.int32)))
    yield from row_groups(dataset / "turns", piece, ("trajectory_id", "turn", *of_turns))


def row_groups(turns: Path, piece: Piece, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The row groups of a piece, one in memory at a time.

    Raises:
        DamagedFileError: one cannot be read.
    """
    for seen in turns_by_row_group(turns / piece.part, piece.first, piece.end, columns):
        yield seen.rows
