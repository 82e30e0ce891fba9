"""The doctor says what is missing, how to get it, and leaves with 1 where something needed is."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.worldtape.conftest import Worldtape
from worldtape.verbs import doctor
from worldtape.verbs.doctor import Finding

State = Literal["ok", "missing", "optional"]


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> dict[str, State]:
    """The engines of a machine, to set as a test needs them."""
    states: dict[str, State] = {"docker": "ok", "bubblewrap": "ok"}

    async def engine(name: Literal["docker", "bubblewrap"], _: bool) -> list[Finding]:
        return [Finding(f"engine {name}", states[name], "as the test says", "install it")]

    monkeypatch.setattr(doctor, "_engine", engine)
    monkeypatch.setattr(doctor, "_MIN_FREE_BYTES", 0)
    return states


def test_one_engine_is_enough(worldtape: Worldtape, engines: dict[str, State]) -> None:
    assert worldtape("doctor").code == 0
    engines["docker"] = "optional"
    done = worldtape("doctor")
    assert done.code == 0
    assert "doctor: engine docker: install it" in done.err


def test_no_engine_at_all_is_a_failure_with_its_remedy(worldtape: Worldtape, engines: dict[str, State]) -> None:
    engines |= {"docker": "optional", "bubblewrap": "optional"}
    done = worldtape("doctor", "--json")
    assert done.code == 1
    states = {finding["what"]: finding["state"] for finding in done.json}
    assert states["engine docker"] == states["engine bubblewrap"] == "missing"


@pytest.mark.usefixtures("engines")
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    worldtape: Worldtape, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = doctor._is_installed
    monkeypatch.setattr(doctor, "_is_installed", lambda name: name != "torch" and installed(name))
    done = worldtape("doctor")
    assert done.code == 1
    assert "doctor: extra 'train': pip install 'worldtape[train]'" in done.err
    assert "no torch" in done.out
    assert "extra 'pack'" in done.out
    assert "extra 'pack'" not in done.err


@pytest.mark.usefixtures("engines")
def test_a_full_disk_is_a_failure(worldtape: Worldtape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_MIN_FREE_BYTES", 2**80)
    done = worldtape("doctor")
    assert done.code == 1
    assert "make room" in done.err
