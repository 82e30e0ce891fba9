"""From journals to Parquet: repeatable, and safe at any moment.

A part is two files of one name, made from the hash of its trajectories' ids: first the turns' file takes its place,
then the trajectories' file, which is the commit. Readers see only turns whose trajectories' file is there. What a
compaction that was killed left uncommitted is replaced by the next one, and journals are removed only after the
commit.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from trajectories.dataset import Dataset
from trajectories.files import (
    append_durably,
    locked_if_free,
    remove_abandoned,
    storage_errors,
    sync_folder,
    written_aside,
)
from trajectories.journal_format import SUFFIX, JournalReader, Record, RecordKind, encode, last_record
from trajectories.model import Ending, Status, canonical_json
from trajectories.row_groups import RowGroupWriter
from trajectories.rows import Row, end_of, end_row
from trajectories.schemas import TRAJECTORIES, TURNS
from trajectories.sessions import session_lines

_PART_BYTES: Final = 2**30
"""Journals that go into one part, in bytes; one trajectory is never divided."""


@dataclass(frozen=True, slots=True)
class _Journal:
    """An ended journal."""

    domain: str
    trajectory_id: str
    path: Path
    num_bytes: int

    def records(self) -> Iterator[Record]:
        with self.path.open("rb") as file:
            yield from JournalReader(file, str(self.path))


def compact(dataset: Dataset, run: str) -> list[str]:
    """Move the ended trajectories of a run from their journals to Parquet parts, and their raw events to recordings.

    Open journals stay. Doing it again, also after it was killed, gives the same bytes; compactions of one run wait for
    one another. Memory is bounded by the row group.

    Returns:
        The ids of the trajectories that are now in Parquet and were not before, sorted.

    Raises:
        StorageError: the disk is full or fails; the journals are untouched and nothing half-written is left.
        DamagedFileError: a journal has a bad line.
    """
    folder = dataset.journal_folder(run)
    if not folder.is_dir():
        return []
    compacted: list[str] = []
    with _one_at_a_time(folder):
        _remove_leavings(dataset, folder)
        journals = sorted(_ended_journals(folder), key=lambda journal: (journal.domain, journal.trajectory_id))
        for domain, group in groupby(journals, key=lambda journal: journal.domain):
            compacted += _Partition(dataset, domain, run).compact(list(group))
    return sorted(compacted)


def recover(dataset: Dataset, run: str) -> list[str]:
    """End the trajectories of a run whose writers are dead, as interrupted; a living writer's journal is left alone.

    A torn last line is cut off: it was a turn in flight.

    Returns:
        The ids of the trajectories that were ended, sorted.
    """
    folder = dataset.journal_folder(run)
    if not folder.is_dir():
        return []
    _remove_leavings(dataset, folder)
    return [path.name.removesuffix(SUFFIX) for path in dataset.journal_paths(run) if _close_abandoned(path)]


class _Partition:
    """The parts of one domain and run."""

    def __init__(self, dataset: Dataset, domain: str, run: str) -> None:
        self._dataset, self._domain, self._run = dataset, domain, run
        self._turns, self._trajectories = (
            dataset.folder / table / f"domain={domain}" / f"run={run}" for table in ("turns", "trajectories")
        )

    def compact(self, journals: list[_Journal]) -> list[str]:
        self._remove_uncommitted()
        committed = self._dataset.compacted_ids(self._domain, self._run)
        _remove([journal for journal in journals if journal.trajectory_id in committed])
        fresh = [journal for journal in journals if journal.trajectory_id not in committed]
        for batch in _batches(fresh):
            self._commit(batch)
            _remove(batch)
        return [journal.trajectory_id for journal in fresh]

    def _commit(self, journals: list[_Journal]) -> None:
        name = _part_name([journal.trajectory_id for journal in journals])
        try:
            with (
                storage_errors(self._dataset.folder),
                written_aside(self._turns) as turns,
                written_aside(self._trajectories) as trajectories,
            ):
                with (
                    RowGroupWriter(turns.file, TURNS) as turn_rows,
                    RowGroupWriter(trajectories.file, TRAJECTORIES) as trajectory_rows,
                ):
                    for journal in journals:
                        trajectory_rows.add(self._store(journal, turn_rows))
                turns.take_place(self._turns / name)
                trajectories.take_place(self._trajectories / name)
        except BaseException:
            self._remove_uncommitted()
            raise

    def _store(self, journal: _Journal, turns: RowGroupWriter) -> Row:
        """Write a trajectory's turns and recording; return its own row."""
        row: Row = {}
        num_turns = 0
        redactions: Counter[str] = Counter()
        has_events = False
        for record in journal.records():
            redactions.update(record.redactions)
            has_events = has_events or bool(record.events) or record.events_blob is not None
            if record.kind is RecordKind.TURN:
                turns.add(record.row)
                num_turns += 1
            else:
                row |= record.row
        blobs = self._dataset.blobs
        recording = blobs.put(session_lines(journal.records(), blobs), ".cast.zst") if has_events else None
        return row | {
            "num_turns": num_turns,
            "recording_blob": recording,
            "redactions_json": canonical_json(dict(sorted(redactions.items()))),
        }

    def _remove_uncommitted(self) -> None:
        for part in self._turns.glob("part-*.parquet"):
            if not (self._trajectories / part.name).exists():
                part.unlink()


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _remove_leavings(dataset: Dataset, journals: Path) -> None:
    """Remove the half-written files of writers that were killed."""
    partitions = (dataset.folder / table for table in ("turns", "trajectories"))
    folders = [path for table in partitions for path in table.glob(f"domain=*/run={journals.name}")]
    for folder in (journals, dataset.folder / "blobs", *folders):
        remove_abandoned(folder)


def _ended_journals(folder: Path) -> Iterator[_Journal]:
    for path in folder.glob(f"*{SUFFIX}"):
        with path.open("rb") as file:
            last = last_record(file, str(path))
            if last is None or last.kind is not RecordKind.END:
                continue
            file.seek(0)
            first = next(iter(JournalReader(file, str(path))))
        assert first.session is not None, "a journal begins with its start record"
        yield _Journal(first.session.domain, path.name.removesuffix(SUFFIX), path, path.stat().st_size)


def _batches(journals: list[_Journal]) -> Iterator[list[_Journal]]:
    batch: list[_Journal] = []
    size = 0
    for journal in journals:
        batch.append(journal)
        size += journal.num_bytes
        if size >= _PART_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _part_name(trajectory_ids: list[str]) -> str:
    digest = hashlib.sha256("\n".join(trajectory_ids).encode()).hexdigest()
    return f"part-{digest[:16]}.parquet"


def _remove(journals: list[_Journal]) -> None:
    for journal in journals:
        journal.path.unlink(missing_ok=True)
    if journals:
        sync_folder(journals[0].path.parent)


def _close_abandoned(path: Path) -> bool:
    """End a journal as interrupted where nobody holds it and it has no ending."""
    with storage_errors(path), locked_if_free(path) as file:
        if file is None:
            return False
        reader = JournalReader(file, str(path))
        last = deque(reader, maxlen=1)[0]
        if last.kind is RecordKind.END:
            return False
        ending = Ending(status=Status.INTERRUPTED, ended_at=end_of(last.row), error="the recording process ended")
        file.truncate(reader.whole_bytes)
        record = Record(kind=RecordKind.END, row=end_row(ending))
        append_durably(file.fileno(), reader.whole_bytes, encode(record))
    return True
