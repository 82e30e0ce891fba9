"""The same work always gets the same id, other work another."""

import dataclasses
import re

import pytest

from collectors.ids import Episode

EPISODE = Episode(run="r", domain="terminal", task_id="t", task_sha256="0" * 64, policy="scripted@1", seed=0, number=0)


def test_an_id_never_changes() -> None:
    assert EPISODE.trajectory_id(1) == "terminal-130f7384155b43ece9a9"


def test_an_id_is_the_name_of_a_file() -> None:
    strange = dataclasses.replace(EPISODE, task_id="a/b c\n", run="../r", domain="Web/Ω")
    assert re.fullmatch(r"[a-z0-9]+-[0-9a-f]{20}", strange.trajectory_id(1))


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(EPISODE, run="s"),
        dataclasses.replace(EPISODE, task_id="u"),
        dataclasses.replace(EPISODE, task_sha256="1" * 64),
        dataclasses.replace(EPISODE, policy="scripted@2"),
        dataclasses.replace(EPISODE, seed=1),
        dataclasses.replace(EPISODE, number=1),
    ],
)
def test_other_work_has_another_id(other: Episode) -> None:
    assert other.trajectory_id(1) != EPISODE.trajectory_id(1)


def test_another_attempt_has_another_id() -> None:
    assert EPISODE.trajectory_id(2) != EPISODE.trajectory_id(1)
