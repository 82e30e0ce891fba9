"""Imported trajectories on their way into the data set: written aside part by part, committed all together."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa

from trajectories.blobs import BlobStore
from trajectories.dataset import Dataset, check_name
from trajectories.files import missing_folders, remove_empty, storage_errors
from trajectories.importers.base import Imported
from trajectories.importers.known import KnownKeys
from trajectories.importers.lazy_sequence import LazySequence
from trajectories.journal import stored_events
from trajectories.journal_format import Record, RecordKind, Session, decode, encode
from trajectories.model import Header
from trajectories.part_files import open_part, reading_part
from trajectories.partitions import PART_BYTES, Partition, StagedPart, exclusive
from trajectories.rows import end_row, start_row, turn_row
from trajectories.spooled_bytes import SpooledBytes, spooling_in

_WRITTEN_AT_ONCE: Final = 2**16
"""Bytes of records."""


class Staging:
    """Takes imported trajectories of a run; see :func:`staged_import`."""

    def __init__(self, dataset: Dataset, run: str, stack: ExitStack, part_bytes: int) -> None:
        self._dataset, self._run, self._stack, self._part_bytes = dataset, run, stack, part_bytes
        self._domains: dict[str, _Domain] = {}

    def add(self, imported: Imported, header: Header) -> bool:
        """Take a trajectory; False where the run has it already."""
        check_name(header.domain, "domain")
        if not self._domains:
            # Only now: an import that waits for nothing else is no reason for others to wait.
            folders = _folders_to(self._dataset.journal_folder(self._run), self._dataset)
            self._stack.enter_context(exclusive(self._dataset, self._run))
            self._stack.callback(remove_empty, folders)
        domain = self._domains.get(header.domain)
        if domain is None:
            domain = _Domain(self._dataset, header.domain, self._run, self._stack, self._part_bytes)
            self._domains[header.domain] = domain
        return domain.add(imported, header)

    def commit(self) -> None:
        """Have everything count."""
        for domain in self._domains.values():
            domain.end_part()
        for domain in self._domains.values():
            for part in domain.parts:
                part.commit()


@contextmanager
def staged_import(dataset: Dataset, run: str, *, part_bytes: int = PART_BYTES) -> Iterator[Staging]:
    """A block whose trajectories are all committed when it ends well, and none of them if not.

    If the process is killed while it commits, some parts count and others do not; importing the same again completes
    it, with the same bytes. Memory is bounded by the largest turn and the row group; what waits, here or in an
    importer, lies in the data set's folder without a name, where there is as much room as for the data set.

    Raises ``StorageError`` where the disk is full or fails.
    """
    with spooling_in(dataset.folder), ExitStack() as stack:
        staging = Staging(dataset, run, stack, part_bytes)
        yield staging
        staging.commit()


class _Domain:
    """The parts of one domain. A part is sorted by trajectory id, so its records wait in a file of their own."""

    def __init__(self, dataset: Dataset, domain: str, run: str, stack: ExitStack, part_bytes: int) -> None:
        self._blobs, self._stack, self._part_bytes = dataset.blobs, stack, part_bytes
        self._partition = Partition(dataset, domain, run)
        self._partition.remove_uncommitted()
        for folder in (self._partition.turns, self._partition.trajectories):
            stack.callback(remove_empty, _folders_to(folder, dataset))
        self._known = stack.enter_context(KnownKeys())
        for trajectory_id in _committed_ids(dataset, self._partition):
            self._known.add(trajectory_id.encode())
        self._begin_part()
        self.parts: list[StagedPart] = []

    def _begin_part(self) -> None:
        self._waiting = SpooledBytes(_WRITTEN_AT_ONCE)
        self._ids: list[str] = []
        self._ends = array("Q", [0])
        """Where each trajectory's records end; they begin where those of the one before end."""

    def add(self, imported: Imported, header: Header) -> bool:
        if self._known.add(header.trajectory_id.encode()) is not None:
            return False
        with storage_errors(self._partition.turns):
            for record in _records(imported, header, self._blobs):
                self._waiting.append(encode(record))
        self._ids.append(header.trajectory_id)
        self._ends.append(len(self._waiting))
        if self._ends[-1] >= self._part_bytes:
            self.end_part()
        return True

    def end_part(self) -> None:
        if self._ids:
            waiting = _WaitingList(self._ids, self._ends, self._waiting)
            self.parts.append(self._stack.enter_context(self._partition.staged(waiting)))
            # A part that waits for its commit still has the list in hand.
            waiting.clear()
            self._waiting.close()
            self._begin_part()
            pa.default_memory_pool().release_unused()


class _WaitingList(LazySequence["_Waiting"]):
    """The trajectories that wait for their part, in the order of their ids; each is an object only while it is used."""

    def __init__(self, ids: list[str], ends: array[int], records: SpooledBytes) -> None:
        self._ids, self._ends, self._records = ids, ends, records
        self._order = array("Q", sorted(range(len(ids)), key=ids.__getitem__))

    def __len__(self) -> int:
        return len(self._order)

    def at(self, place: int) -> _Waiting:
        place = self._order[place]
        return _Waiting(self._ids[place], self._records, self._ends[place], self._ends[place + 1])

    def clear(self) -> None:
        self._ids, self._ends, self._order = [], array("Q"), array("Q")


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A trajectory among those that wait for their part: lines as in a journal."""

    trajectory_id: str
    lines: SpooledBytes
    begin: int
    end: int

    def records(self) -> Iterator[Record]:
        lines = self.lines.reader(self.begin)
        place = self.begin
        while place < self.end:
            line = lines.readline()
            place += len(line)
            record = decode(line, self.trajectory_id)
            assert record is not None, "what was written a moment ago can be read"
            yield record


def _folders_to(folder: Path, dataset: Dataset) -> list[Path]:
    """The folders that go if nothing is in them at the end, the innermost first: those inside the data set, which an
    import that was killed may have made, and those that are not there yet.
    """
    inside = [each for each in (folder, *folder.parents) if dataset.folder in each.parents]
    return [*inside, *missing_folders(dataset.folder)]


def _committed_ids(dataset: Dataset, partition: Partition) -> Iterator[str]:
    """The trajectories that the partition has, some in memory at a time."""
    if not any(partition.trajectories.glob("part-*.parquet")):
        return
    folder = str(partition.trajectories)
    for part in dataset.trajectory_parts():
        if str(Path(part.path).parent) != folder:
            continue
        with reading_part(part.path), open_part(part.path) as file:
            for batch in file.iter_batches(columns=["trajectory_id"]):
                yield from batch["trajectory_id"].to_pylist()


def _records(imported: Imported, header: Header, blobs: BlobStore) -> Iterator[Record]:
    events, blob = stored_events(blobs, imported.initial)
    yield Record(
        kind=RecordKind.START,
        row=start_row(header, imported.initial),
        session=Session(domain=header.domain, run=header.run, recording_header=header.recording_header),
        events=events,
        events_blob=blob,
    )
    for turn in imported.turns:
        events, blob = stored_events(blobs, turn.observation)
        row = turn_row(header.trajectory_id, turn, blob)
        image = imported.screenshots.get(turn.number)
        if image is not None:
            row["screenshot_blob"] = blobs.put(image.read_bytes(), image.suffix.lower())
        yield Record(kind=RecordKind.TURN, row=row, events=events, events_blob=blob)
    yield Record(kind=RecordKind.END, row=end_row(imported.ending()))
