"""The journal's file format: one record a line, each with its checksum, so that a torn end shows.

A line is the CRC-32 of the JSON text (8 hex digits), a space, and the JSON text (ASCII). The first record is the
``start``, then come the ``turn`` records in order, then, once the trajectory is over, the ``end``.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import BinaryIO, Final

from trajectories.errors import DamagedFileError, InputError
from trajectories.model import JsonValue
from trajectories.recording import RawEvent
from trajectories.rows import Row
from trajectories.schemas import SCHEMA_VERSION

SUFFIX: Final = ".journal"
_TAIL_BYTES: Final = 2**14


class RecordKind(StrEnum):
    """What a record is about."""

    START = "start"
    TURN = "turn"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What the start record says beside the trajectory's row."""

    domain: str
    run: str
    recording_header: Mapping[str, JsonValue]
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One line of a journal."""

    kind: RecordKind
    row: Row
    session: Session | None = None
    events: Sequence[RawEvent] = ()
    """The raw events, where they are few enough to lie in the record."""
    events_blob: str | None = None
    """Where they are not, the blob that holds them."""
    redactions: Mapping[str, int] = field(default_factory=dict)


class JournalReader:
    """The whole records of a journal, one at a time; a torn last line is left out.

    ``whole_bytes`` is the size of the records given so far.
    """

    def __init__(self, file: BinaryIO, place: str) -> None:
        self._file, self._place = file, place
        self.whole_bytes = 0

    def __iter__(self) -> Iterator[Record]:
        """Raises ``DamagedFileError`` for a bad line that is not the last, or is the first, and for an empty file."""
        for number, line in enumerate(self._file, 1):
            record = decode(line, self._place)
            if record is None:
                if number == 1 or self._file.read(1):
                    raise DamagedFileError(
                        "a line of a journal is damaged",
                        where=f"{self._place}, line {number}",
                        mend="move the file out of the data set, or cut it before that line",
                    )
                return
            self.whole_bytes += len(line)
            yield record
        if self.whole_bytes == 0:
            raise DamagedFileError("a journal is empty", where=self._place, mend="move the file out of the data set")


def encode(record: Record) -> bytes:
    """A record as a line."""
    fields = {
        "kind": record.kind,
        "row": record.row,
        "session": record.session and asdict(record.session),
        "events": record.events,
        "events_blob": record.events_blob,
        "redactions": record.redactions,
    }
    text = json.dumps(fields).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def decode(line: bytes, place: str) -> Record | None:
    """A line as a record, or None where it is torn or damaged.

    Raises ``InputError`` where it was written by a newer version.
    """
    checksum, _, text = line[:-1].partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text):
        return None
    fields = json.loads(text)
    session = fields.pop("session")
    if session is not None:
        check_version(session["schema_version"], place)
    return Record(
        kind=RecordKind(fields.pop("kind")),
        session=session and Session(**session),
        events=[RawEvent(*event) for event in fields.pop("events")],
        **fields,
    )


def last_record(file: BinaryIO, place: str) -> Record | None:
    """The last line of a journal as a record, without reading the rest; None where it is torn."""
    size = file.seek(0, os.SEEK_END)
    length = _TAIL_BYTES
    while True:
        start = max(0, size - length)
        file.seek(start)
        tail = file.read()
        newline = tail.rfind(b"\n", 0, -1)
        if newline >= 0 or start == 0:
            return decode(tail[newline + 1 :], place)
        length *= 8


def check_version(version: int, place: str) -> None:
    """Refuse what a newer version of worldtape has written."""
    if version > SCHEMA_VERSION:
        raise InputError(
            f"written by a newer worldtape (schema version {version}; this one reads up to {SCHEMA_VERSION})",
            where=place,
            mend="upgrade worldtape",
        )
