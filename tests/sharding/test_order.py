from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sharding.order import mix64, permutation

SEEDS = st.integers(-(2**63), 2**64 - 1)


@given(count=st.integers(0, 300), seed=SEEDS, epoch=st.integers(0, 1000))
def test_every_epoch_visits_everything_once(count: int, seed: int, epoch: int) -> None:
    assert sorted(permutation(count, seed=seed, epoch=epoch)) == list(range(count))


def test_seed_and_epoch_alone_decide_the_order() -> None:
    orders = {tuple(permutation(50, seed=seed, epoch=epoch)) for seed in range(4) for epoch in range(4)}
    assert len(orders) == 16
    np.testing.assert_array_equal(permutation(50, seed=3, epoch=2), permutation(50, seed=3, epoch=2))


def test_the_hash_is_splitmix64() -> None:
    """First outputs of the reference implementation for state 0."""
    states = np.array([0, 0x9E3779B97F4A7C15], np.uint64)
    assert mix64(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
