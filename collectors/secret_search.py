"""Finds known secret values in bytes, also where a terminal has broken them up."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trajectories import InputError

MIN_SECRET_LENGTH = 6
"""Shorter values would be found in ordinary text, in characters."""

_PART_LENGTH = 8
"""So many bytes of a value (half of a short one) at the end of a stream are taken for its beginning."""

_LONGEST_GAP = 96
"""Bytes between two characters of a value up to which it is found for certain across the ends of a buffer."""

_GAPS = re.compile(rb"(?:([^\s\x80-\xbf][\x80-\xbf]*)\r(?=\1)|\s|\x1b\[[0-?]*[ -/]*[@-~])+")
"""What a terminal puts between two characters: row ends, blanks that it drops there, colour codes, and readline's wrap
(the next row's first character, carriage return, that character again)."""


class Span(NamedTuple):
    """Bytes ``start:end`` of a stream that hold a value of the secret ``name``, or (None) the rest of one."""

    start: int
    end: int
    name: str | None


class Part(NamedTuple):
    """From ``start`` on the bytes are the beginning of a value; one of ``rests`` may follow in the next ones."""

    start: int
    name: str
    rests: tuple[bytes, ...]


class SecretSearch:
    """Where the values of ``secrets`` (name → value) are, whatever blanks, row ends and colour codes stand in them.

    Besides the value itself it knows how JSON and Python write it inside a string. Where two values begin alike, the
    longer one is found.

    Raises:
        InputError: a value is too short to be told from ordinary text.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._values = _spellings(secrets)
        self._names = list(self._values.values())
        self._pattern = re.compile(b"|".join(b"(" + re.escape(value) + b")" for value in self._values))
        self.reach = max((len(value) * (1 + _LONGEST_GAP) for value in self._values), default=0)
        """How many bytes a value may take at most, its gaps included."""

    def __bool__(self) -> bool:
        return bool(self._values)

    def find(self, data: bytes) -> list[Span]:
        """Every value in ``data``, in order, without overlap."""
        squeezed = _GAPS.sub(b"", data)
        matches = list(self._pattern.finditer(squeezed))
        if not matches:
            return []
        origin = _Origins(data)
        return [
            Span(origin[match.start()], origin[match.end() - 1] + 1, self._names[(match.lastindex or 1) - 1])
            for match in matches
        ]

    def part_at_end(self, data: bytes) -> Part | None:
        """The longest beginning of a value that ``data`` ends with."""
        squeezed = _GAPS.sub(b"", data)
        for value, name in self._values.items():
            fewest = min(_PART_LENGTH, len(value) // 2)
            for length in range(min(len(value) - 1, len(squeezed)), fewest - 1, -1):
                begun = value[:length]
                if squeezed.endswith(begun):
                    rests = tuple(other[length:] for other in self._values if other.startswith(begun))
                    return Part(_Origins(data)[len(squeezed) - length], name, rests)
        return None

    def length_at_start(self, rests: Iterable[bytes], data: bytes) -> int:
        """How many bytes of ``data`` the first of the ``rests`` that it begins with takes; 0 where there is none."""
        squeezed = _GAPS.sub(b"", data)
        rest = next((rest for rest in rests if squeezed.startswith(rest)), None)
        return _Origins(data)[len(rest) - 1] + 1 if rest else 0


class _Origins:
    """For each byte of the squeezed data, its position in the data."""

    def __init__(self, data: bytes) -> None:
        self._squeezed_starts: list[int] = [0]
        self._shifts: list[int] = [0]
        for gap in _GAPS.finditer(data):
            self._squeezed_starts.append(gap.start() - self._shifts[-1])
            self._shifts.append(self._shifts[-1] + gap.end() - gap.start())

    def __getitem__(self, position: int) -> int:
        return position + self._shifts[bisect_right(self._squeezed_starts, position) - 1]


def _spellings(secrets: Mapping[str, str]) -> dict[bytes, str]:
    """Squeezed value → name, the longest value first."""
    spellings: dict[bytes, str] = {}
    for name, secret in secrets.items():
        value = secret.strip()
        if len(value) < MIN_SECRET_LENGTH:
            raise InputError(
                f"the secret '{name}' has {len(value)} characters, too few to be told from ordinary text",
                mend=f"give secrets of at least {MIN_SECRET_LENGTH} characters",
            )
        quoted = (json.dumps(value), json.dumps(value, ensure_ascii=False), repr(value))
        for spelling in (value, *(text[1:-1] for text in quoted)):
            spellings.setdefault(_GAPS.sub(b"", spelling.encode("utf-8", "surrogatepass")), name)
    return dict(sorted(spellings.items(), key=lambda item: (-len(item[0]), item[0])))
