"""From signatures to clusters: who copies whom, whose shingles must be compared, and what comes of it.

Texts are numbered in the order in which they survive, so the least number of a cluster is its survivor. That order, and
with it every result, depends neither on how the work was cut nor on where the rows lie.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curation.duplicates import kernel
from curation.ngrams import Hashes
from curation.search_settings import DuplicateSettings
from curation.text_buffers import Ends

Floats: TypeAlias = NDArray[np.float64]


class Bucket(NamedTuple):
    """The texts that share a key of one band with another text, sorted by key, and then by number."""

    keys: Hashes
    members: Ends


@dataclass(frozen=True, slots=True)
class Clusters:
    """Of each text: the survivor of its cluster, whether its text is the survivor's own, and how similar it is."""

    survivors: Ends
    exact: kernel.Flags
    similarity: Floats
    num_crowded: int
    """Texts that were compared with the nearest ones of a bucket only."""


def buckets(bands: Iterable[Hashes], eligible: kernel.Flags) -> Iterator[Bucket]:
    """What each band finds alike among the eligible texts.

    Args:
        bands: the keys of all texts, band by band.
        eligible: those that have words, and are the first of their exact copies.
    """
    texts = np.flatnonzero(eligible)
    for keys in bands:
        own = keys[texts]
        places = _sharing(own)
        places = places[np.argsort(own[places], kind="stable")]
        yield Bucket(own[places], texts[places])


def _sharing(keys: Hashes) -> Ends:
    """The places of the keys that are there twice at least. They are few, so they alone are worth a stable sort."""
    ordered = np.sort(keys)
    shared = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not shared.size:
        return np.empty(0, np.int64)
    nearest = np.minimum(np.searchsorted(shared, keys), shared.size - 1)
    return np.flatnonzero(shared[nearest] == keys)


def candidates(bands: Iterable[Hashes], eligible: kernel.Flags) -> kernel.Flags:
    """The texts that share a bucket with another."""
    found = np.zeros(eligible.size, np.bool_)
    for bucket in buckets(bands, eligible):
        found[bucket.members] = True
    return found


def cluster(
    first_copies: Ends,
    bands: Iterable[Hashes],
    eligible: kernel.Flags,
    sets: kernel.ShingleSets,
    settings: DuplicateSettings,
) -> Clusters:
    """Unite exact copies, and all texts of one bucket that are as similar as the settings want.

    Args:
        first_copies: of each text the first one that is equal to it, itself perhaps.
        bands, eligible: as for `buckets`.
        sets: the shingles of the candidates.
    """
    parents = np.arange(first_copies.size, dtype=np.int64)
    num_crowded = 0
    for bucket in buckets(bands, eligible):
        num_crowded += kernel.link(bucket.keys, bucket.members, settings.neighbours, settings.threshold, sets, parents)
    similarity = kernel.similarity_to_roots(sets, parents)
    survivors = parents[first_copies]
    return Clusters(survivors, first_copies == survivors, similarity[first_copies], num_crowded)
