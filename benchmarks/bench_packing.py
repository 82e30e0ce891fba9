"""How fast and how full documents are packed, beside the textbook algorithms in the same run.

Lengths are log-normal, as those of trajectories are: most are short, a few fill the context.
"""

from __future__ import annotations

import time
from bisect import bisect_left, insort
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.table import Row, Table
from sharding.packing import best_fit_decreasing

_CONTEXT = 32_768
_MEDIAN_LENGTH = 2_000
_NUM_SEQUENCES = 2_000_000
_NUM_PLAIN = 50_000
"""The textbook algorithms in plain Python get the first so many of the same sequences."""
_PASSES = 3


def run() -> Table:
    """Measure; takes some seconds."""
    rng = np.random.default_rng(0)
    lengths = rng.lognormal(np.log(_MEDIAN_LENGTH), 1.0, _NUM_SEQUENCES).astype(np.int64).clip(16, _CONTEXT)
    some = lengths[:_NUM_PLAIN].tolist()
    best_fit_decreasing(lengths[:1], _CONTEXT)  # compiles, or loads what was compiled
    fast_speed, fast_packs = _measured(lambda: best_fit_decreasing(lengths, _CONTEXT).num_packs, len(lengths), _PASSES)
    plain = {
        "next fit, plain Python": next_fit,
        "first fit decreasing, plain Python": first_fit_decreasing,
        "best fit decreasing, plain Python": plain_best_fit_decreasing,
    }
    measured = {what: _measured(partial(pack, some, _CONTEXT), len(some), 1) for what, pack in plain.items()}
    reference_speed, _ = measured["best fit decreasing, plain Python"]
    rows = [
        Row(what, (f"{speed:.2f}", f"{sum(some) / (packs * _CONTEXT):.3%}"), speed / reference_speed)
        for what, (speed, packs) in measured.items()
    ]
    fill = f"{lengths.sum() / (fast_packs * _CONTEXT):.3%}"
    target = "1 million/s, 99.9 % full"
    ours = Row(
        "sharding.packing.best_fit_decreasing", (f"{fast_speed:.2f}", fill), fast_speed / reference_speed, target
    )
    return Table("packing, one core", ("million sequences/s", "full"), "plain best fit", [*rows, ours])


def next_fit(lengths: list[int], context: int) -> int:
    """Packs opened by the naive rule: a sequence that does not fit the open pack closes it."""
    packs, free = 0, 0
    for length in lengths:
        if length > free:
            packs, free = packs + 1, context
        free -= length
    return packs


def first_fit_decreasing(lengths: list[int], context: int) -> int:
    """Packs opened by taking the longest first, each into the oldest pack with room, found in a tree of maxima."""
    leaves = 1 << (len(lengths) - 1).bit_length()
    room = [context] * (2 * leaves)
    packs = 0
    for length in sorted(lengths, reverse=True):
        node = 1
        while node < leaves:
            node = 2 * node if room[2 * node] >= length else 2 * node + 1
        packs = max(packs, node - leaves + 1)
        room[node] -= length
        while node > 1:
            node //= 2
            room[node] = max(room[2 * node], room[2 * node + 1])
    return packs


def plain_best_fit_decreasing(lengths: list[int], context: int) -> int:
    """Packs opened by taking the longest first, each into the fullest pack with room, found in a sorted list."""
    free: list[int] = []
    for length in sorted(lengths, reverse=True):
        place = bisect_left(free, length)
        insort(free, (free.pop(place) if place < len(free) else context) - length)
    return len(free)


def _measured(pack: Callable[[], int], num_sequences: int, passes: int) -> tuple[float, int]:
    """Million sequences a second in the best of some passes, and the number of packs."""
    best = float("inf")
    packs = 0
    for _ in range(passes):
        start = time.process_time()
        packs = pack()
        best = min(best, time.process_time() - start)
    return num_sequences / best / 1e6, packs
