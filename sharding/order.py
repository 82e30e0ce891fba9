"""The order an epoch visits the packs in: a function of (seed, epoch) alone, so that a resumed run meets it again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WORD = 2**64 - 1


def permutation(count: int, *, seed: int, epoch: int) -> NDArray[np.int64]:
    """``0 .. count - 1`` in the order of epoch ``epoch``: sorted by a 64-bit hash of (seed, epoch, index)."""
    prefix = mix64(mix64(np.array([seed & _WORD], np.uint64)) ^ np.uint64(epoch & _WORD))
    keys = mix64(np.arange(count, dtype=np.uint64) ^ prefix)
    return np.argsort(keys, kind="stable").astype(np.int64, copy=False)


def mix64(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's step (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"), elementwise."""
    z = words + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
