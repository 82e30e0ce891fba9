"""The compiled part: MinHash signatures of turns, their shingle sets, and the comparison of the candidates.

MinHash: Broder, "On the resemblance and containment of documents" (1997); banding: Leskovec, Rajaraman, Ullman, "Mining
of Massive Datasets", chapter 3. A permutation is ``a·x + b`` modulo 2^32, with a odd, of the upper half of a shingle's
64-bit hash.

The text of a turn is its action and then its observation, so that a shingle may span both.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curation.compiled import compiled
from curation.ngrams import Hashes, Letters, hash_ngrams, hash_words, mix
from curation.text_buffers import Ends, Texts

Half: TypeAlias = NDArray[np.uint32]
Flags: TypeAlias = NDArray[np.bool_]


class ShingleSets(NamedTuple):
    """Sets of shingles: text t has the sorted ``shingles[starts[t] : starts[t] + sizes[t]]``."""

    shingles: Hashes
    starts: Ends
    sizes: Ends


NO_SHINGLE = np.uint32(0xFFFFFFFF)
"""What every entry of a signature is where a text has no word."""

_UNWATCHED = 32
"""Entries of a set that are compared before it is asked again whether two sets can still be similar."""
_UPPER = np.uint64(32)
_STEP = np.uint64(0x9E3779B97F4A7C15)


@compiled
def permutations(seed: np.uint64, size: int) -> Half:
    """``size`` permutations, of which row 0 holds the factors and row 1 the summands: (2, size)."""
    drawn = np.empty((2, size), np.uint32)
    state = mix(seed)
    for place in range(size):
        state += _STEP
        value = mix(state)
        drawn[0, place] = np.uint32(value) | np.uint32(1)
        drawn[1, place] = np.uint32(value >> _UPPER)
    return drawn


@compiled
def _hash_turn(
    turn: int,
    actions: Texts,
    observations: Texts,
    lower: Letters,
    n: int,
    found: Hashes,
) -> tuple[Hashes, int]:
    """The shingles of a turn, with repeats, in the first entries of an array; and how many."""
    a, a_end = actions.ends[turn], actions.ends[turn + 1]
    o, o_end = observations.ends[turn], observations.ends[turn + 1]
    room = (a_end - a + o_end - o) // 2 + 2
    if found.size < room:
        found = np.empty(room, np.uint64)
    count = hash_words(actions.text, a, a_end, lower, found)
    count += hash_words(observations.text, o, o_end, lower, found[count:])
    return found, hash_ngrams(found, count, n)


@compiled
def sign(
    actions: Texts,
    observations: Texts,
    lower: Letters,
    n: int,
    drawn: Half,
    signatures: Half,
) -> None:
    """Fill ``signatures`` (turns × permutations) with the least permuted shingle of each turn.

    Args:
        actions, observations: as many texts each as there are turns.
        lower: `curation.words.lower_table()`.
        n: words a shingle.
        drawn: the `permutations`.
    """
    # Arrays of its own, which overlap with nothing, let the compiler do many permutations at once.
    factors, summands = drawn[0].copy(), drawn[1].copy()
    least = np.empty(factors.size, np.uint32)
    found = np.empty(0, np.uint64)
    for turn in range(signatures.shape[0]):
        found, count = _hash_turn(turn, actions, observations, lower, n, found)
        least[:] = NO_SHINGLE
        for place in range(count):
            shingle = np.uint32(found[place] >> _UPPER)
            for entry in range(least.size):
                least[entry] = min(least[entry], np.uint32(factors[entry] * shingle + summands[entry]))
        signatures[turn] = least


@compiled
def least_of_groups(groups: Ends, entries: Half, num_groups: int) -> Half:
    """The entries (groups × entries) of each group's union of sets: the least of its members'.

    Args:
        groups: of each member the number of its group, less than 0 where it has none.
        entries: of each member, in a signature or a part of one.
    """
    least = np.full((num_groups, entries.shape[1]), NO_SHINGLE)
    for member in range(groups.size):
        group = groups[member]
        if group >= 0:
            for entry in range(entries.shape[1]):
                least[group, entry] = min(least[group, entry], entries[member, entry])
    return least


@compiled
def band_keys(signatures: Half, rows: int) -> Hashes:
    """The keys of a signature's bands (bands × texts): equal where all ``rows`` entries of the band are."""
    num_bands = signatures.shape[1] // rows
    keys = np.empty((num_bands, signatures.shape[0]), np.uint64)
    for text in range(signatures.shape[0]):
        for band in range(num_bands):
            key = np.uint64(0)
            for entry in range(band * rows, (band + 1) * rows):
                key = mix(key ^ np.uint64(signatures[text, entry])) + _STEP
            keys[band, text] = key
    return keys


