"""Reads asciicast v2 (absolute times) and v3 (intervals, comments, an exit event), a line at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO, Final, cast

from trajectories.importers.encodings import not_utf8
from trajectories.importers.json_text import parse
from trajectories.importers.problems import UnreadableError
from trajectories.importers.values import instant
from trajectories.model import JsonValue
from trajectories.recording import RawEvent

_LATEST_S: Final = 1e9
_LONGEST_LINE: Final = 2**26
_LARGEST_SIZE: Final = 1000
_SIZE: Final = re.compile(r"([0-9]{1,4})x([0-9]{1,4})")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_KNOWN_KEYS: Final = {
    2: {"version", "width", "height", "timestamp", "duration", "idle_time_limit", "command", "title", "env", "theme"},
    3: {"version", "term", "timestamp", "idle_time_limit", "command", "title", "env", "tags"},
}
_MEND_HEADER: Final = "the first line must be an asciicast v2 or v3 header; `asciinema convert` makes one of v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CastHeader:
    """The first line of a recording. ``fields`` is the whole of it, as it stands in the file."""

    version: int
    rows: int
    columns: int
    started_at: datetime | None
    fields: Mapping[str, JsonValue]

    @property
    def unknown_keys(self) -> list[str]:
        """Keys that the format does not define."""
        return sorted(set(self.fields) - _KNOWN_KEYS[self.version])

    @property
    def title(self) -> str:
        title = self.fields.get("title")
        return title if isinstance(title, str) else ""


@dataclass(slots=True)
class ReadCounts:
    """What was met while reading, and what of it could not be kept."""

    events: Counter[str] = field(default_factory=Counter)
    """Kind → number of events given."""
    unknown_kinds: Counter[str] = field(default_factory=Counter)
    comments: int = 0
    repeated_sizes: int = 0
    """Resize events that name the size the terminal has: they change nothing and are left out."""
    replaced_surrogates: int = 0
    wrong_times: int = 0
    """Events whose time goes back or is absurd: they have that of the event above."""
    exit_status: str | None = None
    """What the ``x`` event says."""


class CastReader:
    """One recording. Iterating gives its ``o``, ``i``, ``r`` and ``m`` events with absolute times, in order.

    Args:
        open_stream: gives the file's bytes from the first on, each time anew.
        place: the file as messages call it.
        on_problem: called with the number of a line (from 1), what is wrong with it and, if that is known, how to mend
            it; the line is then left out. It may raise to stop.

    Raises:
        UnreadableError: from the constructor, where the first line is no header of these formats.
    """

    def __init__(
        self,
        open_stream: Callable[[], AbstractContextManager[BinaryIO]],
        place: str,
        on_problem: Callable[[int, str, str | None], None],
    ) -> None:
        self._open, self._place, self._on_problem = open_stream, place, on_problem
        with open_stream() as stream:
            self.header = _parse_header(stream.readline(_LONGEST_LINE), place)
        self.counts = ReadCounts()

    def __iter__(self) -> Iterator[RawEvent]:
        """Reads the file anew, and counts anew."""
        self.counts = ReadCounts()
        seconds, size = 0.0, (self.header.columns, self.header.rows)
        with self._open() as stream:
            stream.readline(_LONGEST_LINE)
            for number, line in _lines(stream):
                try:
                    event = self._parse(line)
                except UnicodeDecodeError as error:
                    self._on_problem(number, *not_utf8(error))
                    continue
                except ValueError as error:
                    self._on_problem(number, str(error), None)
                    continue
                if event is None:
                    continue
                moment = event.seconds + (seconds if self.header.version == 3 else 0.0)
                if seconds <= moment < _LATEST_S:
                    seconds = moment
                else:
                    self.counts.wrong_times += 1
                if event.kind == "r":
                    if _parse_size(event.data) == size:
                        self.counts.repeated_sizes += 1
                        continue
                    size = _parse_size(event.data)
                self.counts.events[event.kind] += 1
                yield event._replace(seconds=seconds)

    def _parse(self, line: bytes | None) -> RawEvent | None:
        """One line's event; None where there is none to give. Raises ``ValueError`` that says what is wrong, and for
        what is not UTF-8 its ``UnicodeDecodeError``.
        """
        if line is None:
            raise ValueError(f"longer than {_LONGEST_LINE >> 20} MiB")
        if not line.strip():
            return None
        if line.startswith(b"#") and self.header.version == 3:
            self.counts.comments += 1
            return None
        seconds, kind, data = _parse_array(line)
        if kind == "x":
            self.counts.exit_status = str(data)
            return None
        if kind not in {"o", "i", "r", "m"}:
            self.counts.unknown_kinds[kind[:20]] += 1
            return None
        if not isinstance(data, str):
            raise ValueError(f"the data of an {kind!r} event is text")
        text, replaced = _SURROGATE.subn("\ufffd", data)
        self.counts.replaced_surrogates += replaced
        if kind == "r":
            _parse_size(text)
        return RawEvent(seconds, kind, text)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """The lines after the first with their numbers; None for one too long to be held in memory."""
    number = 1
    while line := stream.readline(_LONGEST_LINE):
        number += 1
        too_long = len(line) == _LONGEST_LINE and not line.endswith(b"\n")
        yield number, None if too_long else line
        while too_long and line and not line.endswith(b"\n"):
            line = stream.readline(_LONGEST_LINE)


def _parse_array(line: bytes) -> tuple[float, str, JsonValue]:
    try:
        value = parse(line)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError("not an event: [time, kind, data]")
    seconds, kind, data = value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not abs(seconds) < _LATEST_S:
        raise ValueError("its time is not a number of seconds")
    if not isinstance(kind, str):
        raise ValueError("its kind is not text")
    return float(seconds), _SURROGATE.sub("\ufffd", kind), data


def _parse_size(text: str) -> tuple[int, int]:
    """``"80x24"`` as (columns, rows)."""
    match = _SIZE.fullmatch(text)
    if match is None or not all(1 <= int(number) <= _LARGEST_SIZE for number in match.groups()):
        raise ValueError(f"{text[:30]!r} is no size of a terminal")
    return int(match[1]), int(match[2])


def _parse_header(line: bytes, place: str) -> CastHeader:
    where = f"{place}, line 1"
    try:
        fields = parse(line)
    except UnicodeDecodeError as error:
        what, mend = not_utf8(error)
        raise UnreadableError(what, where=where, mend=mend) from error
    except ValueError as error:
        raise UnreadableError("not an asciicast: the first line is not JSON", where=where, mend=_MEND_HEADER) from error
    if not isinstance(fields, dict) or fields.get("version") not in (2, 3) or isinstance(fields["version"], bool):
        raise UnreadableError("not an asciicast v2 or v3", where=where, mend=_MEND_HEADER)
    version = int(fields["version"])
    columns, rows = _header_size(fields, version, where)
    return CastHeader(
        version=version,
        rows=rows,
        columns=columns,
        started_at=_parse_timestamp(fields.get("timestamp"), where),
        fields=fields,
    )


def _header_size(fields: Mapping[str, object], version: int, where: str) -> tuple[int, int]:
    term = fields.get("term") if version == 3 else fields
    names = ("cols", "rows") if version == 3 else ("width", "height")
    sizes = [term.get(name) for name in names] if isinstance(term, Mapping) else [None, None]
    for name, size in zip(names, sizes, strict=True):
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _LARGEST_SIZE:
            raise UnreadableError(
                f"the header's {name} is not a number from 1 to {_LARGEST_SIZE}",
                where=where,
                mend="set it to the size of the terminal that was recorded",
            )
    columns, rows = cast("list[int]", sizes)
    return columns, rows


def _parse_timestamp(timestamp: JsonValue, where: str) -> datetime | None:
    if timestamp is None:
        return None
    moment = None if isinstance(timestamp, str) else instant(timestamp)
    if moment is None:
        raise UnreadableError("the header's timestamp is not a time", where=where, mend="give Unix seconds, or none")
    return moment
