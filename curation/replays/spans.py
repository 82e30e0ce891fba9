"""Spans of a text: pairs (start, end) of code points, end excluded; in order, apart from one another, none empty."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Spans: TypeAlias = Sequence[tuple[int, int]]


def union(several: Iterable[Spans]) -> Spans:
    """What any of several spans of one text covers."""
    united: list[tuple[int, int]] = []
    for start, end in heapq.merge(*several):
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(end, united[-1][1])
        else:
            united.append((start, end))
    return united


def outside(covered: Iterable[tuple[int, int]], size: int) -> Spans:
    """What of a text of ``size`` code points is not covered by these stretches, which are in order."""
    spans = []
    reached = 0
    for start, end in covered:
        if reached < start:
            spans.append((reached, start))
        reached = end
    return [*spans, (reached, size)] if reached < size else spans


def runs(marks: NDArray[np.bool_]) -> Spans:
    """Where marks are set, a mark for each code point."""
    changes = np.flatnonzero(marks[1:] != marks[:-1]) + 1
    bounds = [0, *changes.tolist(), marks.size]
    first = 0 if marks[:1].any() else 1
    return list(zip(bounds[first:-1:2], bounds[first + 1 :: 2], strict=True))


def shifted(spans: Spans, stretches: Iterable[tuple[int, int, int]]) -> Spans:
    """Where the characters of spans are in another text, as far as the two have them in common.

    Args:
        stretches: (start here, start there, size) of what they have in common, in the order of both.
    """
    return union([list(_shifted(spans, stretches))])


def _shifted(spans: Spans, stretches: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    first = 0
    for here, there, size in stretches:
        while first < len(spans) and spans[first][1] <= here:
            first += 1
        place = first
        while place < len(spans) and spans[place][0] < here + size:
            start, end = spans[place]
            yield max(start, here) - here + there, min(end, here + size) - here + there
            place += 1
