"""What two texts have in common: lines that are equal, then words of lines that are not.

Between the equal lines, lines of the same shape are laid beside each other (as where every line of a log begins with
its time) and compared by words; so is what has no counterpart. Each step is a longest common subsequence, whose cost is
the product of what is compared; a step that would cost too much is left to the next one, and after the last the pair of
texts is given up. So is one that would be cut into so many pieces that they alone would fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

from curation.replays.shapes import shape

_MOST_PIECES: Final = 2**20


class Block(NamedTuple):
    """The same ``size`` code points: from ``first`` on in the first text, from ``second`` on in the second."""

    first: int
    second: int
    size: int


def common_blocks(first: str, second: str, max_cells: int) -> list[Block] | None:
    """What two texts have in common, in the order of both; None where that would be too much work.

    Args:
        max_cells: how many pairs of lines, of shapes of lines, and of words are compared at most; a bit of memory each.
    """
    try:
        return list(_Alignment(max_cells).blocks(first, second))
    except _TooMuchWorkError:
        return None


class _TooMuchWorkError(Exception):
    """The last step would cost more than is left, or a text would be cut into too many pieces."""


def _lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _num_lines(text: str) -> int:
    return text.count("\n") + 1


_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


def _word(word: str) -> str:
    """A word, or the mark of a gap between words: how wide it is depends on them."""
    return " " if word.isspace() and "\n" not in word else word


@dataclass(frozen=True, slots=True)
class _Step:
    """How texts are cut, into how many pieces at most, and what makes these count as the same."""

    cut: Callable[[str], list[str]]
    most_pieces: Callable[[str], int]
    key: Callable[[str], str]


_STEPS = (_Step(_lines, _num_lines, str), _Step(_lines, _num_lines, shape), _Step(_WORDS.findall, len, _word))


class _Alignment:
    """The work on one pair of texts; every step of it has a budget of its own."""

    def __init__(self, max_cells: int) -> None:
        self._cells_left = [max_cells] * len(_STEPS)

    def blocks(self, first: str, second: str, step: int = 0, at: tuple[int, int] = (0, 0)) -> Iterator[Block]:
        """The blocks of two texts from ``step`` on, which lie at these places of the whole ones."""
        if first == second and first:
            yield Block(*at, len(first))
        if first == second or not (first and second) or step == len(_STEPS):
            return
        how = _STEPS[step]
        if max(map(how.most_pieces, (first, second))) > _MOST_PIECES:
            raise _TooMuchWorkError
        ones, others = how.cut(first), how.cut(second)
        starts, other_starts = ([0, *accumulate(map(len, pieces))] for pieces in (ones, others))
        for begin, end, other_begin, other_end in self._stretches(ones, others, step):
            one = first[starts[begin] : starts[end]]
            other = second[other_starts[other_begin] : other_starts[other_end]]
            place = at[0] + starts[begin], at[1] + other_starts[other_begin]
            yield from self.blocks(one, other, step + 1, place)

    def _stretches(self, ones: Sequence[str], others: Sequence[str], step: int) -> Iterator[tuple[int, int, int, int]]:
        """Both sequences of pieces from end to end in stretches (begin, end, other begin, other end) to be laid beside
        each other: what has the same keys, piece by piece unless it is equal too, and what is between."""
        key = _STEPS[step].key
        numbers: dict[str, int] = {}
        keys, other_keys = (
            [numbers.setdefault(key(piece), len(numbers)) for piece in pieces] for pieces in (ones, others)
        )
        reached, other_reached = 0, 0
        for place, other_place, size in [*self._common(keys, other_keys, step), (len(ones), len(others), 0)]:
            if (reached, other_reached) != (place, other_place):
                yield reached, place, other_reached, other_place
            if ones[place : place + size] == others[other_place : other_place + size]:
                yield place, place + size, other_place, other_place + size
            else:
                for number in range(size):
                    one, other = place + number, other_place + number
                    yield one, one + 1, other, other + 1
            reached, other_reached = place + size, other_place + size

    def _common(self, keys: Sequence[int], others: Sequence[int], step: int) -> list[tuple[int, int, int]]:
        """The longest common subsequence as (place, other place, size); only what the ends share where it costs too
        much to look between them."""
        before = _num_equal(keys, others)
        after = _num_equal(keys[before:][::-1], others[before:][::-1])
        between, others_between = keys[before : len(keys) - after], others[before : len(others) - after]
        inner = [
            (before + place, before + other, size) for place, other, size in self._lcs(between, others_between, step)
        ]
        found = [(0, 0, before), *inner, (len(keys) - after, len(others) - after, after)]
        return [stretch for stretch in found if stretch[2]]

    def _lcs(self, keys: Sequence[int], others: Sequence[int], step: int) -> Iterator[tuple[int, int, int]]:
        from rapidfuzz.distance import LCSseq  # here, for only a search needs it

        cells = len(keys) * len(others)
        if cells > self._cells_left[step]:
            if step + 1 == len(_STEPS):
                raise _TooMuchWorkError
            return
        self._cells_left[step] -= cells
        if cells:
            for block in LCSseq.editops(keys, others).as_matching_blocks():
                yield block.a, block.b, block.size


def _num_equal(keys: Sequence[int], others: Sequence[int]) -> int:
    """How many of the first keys are equal."""
    for number, (key, other) in enumerate(zip(keys, others, strict=False)):
        if key != other:
            return number
    return min(len(keys), len(others))
