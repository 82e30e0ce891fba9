"""The compiled part: the n-grams of texts, and which of them an index has.

The index is a hash table, ``slots``, of places in the sorted ``hashes``, plus one (0 is a free slot). Before it stands
a bitmap that fits a processor's cache and turns nearly all n-grams away.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curation.compiled import compiled, inlined
from curation.ngrams import Hashes, Letters, hash_ngrams, hash_words
from curation.text_buffers import Ends, Texts

Slots: TypeAlias = NDArray[np.int32]


class Lookup(NamedTuple):
    """The n-grams of an index: ``hashes`` sorted, and the sizes of the other two powers of two."""

    hashes: Hashes
    slots: Slots
    bits: Hashes


ROW, POSITION, NGRAM = range(3)
"""The columns of the matches: the text, which of its n-grams it is (from 0), and the place of that in the index."""

_WORD_BITS = np.uint64(6)
_BIT = np.uint64(63)
_FILTER = np.uint64(32)
_ONE = np.uint64(1)


@compiled
def build(hashes: Hashes, num_slots: int, num_words: int) -> Lookup:
    """The lookup of sorted distinct n-grams.

    Args:
        num_slots: of the hash table, more than n-grams.
        num_words: of the bitmap, 64 bits each. Both are powers of two.
    """
    slots = np.zeros(num_slots, np.int32)
    bits = np.zeros(num_words, np.uint64)
    for place in range(hashes.size):
        value = hashes[place]
        slot = np.int64(value & np.uint64(num_slots - 1))
        while slots[slot]:
            slot = (slot + 1) & (num_slots - 1)
        slots[slot] = place + 1
        spread = value >> _FILTER
        bits[np.int64((spread >> _WORD_BITS) & np.uint64(num_words - 1))] |= _ONE << (spread & _BIT)
    return Lookup(hashes, slots, bits)


@inlined
def _find(lookup: Lookup, value: np.uint64) -> np.int64:
    """The place of an n-gram in the index, -1 where it is not there."""
    spread = value >> _FILTER
    word = lookup.bits[np.int64((spread >> _WORD_BITS) & np.uint64(lookup.bits.size - 1))]
    if not (word >> (spread & _BIT)) & _ONE:
        return np.int64(-1)
    slot = np.int64(value & np.uint64(lookup.slots.size - 1))
    while lookup.slots[slot]:
        place = np.int64(lookup.slots[slot]) - 1
        if lookup.hashes[place] == value:
            return place
        slot = (slot + 1) & (lookup.slots.size - 1)
    return np.int64(-1)


@compiled
def _ngrams(texts: Texts, row: int, lower: Letters, n: int, found: Hashes) -> tuple[Hashes, int]:
    """The n-grams of a text in the first entries of an array, and how many; a text of fewer words has none."""
    at, end = texts.ends[row], texts.ends[row + 1]
    room = (end - at) // 2 + 1
    if found.size < room:
        found = np.empty(room, np.uint64)
    count = hash_words(texts.text, at, end, lower, found)
    return found, hash_ngrams(found, count, n) if count >= n else 0


@compiled
def match(texts: Texts, lower: Letters, n: int, lookup: Lookup, num_ngrams: Ends) -> Ends:
    """The n-grams of texts that an index has.

    Args:
        texts: as many as ``num_ngrams``, which receives how many n-grams each has.
        lower: `curation.words.lower_table()`.
        n: words an n-gram.
        lookup: the index.

    Returns:
        A row a match: `ROW`, `POSITION`, `NGRAM`, in the order of the texts.
    """
    found = np.empty(0, np.uint64)
    matches = np.empty((64, 3), np.int64)
    num_matches = 0
    for row in range(num_ngrams.size):
        found, count = _ngrams(texts, row, lower, n, found)
        num_ngrams[row] = count
        for position in range(count):
            place = _find(lookup, found[position])
            if place < 0:
                continue
            if num_matches == matches.shape[0]:
                larger = np.empty((2 * num_matches, 3), np.int64)
                larger[:num_matches] = matches
                matches = larger
            matches[num_matches] = (row, position, place)
            num_matches += 1
    return matches[:num_matches]


@compiled
def ngram_sets(texts: Texts, lower: Letters, n: int, sizes: Ends) -> Hashes:
    """The distinct n-grams of each text, one text after the other; ``sizes`` receives how many each has."""
    found = np.empty(0, np.uint64)
    everything = np.empty(1024, np.uint64)
    end = 0
    for row in range(sizes.size):
        found, count = _ngrams(texts, row, lower, n, found)
        distinct = np.unique(found[:count])
        if end + distinct.size > everything.size:
            larger = np.empty(2 * (end + distinct.size), np.uint64)
            larger[:end] = everything[:end]
            everything = larger
        everything[end : end + distinct.size] = distinct
        end += distinct.size
        sizes[row] = distinct.size
    return everything[:end]
