"""Finds again the values that are known, whatever is around them, in a time that hardly grows with their number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np

from curation.secrets.boundaries import stands_whole
from curation.secrets.detector import PLACEHOLDER_BYTES
from curation.secrets.finding import Finding

KNOWN: Final = "known value"
"""In the place of a rule's name."""
SHORTEST: Final = 8
"""So many bytes a known value has at least."""

_FEW: Final = 32
"""So few values are looked for one by one, which is as fast for them."""
_CROWDED: Final = 32
"""Values that begin alike and have more lengths than this are looked for one by one: no text can have each of very many
tried at each of its places."""
_HASH_BITS: Final = 20
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(64 - _HASH_BITS)
_STEP: Final = 2**16
"""So many places of a text are looked at together: few enough for the processor's caches."""

_Match: TypeAlias = tuple[int, int, str]
"""Where it starts, where it ends, in bytes; its kind."""


class KnownValues:
    """Values with a kind each.

    Args:
        shortest: so many bytes each has at least, `SHORTEST` or more.
        whole: they are found only where no word goes on into them, or out of them.
    """

    def __init__(self, *, shortest: int, whole: bool) -> None:
        self._shortest, self._whole = shortest, whole
        self._kinds: dict[bytes, str] = {}
        self._alike: dict[bytes, _Alike] = {}
        self._beginnings = _Beginnings(shortest)

    def add(self, value: bytes, kind: str) -> None:
        """Know a value; one that is known keeps its kind."""
        if value in self._kinds:
            return
        self._kinds[value] = kind
        beginning = value[: self._shortest]
        if beginning not in self._alike:
            self._alike[beginning] = _Alike()
            self._beginnings.add(beginning)
        self._alike[beginning].add(value)

    def find(self, text: str) -> list[Finding]:
        """Where the values stand in a text, outside its placeholders, in no order. None overlaps itself."""
        if not self._kinds:
            return []
        data = text.encode("utf-8", "surrogatepass")
        held = _Held(data)
        matches = list(self._by_place(data, held) if len(self._kinds) > _FEW else self._by_value(data, held))
        if not matches or len(data) == len(text):
            return [Finding(kind, start, end, KNOWN) for start, end, kind in matches]
        points = _code_points(data, {place for start, end, _ in matches for place in (start, end)})
        return [Finding(kind, points[start], points[end], KNOWN) for start, end, kind in matches]

    def _by_value(self, data: bytes, held: _Held, values: Iterable[bytes] | None = None) -> Iterator[_Match]:
        """One value after the other."""
        for value in self._kinds if values is None else values:
            start = data.find(value)
            while start >= 0:
                end = start + len(value)
                if self._is_free(data, held, start, end):
                    yield start, end, self._kinds[value]
                else:
                    end = start + 1
                start = data.find(value, end)

    def _by_place(self, data: bytes, held: _Held) -> Iterator[_Match]:
        """One place after the other where a value may begin."""
        crowded: dict[bytes, None] = {}
        ends: dict[bytes, int] = {}
        for start in self._beginnings.places(data):
            beginning = data[start : start + self._shortest]
            alike = self._alike.get(beginning)
            if alike is None:
                continue
            if len(alike.lengths) > _CROWDED:
                crowded[beginning] = None
                continue
            for value in alike.at(data, start):
                end = start + len(value)
                if ends.get(value, 0) <= start and self._is_free(data, held, start, end):
                    ends[value] = end
                    yield start, end, self._kinds[value]
        for beginning in crowded:
            yield from self._by_value(data, held, self._alike[beginning].values)

    def _is_free(self, data: bytes, held: _Held, start: int, end: int) -> bool:
        """Whether a value that stands there is to be found there."""
        return (not self._whole or stands_whole(data, start, end)) and not held.touches(start, end)


class _Alike:
    """The values that have their beginning in common."""

    def __init__(self) -> None:
        self.values: set[bytes] = set()
        self.lengths: set[int] = set()

    def add(self, value: bytes) -> None:
        self.values.add(value)
        self.lengths.add(len(value))

    def at(self, data: bytes, start: int) -> Iterator[bytes]:
        """The values that stand at a place."""
        for length in self.lengths:
            value = data[start : start + length]
            if len(value) == length and value in self.values:
                yield value


class _Beginnings:
    """The first bytes of values, hashed: a look at a table tells of most places that none begins there."""

    def __init__(self, shortest: int) -> None:
        self._shortest = shortest
        self._new: list[bytes] = []
        self._table = np.zeros(0, np.bool_)

    def add(self, beginning: bytes) -> None:
        self._new.append(beginning[:SHORTEST])

    def places(self, data: bytes) -> Iterator[int]:
        """Where one of them may stand, in order."""
        self._enter()
        num_places = len(data) - self._shortest + 1
        for begin in range(0, num_places, _STEP):
            count = min(_STEP, num_places - begin)
            eights = np.ndarray((count,), np.uint64, data, begin, (1,))
            found: list[int] = np.flatnonzero(self._table[(eights * _MULTIPLIER) >> _SHIFT]).tolist()
            yield from (begin + place for place in found)

    def _enter(self) -> None:
        if not self._table.size:
            self._table = np.zeros(2**_HASH_BITS, np.bool_)
        if self._new:
            eights = np.frombuffer(b"".join(self._new), np.uint64)
            self._table[(eights * _MULTIPLIER) >> _SHIFT] = True
            self._new.clear()


class _Held:
    """The placeholders in a text, which stay. They are looked for when the first match is there."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._spans: list[tuple[int, int]] | None = None

    def touches(self, start: int, end: int) -> bool:
        """Whether a placeholder has some of these bytes."""
        if self._spans is None:
            self._spans = [match.span() for match in PLACEHOLDER_BYTES.finditer(self._data)]
        following = bisect_right(self._spans, start, key=_end)
        return following < len(self._spans) and self._spans[following][0] < end


def _end(span: tuple[int, int]) -> int:
    return span[1]


def _code_points(data: bytes, places: Iterable[int]) -> dict[int, int]:
    """How many code points are before each of the places."""
    from curation.secrets import scan  # here, for it loads Numba

    ordered = np.array(sorted(places), np.int64)
    points: list[int] = scan.in_code_points(data, ordered).tolist()
    return dict(zip(ordered.tolist(), points, strict=True))
