"""The journal of one trajectory: every turn is on disk before the next action starts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from trajectories.blobs import BlobStore
from trajectories.dataset import Dataset
from trajectories.errors import InputError
from trajectories.files import append_durably, storage_errors, written_aside
from trajectories.journal_format import Record, RecordKind, Session, encode
from trajectories.model import Ending, Header, Observation, Turn
from trajectories.recording import RawEvent
from trajectories.rows import end_row, start_row, turn_row

_INLINE_BYTES: Final = 2**16
"""Raw events beyond this size go to a blob instead of into the record."""


class JournalWriter:
    """Records one trajectory, turn by turn, and holds its journal's lock meanwhile.

    Not for several threads at once. If the process dies, ``trajectories.recover`` closes the trajectory.

    Args:
        dataset: where to record; a local folder.
        header: what is known from the start. ``trajectory_id``, ``domain`` and ``run`` become names of files.
        initial_observation: what was visible before the first action.

    Raises:
        InputError: the trajectory has been recorded before, or a name cannot be a file's name.
        StorageError: the disk is full or fails; nothing is left behind.
    """

    def __init__(self, dataset: Dataset, header: Header, initial_observation: Observation) -> None:
        self._id = header.trajectory_id
        self._blobs = dataset.blobs
        self._path = dataset.journal_path(header.run, header.trajectory_id)
        self._num_turns = 0
        if header.trajectory_id in dataset.compacted_ids(header.domain, header.run):
            raise self._recorded_before()
        events, blob = stored_events(self._blobs, initial_observation)
        record = Record(
            kind=RecordKind.START,
            row=start_row(header, initial_observation),
            session=Session(domain=header.domain, run=header.run, recording_header=header.recording_header),
            events=events,
            events_blob=blob,
            redactions=initial_observation.redactions,
        )
        self._handle, self._size = self._create(encode(record))

    def append(self, turn: Turn) -> None:
        """Record a turn. When this returns, the turn is on disk.

        Raises ``StorageError`` where the disk is full or fails; the journal is then as it was before.
        """
        assert turn.number == self._num_turns + 1, f"turn {turn.number} after turn {self._num_turns}"
        events, blob = stored_events(self._blobs, turn.observation)
        self._write(
            Record(
                kind=RecordKind.TURN,
                row=turn_row(self._id, turn, blob),
                events=events,
                events_blob=blob,
                redactions=turn.observation.redactions,
            )
        )
        self._num_turns += 1

    def end(self, ending: Ending) -> None:
        """Record how it ended; the trajectory is then ready for compaction."""
        self._write(Record(kind=RecordKind.END, row=end_row(ending)))

    def close(self) -> None:
        """Let go of the journal. Idempotent; a trajectory without an ending is left to ``recover``."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _create(self, line: bytes) -> tuple[int, int]:
        """The journal with its first record, locked: it appears whole, so a reader never meets an empty one."""
        with storage_errors(self._path), written_aside(self._path.parent) as aside:
            aside.file.write(line)
            try:
                aside.take_free_place(self._path)
            except FileExistsError as error:
                raise self._recorded_before() from error
            return aside.duplicate(), len(line)

    def _write(self, record: Record) -> None:
        line = encode(record)
        with storage_errors(self._path):
            append_durably(self._handle, self._size, line)
        self._size += len(line)

    def _recorded_before(self) -> InputError:
        return InputError(
            f"trajectory {self._id} has been recorded before",
            where=str(self._path),
            mend="give it another attempt or run",
        )


def stored_events(blobs: BlobStore, observation: Observation) -> tuple[Sequence[RawEvent], str | None]:
    """The raw events of an observation: as they are, to lie in its record, or else the name of their blob."""
    raw = observation.raw
    if raw is None:
        return (), None
    if raw.num_bytes > _INLINE_BYTES or observation.truncated:
        return (), blobs.put(raw.lines(), ".jsonl.zst")
    return list(raw), None