@compiled
def shingles_of(turn: int, actions: Texts, observations: Texts, lower: Letters, n: int) -> Hashes:
    """The shingles of one turn in order, with repeats."""
    found, count = _hash_turn(turn, actions, observations, lower, n, np.empty(0, np.uint64))
    return found[:count]


@compiled
def jaccard(one: Hashes, other: Hashes) -> float:
    """The Jaccard index of two sorted sets; 0 where both are empty."""
    shared = left = right = 0
    while left < one.size and right < other.size:
        if one[left] == other[right]:
            shared += 1
            left += 1
            right += 1
        elif one[left] < other[right]:
            left += 1
        else:
            right += 1
    union = one.size + other.size - shared
    return shared / union if union else 0.0


@compiled
def are_similar(one: Hashes, other: Hashes, threshold: float) -> bool:
    """Whether ``jaccard`` is at least ``threshold``; sooner than by counting to the end where it is not."""
    # Of n + m entries, J ≥ t leaves at most (n + m)·(1 - t)/(1 + t) that the other set has not; one more for rounding.
    allowed = np.int64((one.size + other.size) * (1 - threshold) / (1 + threshold)) + 1
    shared = left = right = 0
    while left < one.size and right < other.size:
        stop = min(left + _UNWATCHED, one.size)
        other_stop = min(right + _UNWATCHED, other.size)
        while left < stop and right < other_stop:
            mine, theirs = one[left], other[right]
            shared += mine == theirs
            left += mine <= theirs
            right += mine >= theirs
        if left + right - 2 * shared > allowed:
            return False
    union = one.size + other.size - shared
    return union > 0 and shared / union >= threshold


@compiled
def _set_of(sets: ShingleSets, text: int) -> Hashes:
    return sets.shingles[sets.starts[text] : sets.starts[text] + sets.sizes[text]]


@compiled
def _root(parents: Ends, text: int) -> int:
    while parents[text] != text:
        parents[text] = parents[parents[text]]
        text = parents[text]
    return text


@compiled
def link(
    keys: Hashes,
    members: Ends,
    neighbours: int,
    threshold: float,
    sets: ShingleSets,
    parents: Ends,
) -> int:
    """Unite, in ``parents``, the similar texts of one band; the least of a cluster is its root.

    The clusters of several bands are the same in whichever order these come: what is compared depends on the band
    alone, but for texts that are united already.

    Args:
        keys, members: the texts whose key another text has too, sorted by key, and then by text.
        neighbours: how many earlier texts of its bucket a text is compared with.
        threshold: the least Jaccard index that makes two texts similar.
        sets: those of the members at least; none is empty.
        parents: of every text the one it is united with, itself at first.

    Returns:
        How many texts had more earlier ones in their bucket than ``neighbours``.
    """
    num_crowded = 0
    first = 0
    for place in range(1, members.size):
        if keys[place] != keys[place - 1]:
            first = place
        num_crowded += place - first > neighbours
        text = members[place]
        own = _set_of(sets, text)
        for earlier in range(place - 1, max(first, place - neighbours) - 1, -1):
            other = members[earlier]
            one_root, other_root = _root(parents, text), _root(parents, other)
            sizes = (sets.sizes[text], sets.sizes[other])
            if one_root == other_root or min(sizes) / max(sizes) < threshold:
                continue
            if are_similar(own, _set_of(sets, other), threshold):
                parents[max(one_root, other_root)] = min(one_root, other_root)
    return num_crowded


@compiled
def similarity_to_roots(sets: ShingleSets, parents: Ends) -> NDArray[np.float64]:
    """The Jaccard index of each text and the root of its cluster, 1 for a root; ``parents`` then holds the roots."""
    similarity = np.ones(parents.size)
    for text in range(parents.size):
        root = _root(parents, text)
        parents[text] = root
        if root != text:
            similarity[text] = jaccard(_set_of(sets, text), _set_of(sets, root))
    return similarity
