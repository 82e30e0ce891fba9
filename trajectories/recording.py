"""The raw byte stream of a session, event by event: bounded memory while it is made, replayable for good.

An event is ``(seconds since the session began, kind, data)`` as in asciicast: kind ``o`` is output, ``i`` input,
``r`` a resize (``"160x40"``), ``m`` a marker (``"turn 3"``, just before the turn's first event). Bytes that are not
UTF-8 travel as lone surrogates (``surrogateescape``), so nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, cast

from trajectories.spooled_bytes import SpooledBytes

_IN_MEMORY_BYTES: Final = 2**20
_TURN: Final = "turn "


class RawEvent(NamedTuple):
    """One event of a session's recording."""

    seconds: float
    kind: str
    data: str


class EventSpool:
    """An append-only sequence of raw events: in memory while small, in an anonymous temporary file beyond 1 MiB.

    The one who made it closes it; whoever gets it in an observation may iterate it any number of times before that.

    Methods raise ``StorageError`` where the disk is full or fails.
    """

    def __init__(self) -> None:
        self._lines = SpooledBytes(_IN_MEMORY_BYTES)
        self.num_events = 0

    @property
    def num_bytes(self) -> int:
        """Size of the serialised events, in bytes."""
        return len(self._lines)

    def append(self, event: RawEvent) -> None:
        self._lines.append(event_line(event))
        self.num_events += 1

    def lines(self) -> Iterator[bytes]:
        """The serialised events, one line each."""
        return iter(self._lines.reader())

    def __iter__(self) -> Iterator[RawEvent]:
        return map(parse_event, self.lines())

    def close(self) -> None:
        self._lines.close()


def event_line(event: RawEvent) -> bytes:
    """One line of a recording: a JSON array, ASCII only, so that lone surrogates survive."""
    return json.dumps([round(event.seconds, 6), event.kind, event.data]).encode() + b"\n"


def parse_event(line: bytes | str) -> RawEvent:
    seconds, kind, data = cast("tuple[float, str, str]", tuple(json.loads(line)))
    return RawEvent(float(seconds), kind, data)


class SessionRecording:
    """A whole session: a header line, then its events. Iterating reads it anew each time, a few lines at a time."""

    def __init__(self, lines: Callable[[], Iterator[bytes]]) -> None:
        self._lines = lines

    @property
    def header(self) -> Mapping[str, object]:
        """The first line (for a terminal an asciicast v2 header: ``version``, ``width``, ``height`` ...)."""
        return cast("Mapping[str, object]", json.loads(next(self._lines())))

    def __iter__(self) -> Iterator[RawEvent]:
        lines = self._lines()
        next(lines)
        return map(parse_event, lines)


def turn_marker(number: int) -> str:
    """The data of the ``m`` event that stands before a turn's first event."""
    return f"{_TURN}{number}"


def marked_turn(event: RawEvent) -> int | None:
    """The number of the turn that begins at this event, or None where none does."""
    number = event.data.removeprefix(_TURN)
    marks_turn = event.kind == "m" and event.data.startswith(_TURN) and number.isascii() and number.isdecimal()
    return int(number) if marks_turn else None
