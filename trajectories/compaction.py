"""From journals to Parquet: repeatable, and safe at any moment.

How a part is committed, ``trajectories.partitions`` says. What a compaction that was killed left uncommitted is
replaced by the next one, and journals are removed only after the commit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from trajectories.dataset import Dataset
from trajectories.errors import DamagedFileError, InputError
from trajectories.files import append_durably, locked_if_free, storage_errors, sync_folder
from trajectories.journal_format import SUFFIX, JournalReader, Record, RecordKind, encode, last_record
from trajectories.model import Ending, Status
from trajectories.partitions import PART_BYTES, Partition, exclusive, remove_leavings
from trajectories.rows import end_of, end_row
from trajectories.sessions import session_lines


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
    one another. Memory is bounded by the row group. A journal that cannot be read stays too, and keeps no other from
    being compacted.

    Returns:
        The ids of the trajectories that are now in Parquet and were not before, sorted.

    Raises:
        StorageError: the disk is full or fails; the journals are untouched and nothing half-written is left.
        DamagedFileError, InputError: once all the others are compacted, for each journal with a bad line, without one
            of its blobs, or of a newer version.
    """
    folder = dataset.journal_folder(run)
    if not folder.is_dir():
        return []
    compacted: list[str] = []
    unreadable = _Unreadable()
    with exclusive(dataset, run):
        journals = _ended_journals(dataset.journal_paths(run), unreadable)
        journals.sort(key=lambda journal: (journal.domain, journal.trajectory_id))
        for domain, group in groupby(journals, key=lambda journal: journal.domain):
            compacted += _Compaction(dataset, domain, run, unreadable).compact(list(group))
    unreadable.complain()
    return sorted(compacted)


def recover(dataset: Dataset, run: str) -> list[str]:
    """End the trajectories of a run whose writers are dead, as interrupted; a living writer's journal is left alone.

    A torn last line is cut off: it was a turn in flight.

    Returns:
        The ids of the trajectories that were ended, sorted.

    Raises:
        StorageError: the disk is full or fails.
        DamagedFileError, InputError: once all the others are ended, for each journal that cannot be read.
    """
    folder = dataset.journal_folder(run)
    if not folder.is_dir():
        return []
    remove_leavings(dataset, run)
    ended: list[str] = []
    unreadable = _Unreadable()
    for path in dataset.journal_paths(run):
        with unreadable.noted():
            if _close_abandoned(path):
                ended.append(path.name.removesuffix(SUFFIX))
    unreadable.complain()
    return ended


class _Unreadable:
    """The journals that cannot be read: each is passed over, and all are named once the others are done."""

    def __init__(self) -> None:
        self._errors: list[DamagedFileError | InputError] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """End the block where it meets such a journal, and go on behind it."""
        try:
            yield
        except (DamagedFileError, InputError) as error:
            self._errors.append(error)

    def complain(self) -> None:
        """Raise the one error there was, or one that holds them all."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            raise DamagedFileError(f"{len(self._errors)} journals cannot be read: {'. '.join(map(str, self._errors))}")


class _Compaction:
    """Moves the journals of one domain into the parts of a run."""

    def __init__(self, dataset: Dataset, domain: str, run: str, unreadable: _Unreadable) -> None:
        self._partition = Partition(dataset, domain, run)
        self._blobs, self._unreadable = dataset.blobs, unreadable

    def compact(self, journals: list[_Journal]) -> list[str]:
        self._partition.remove_uncommitted()
        committed = self._partition.committed_ids()
        _remove([journal for journal in journals if journal.trajectory_id in committed])
        fresh = [journal for journal in journals if journal.trajectory_id not in committed]
        compacted: list[str] = []
        for batch in _batches(fresh):
            readable = self._commit_readable(batch)
            _remove(readable)
            compacted += [journal.trajectory_id for journal in readable]
        return compacted

    def _commit_readable(self, journals: list[_Journal]) -> list[_Journal]:
        """Commit all that can be read, and return them."""
        try:
            self._commit(journals)
        except (DamagedFileError, InputError):
            # So seldom that only now each is read by itself, to find those that were in the way.
            journals = [journal for journal in journals if self._is_readable(journal)]
            if journals:
                self._commit(journals)
        return journals

    def _is_readable(self, journal: _Journal) -> bool:
        with self._unreadable.noted():
            deque(session_lines(journal.records(), self._blobs), maxlen=0)
            return True
        return False

    def _commit(self, journals: list[_Journal]) -> None:
        with self._partition.staged(journals) as part:
            part.commit()


def _ended_journals(paths: list[Path], unreadable: _Unreadable) -> list[_Journal]:
    ended: list[_Journal] = []
    for path in paths:
        with unreadable.noted():
            if (journal := _ended_journal(path)) is not None:
                ended.append(journal)
    return ended


def _ended_journal(path: Path) -> _Journal | None:
    """None for a journal that has no ending yet."""
    with path.open("rb") as file:
        last = last_record(file, str(path))
        if last is None or last.kind is not RecordKind.END:
            return None
        file.seek(0)
        first = next(iter(JournalReader(file, str(path))))
    assert first.session is not None, "a journal begins with its start record"
    return _Journal(first.session.domain, path.name.removesuffix(SUFFIX), path, path.stat().st_size)


def _batches(journals: list[_Journal]) -> Iterator[list[_Journal]]:
    batch: list[_Journal] = []
    size = 0
    for journal in journals:
        batch.append(journal)
        size += journal.num_bytes
        if size >= PART_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


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
