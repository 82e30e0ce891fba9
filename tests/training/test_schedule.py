from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.config import TrainingConfig
from training.schedule import learning_rate
from trajectories import InputError

CONFIG = TrainingConfig(learning_rate=1.0, final_learning_rate_ratio=0.1, num_warmup_steps=10, num_steps=110)


def test_the_rate_rises_in_a_line_to_its_highest() -> None:
    assert [learning_rate(step, CONFIG) for step in (1, 5, 10)] == [0.1, 0.5, 1.0]


def test_the_rate_falls_by_half_a_cosine_to_its_final_ratio() -> None:
    assert learning_rate(60, CONFIG) == pytest.approx(0.55)
    assert learning_rate(110, CONFIG) == pytest.approx(0.1)


@given(step=st.integers(10, 500))
def test_after_the_warm_up_the_rate_never_rises(step: int) -> None:
    assert learning_rate(step + 1, CONFIG) <= learning_rate(step, CONFIG)


def test_a_run_resumed_with_more_steps_goes_on_along_the_longer_runs_curve() -> None:
    longer = replace(CONFIG, num_steps=210)
    assert learning_rate(110, CONFIG) == pytest.approx(0.1)
    assert learning_rate(111, longer) == pytest.approx(0.55, abs=0.01)


def test_a_run_without_warm_up_begins_at_the_highest_rate_or_just_below() -> None:
    config = TrainingConfig(learning_rate=1.0, num_warmup_steps=0, num_steps=100)
    assert 0.99 < learning_rate(1, config) <= 1.0


class Wrong(TypedDict, total=False):
    """What may be out of its range."""

    num_steps: int
    learning_rate: float
    beta2: float
    num_warmup_steps: int
    num_micro_batches: int


@pytest.mark.parametrize(
    "wrong",
    [{"num_steps": 0}, {"learning_rate": 0.0}, {"beta2": 1.0}, {"num_warmup_steps": -1}, {"num_micro_batches": 0}],
)
def test_a_value_out_of_its_range_is_named(wrong: Wrong) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        TrainingConfig(**wrong)
