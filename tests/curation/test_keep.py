"""The draws: uniform, and functions of (seed, trajectory, turn) and the number of a token alone."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.classes import CLASSES, TurnClass
from curation.keep import (
    KeepRatios,
    draw,
    draw_batch,
    hash64,
    keep_ratio,
    keep_ratio_batch,
    splitmix64,
    token_draw,
    token_draws,
    trajectory_states,
)

seeds = st.integers(-(2**63), 2**63 - 1)


def test_the_hash_is_the_documented_one() -> None:
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [splitmix64(1234567, number) for number in (1, 2, 3, 4)] == published
    state = int.from_bytes(hashlib.blake2b(b"-3:run/\xc3\xa9", digest_size=8).digest(), "little")
    assert hash64(-3, "run/é", 2) == splitmix64(state, 2)


@given(seeds, st.lists(st.tuples(st.text(), st.integers(0, 2**31 - 1)), max_size=20))
def test_many_draws_at_once_are_the_same_draws(seed: int, turns: list[tuple[str, int]]) -> None:
    states = trajectory_states(seed, [trajectory_id for trajectory_id, _ in turns])
    numbers = np.array([turn for _, turn in turns], dtype=np.int32)
    assert draw_batch(states, numbers).tolist() == [draw(seed, *turn) for turn in turns]


@given(seeds, st.text(), st.integers(0, 2**31 - 1))
def test_a_draw_is_in_the_half_open_unit_interval(seed: int, trajectory_id: str, turn: int) -> None:
    assert 0.0 <= draw(seed, trajectory_id, turn) < 1.0


@given(seeds, st.text(), st.integers(0, 2**31 - 1), st.integers(0, 50))
def test_the_draws_of_a_turn_s_tokens_are_those_of_each_alone(
    seed: int, trajectory_id: str, turn: int, count: int
) -> None:
    draws = token_draws(seed, trajectory_id, turn, count)
    assert draws.tolist() == [token_draw(seed, trajectory_id, turn, number) for number in range(1, count + 1)]


def test_a_token_is_drawn_from_the_hash_of_its_turn() -> None:
    assert token_draw(-3, "run/é", 2, 5) == (splitmix64(hash64(-3, "run/é", 2), 5) >> 11) / 2**53


@pytest.mark.parametrize("ratio", [0.05, 0.1, 0.5])
def test_the_share_of_tokens_below_a_ratio_comes_to_it(ratio: float) -> None:
    """Over many short turns as over one long one; within five standard deviations."""
    short = np.concatenate([token_draws(0, f"t{number}", 1, 20) for number in range(5_000)])
    for draws in (short, token_draws(0, "one", 1, 100_000)):
        deviation = (ratio * (1 - ratio) / draws.size) ** 0.5
        assert abs((draws < ratio).mean() - ratio) < 5 * deviation


def test_draws_are_uniform_over_turns_and_over_trajectories() -> None:
    of_turns = draw_batch(np.repeat(trajectory_states(0, ["one"]), 100_000), np.arange(100_000, dtype=np.int32))
    ids = [f"t{number}" for number in range(100_000)]
    of_trajectories = draw_batch(trajectory_states(0, ids), np.ones(100_000, dtype=np.int32))
    for draws in (of_turns, of_trajectories):
        counts = np.bincount((draws * 100).astype(int), minlength=100)
        chi_square = ((counts - 1000) ** 2 / 1000).sum()
        assert chi_square < 149  # the 99.9 % quantile with 99 degrees of freedom
        assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.01


def test_a_seed_changes_the_draws() -> None:
    assert draw(0, "t", 1) != draw(1, "t", 1)


@given(st.text(), st.integers(1, 1000), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_ratio_keeps_all_that_a_smaller_one_keeps(
    trajectory_id: str, turn: int, one: float, two: float
) -> None:
    u = draw(0, trajectory_id, turn)
    assert (u < min(one, two)) <= (u < max(one, two))


def test_an_empty_observation_is_kept_whatever_the_ratio_of_its_class() -> None:
    ratios = KeepRatios(other=0.2)
    assert keep_ratio(TurnClass.OTHER, len_observation=5, ratios=ratios) == 0.2
    assert keep_ratio(TurnClass.OTHER, len_observation=0, ratios=ratios) == 1.0


@given(st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from([0, 1, 99]))))
def test_many_ratios_at_once_are_the_same_ratios(turns: list[tuple[TurnClass, int]]) -> None:
    codes = np.array([CLASSES.index(turn_class) for turn_class, _ in turns], dtype=np.int8)
    lengths = np.array([length for _, length in turns], dtype=np.int64)
    expected = [keep_ratio(turn_class, len_observation=length) for turn_class, length in turns]
    assert keep_ratio_batch(codes, lengths, KeepRatios()).tolist() == expected
