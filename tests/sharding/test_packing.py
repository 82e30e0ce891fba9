from __future__ import annotations

from bisect import bisect_left, insort

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sharding.packing import best_fit_decreasing


def textbook_best_fit_decreasing(lengths: list[int], context: int) -> int:
    """The number of packs by the plain algorithm: a sorted list of free spaces."""
    free: list[int] = []
    for length in sorted(lengths, reverse=True):
        place = bisect_left(free, length)
        left = free.pop(place) - length if place < len(free) else context - length
        insort(free, left)
    return len(free)


@st.composite
def packing_problems(draw: st.DrawFn) -> tuple[list[int], int]:
    context = draw(st.one_of(st.integers(1, 80), st.sampled_from([63, 64, 65, 4095, 4096, 4097, 40_000])))
    return draw(st.lists(st.integers(1, context), max_size=200)), context


@given(packing_problems())
def test_it_opens_as_many_packs_as_the_textbook_algorithm(problem: tuple[list[int], int]) -> None:
    lengths, context = problem
    packing = best_fit_decreasing(np.array(lengths, np.int64), context)
    assert packing.num_packs == textbook_best_fit_decreasing(lengths, context)


@given(packing_problems())
def test_every_item_lies_in_exactly_one_pack_and_no_pack_is_over_the_context(problem: tuple[list[int], int]) -> None:
    lengths, context = problem
    packing = best_fit_decreasing(np.array(lengths, np.int64), context)
    assert sorted(packing.items.tolist()) == list(range(len(lengths)))
    for begin, end in zip(packing.offsets[:-1], packing.offsets[1:], strict=True):
        assert 0 < sum(lengths[item] for item in packing.items[begin:end]) <= context


def test_equal_lengths_are_packed_in_their_given_order() -> None:
    packing = best_fit_decreasing(np.full(6, 2, np.int64), 4)
    assert packing.items.tolist() == [0, 1, 2, 3, 4, 5]
    assert packing.offsets.tolist() == [0, 2, 4, 6]


def test_nothing_packs_into_no_packs() -> None:
    assert best_fit_decreasing(np.empty(0, np.int64), 8).num_packs == 0


def test_realistic_lengths_fill_packs_to_999_in_a_thousand() -> None:
    lengths = np.random.default_rng(0).lognormal(np.log(2_000), 1.0, 100_000).astype(np.int64).clip(16, 32_768)
    packing = best_fit_decreasing(lengths, 32_768)
    assert lengths.sum() / (packing.num_packs * 32_768) >= 0.999
