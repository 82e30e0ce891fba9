"""The parts of one domain and run: how trajectories become one, and from when on it counts.

A part is two files of one name, made from the hash of its trajectories' ids: first the turns' file takes its place,
then the trajectories' file, which is the commit. Readers see only turns whose trajectories' file is there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from trajectories.dataset import Dataset
from trajectories.files import AsideFile, make_folder, remove_abandoned, storage_errors, written_aside
from trajectories.journal_format import Record, RecordKind
from trajectories.model import canonical_json
from trajectories.row_groups import RowGroupWriter
from trajectories.rows import Row
from trajectories.schemas import TRAJECTORIES, TURNS
from trajectories.sessions import session_lines

PART_BYTES: Final = 2**30
"""Records that go into one part, in bytes as a journal has them; one trajectory is never divided."""


class Stored(Protocol):
    """An ended trajectory whose records can be read, any number of times."""

    @property
    def trajectory_id(self) -> str: ...

    def records(self) -> Iterator[Record]: ...


class Partition:
    """The parts of one domain and run, for the one who holds :func:`exclusive`."""

    def __init__(self, dataset: Dataset, domain: str, run: str) -> None:
        self._dataset, self._domain, self._run = dataset, domain, run
        self.turns, self.trajectories = (
            dataset.folder / table / f"domain={domain}" / f"run={run}" for table in ("turns", "trajectories")
        )

    def committed_ids(self) -> set[str]:
        return self._dataset.compacted_ids(self._domain, self._run)

    @contextmanager
    def staged(self, trajectories: Sequence[Stored]) -> Iterator[StagedPart]:
        """A part, written aside, of trajectories in the order of their ids; it leaves no trace unless committed.

        Raises ``StorageError`` where the disk is full or fails.
        """
        name = _part_name([trajectory.trajectory_id for trajectory in trajectories])
        with (
            storage_errors(self._dataset.folder),
            written_aside(self.turns) as turns,
            written_aside(self.trajectories) as rows,
        ):
            with (
                RowGroupWriter(turns.file, TURNS) as turn_rows,
                RowGroupWriter(rows.file, TRAJECTORIES) as trajectory_rows,
            ):
                for trajectory in trajectories:
                    trajectory_rows.add(self._store(trajectory, turn_rows))
            yield StagedPart(self, name, turns, rows)

    def remove_uncommitted(self) -> None:
        for part in self.turns.glob("part-*.parquet"):
            if not (self.trajectories / part.name).exists():
                part.unlink()

    def _store(self, trajectory: Stored, turns: RowGroupWriter) -> Row:
        """Write a trajectory's turns and recording; return its own row."""
        row: Row = {}
        num_turns = 0
        redactions: Counter[str] = Counter()
        has_events = False
        for record in trajectory.records():
            redactions.update(record.redactions)
            has_events = has_events or bool(record.events) or record.events_blob is not None
            if record.kind is RecordKind.TURN:
                turns.add(record.row)
                num_turns += 1
            else:
                row |= record.row
        blobs = self._dataset.blobs
        recording = blobs.put(session_lines(trajectory.records(), blobs), ".cast.zst") if has_events else None
        return row | {
            "num_turns": num_turns,
            "recording_blob": recording,
            "redactions_json": canonical_json(dict(sorted(redactions.items()))),
        }


class StagedPart:
    """A part that is written and does not count yet."""

    def __init__(self, partition: Partition, name: str, turns: AsideFile, trajectories: AsideFile) -> None:
        self._partition, self._name, self._turns, self._trajectories = partition, name, turns, trajectories

    def commit(self) -> None:
        """Have it count, or leave no trace."""
        try:
            self._turns.take_place(self._partition.turns / self._name)
            self._trajectories.take_place(self._partition.trajectories / self._name)
        except BaseException:
            self._partition.remove_uncommitted()
            raise


@contextmanager
def exclusive(dataset: Dataset, run: str) -> Iterator[None]:
    """Be the only one who makes parts of a run; others wait. Its journal folder is made, if it is missing.

    The half-written files of those who were killed are removed first.
    """
    handle = _locked(dataset.journal_folder(run))
    try:
        remove_leavings(dataset, run)
        yield
    finally:
        os.close(handle)


def _locked(folder: Path) -> int:
    """A descriptor of a folder, which is made if it is missing, that holds its lock."""
    while True:
        make_folder(folder)
        with suppress(FileNotFoundError):  # what it waited for has removed it
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(handle, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), folder.stat()):
                    return handle
            os.close(handle)


def remove_leavings(dataset: Dataset, run: str) -> None:
    """Remove the half-written files of writers that were killed."""
    partitions = (dataset.folder / table for table in ("turns", "trajectories"))
    folders = [path for table in partitions for path in table.glob(f"domain=*/run={run}")]
    for folder in (dataset.journal_folder(run), dataset.folder / "blobs", *folders):
        remove_abandoned(folder)


def _part_name(trajectory_ids: Iterable[str]) -> str:
    digest = hashlib.sha256("\n".join(trajectory_ids).encode()).hexdigest()
    return f"part-{digest[:16]}.parquet"
