"""Tasks give the same results in this process and in others, and their errors reach the user as they are."""

import os
from operator import neg
from pathlib import Path

import pytest

from curation import CurationProfile
from curation.spread import spread
from trajectories import InputError, WorldtapeError


def test_one_worker_or_one_task_needs_no_other_process() -> None:
    assert list(spread(lambda _: os.getpid(), [1, 2], scheduler=None, workers=1)) == [os.getpid()] * 2
    assert list(spread(lambda _: os.getpid(), [1], scheduler=None, workers=8)) == [os.getpid()]


def test_no_tasks_have_no_results() -> None:
    assert list(spread(neg, [], scheduler=None, workers=2)) == []


@pytest.mark.slow
def test_workers_give_every_result_and_raise_what_a_task_raised(capfd: pytest.CaptureFixture[str]) -> None:
    assert sorted(spread(neg, list(range(20)), scheduler=None, workers=2)) == list(range(-19, 1))
    missing = [Path("nowhere.toml"), Path("elsewhere.toml")]
    with pytest.raises(InputError, match=r"cannot be read \((nowhere|elsewhere)\.toml\)") as raised:
        list(spread(CurationProfile.from_toml, missing, scheduler=None, workers=2))
    assert raised.value.exit_code == 2
    assert capfd.readouterr() == ("", ""), "what went wrong is told once"


@pytest.mark.slow
def test_a_task_that_kills_every_worker_is_one_clear_line() -> None:
    with pytest.raises(WorldtapeError, match=r"killed every worker .* more memory"):
        list(spread(os._exit, [1, 1], scheduler=None, workers=2))
