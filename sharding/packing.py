"""Best-fit-decreasing bin packing in linear time, for millions of sequences a second.

The classic rule: take the sequences from the longest to the shortest and put each into the fullest pack that still has
room for it, or into a new one. Lengths are integers up to ``context``, so sorting is a counting sort, and "the fullest
pack with room for n" is "the smallest free space ≥ n for which a pack exists": a search for the next set bit in a
bitmap of free spaces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numba.cpython.unsafe.numbers import trailing_zeros
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Packing:
    """Which items lie together: pack ``p`` holds ``items[offsets[p]:offsets[p + 1]]``, the longest first."""

    items: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @property
    def num_packs(self) -> int:
        return len(self.offsets) - 1


def best_fit_decreasing(lengths: NDArray[np.int64], context: int) -> Packing:
    """Pack items of the given lengths (1 to ``context`` tokens each) into packs of at most ``context`` tokens.

    Deterministic: equal lengths are taken in their given order. It opens exactly as many packs as the textbook
    algorithm that searches every open pack. Memory: 32 bytes an item and 16 bytes a token of ``context``.
    """
    assert context >= 1
    assert not len(lengths) or (lengths.min() >= 1 and lengths.max() <= context), "cut to the context before packing"
    order = _sorted_decreasing(lengths, context)
    pack_of, num_packs = _assign(lengths, order, context)
    return Packing(*_grouped(order, pack_of, num_packs))


@njit(cache=True)
def _sorted_decreasing(lengths, context):  # type: ignore[no-untyped-def]  # compiled: types are inferred from the call
    """Counting sort: the items' indices from the longest to the shortest, equal ones in their given order."""
    starts = np.zeros(context + 2, np.int64)
    for length in lengths:
        starts[context - length + 1] += 1
    for place in range(context + 1):
        starts[place + 1] += starts[place]
    order = np.empty(len(lengths), np.int64)
    for item in range(len(lengths)):
        place = context - lengths[item]
        order[starts[place]] = item
        starts[place] += 1
    return order


@njit(cache=True)
def _assign(lengths, order, context):  # type: ignore[no-untyped-def]  # compiled
    """The pack of each item of ``order``, and the number of packs.

    Open packs of equal free space form a linked stack (``top``, ``below``). ``bits`` has a bit for every free space
    with a non-empty stack; ``summary`` a bit for every non-zero word of ``bits``.
    """
    num_words = (context >> 6) + 1
    bits = np.zeros(num_words, np.uint64)
    summary = np.zeros((num_words >> 6) + 1, np.uint64)
    top = np.full(context + 1, -1, np.int64)
    below = np.empty(len(order), np.int64)
    pack_of = np.empty(len(order), np.int64)
    num_packs = 0
    for place in range(len(order)):
        length = lengths[order[place]]
        free = _next_set_bit(bits, summary, length)
        if free < 0:
            free, pack = context, num_packs
            num_packs += 1
        else:
            pack = top[free]
            top[free] = below[pack]
            if top[free] < 0:
                _clear_bit(bits, summary, free)
        pack_of[place] = pack
        left = free - length
        below[pack] = top[left]
        top[left] = pack
        _set_bit(bits, summary, left)
    return pack_of, num_packs


@njit(cache=True, inline="always")
def _set_bit(bits, summary, index):  # type: ignore[no-untyped-def]  # compiled
    word = index >> 6
    bits[word] |= np.uint64(1) << np.uint64(index & 63)
    summary[word >> 6] |= np.uint64(1) << np.uint64(word & 63)


@njit(cache=True, inline="always")
def _clear_bit(bits, summary, index):  # type: ignore[no-untyped-def]  # compiled
    word = index >> 6
    bits[word] &= ~(np.uint64(1) << np.uint64(index & 63))
    if bits[word] == 0:
        summary[word >> 6] &= ~(np.uint64(1) << np.uint64(word & 63))


@njit(cache=True, inline="always")
def _lowest_set_bit(word):  # type: ignore[no-untyped-def]  # compiled
    return np.int64(trailing_zeros(word))  # type: ignore[call-arg]  # an intrinsic: the compiler passes the rest


@njit(cache=True)
def _next_set_bit(bits, summary, index):  # type: ignore[no-untyped-def]  # compiled
    """The smallest set bit ≥ ``index``, or −1."""
    ones = ~np.uint64(0)
    word = index >> 6
    rest = bits[word] & (ones << np.uint64(index & 63))
    if rest == 0:
        word += 1
        group = word >> 6
        if group >= len(summary):
            return -1
        words = summary[group] & (ones << np.uint64(word & 63))
        while words == 0:
            group += 1
            if group == len(summary):
                return -1
            words = summary[group]
        word = (group << 6) + _lowest_set_bit(words)
        rest = bits[word]
    return (word << 6) + _lowest_set_bit(rest)


@njit(cache=True)
def _grouped(order, pack_of, num_packs):  # type: ignore[no-untyped-def]  # compiled
    """The items pack by pack (in ``order`` within a pack), and where each pack begins."""
    offsets = np.zeros(num_packs + 1, np.int64)
    for pack in pack_of:
        offsets[pack + 1] += 1
    for pack in range(num_packs):
        offsets[pack + 1] += offsets[pack]
    items = np.empty(len(order), np.int64)
    filled = offsets[:-1].copy()
    for place in range(len(order)):
        pack = pack_of[place]
        items[filled[pack]] = order[place]
        filled[pack] += 1
    return items, offsets
