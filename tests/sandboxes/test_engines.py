from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sandboxes.engines import open_engine
from sandboxes.engines.closing import close_all
from sandboxes.engines.docker import DockerEngine
from sandboxes.errors import EngineUnavailableError, SandboxError
from sandboxes.leases import Lease
from trajectories import InputError


@pytest.mark.docker
async def test_docker_is_the_first_choice(docker_engine: DockerEngine, lease: Lease) -> None:
    engine = await open_engine("auto", lease)
    assert engine.name == docker_engine.name
    await engine.close()


@pytest.mark.bubblewrap
async def test_bubblewrap_is_the_choice_where_docker_does_not_answer(
    lease: Lease, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    engine = await open_engine("auto", lease)
    assert engine.name == "bubblewrap"
    await engine.close()


async def test_no_engine_at_all_is_one_line_that_says_what_to_install(
    lease: Lease, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailableError) as caught:
        await open_engine("auto", lease)
    message = str(caught.value)
    assert "apt-get install docker.io" in message
    assert "apt-get install bubblewrap" in message
    assert "\n" not in message


async def test_an_engine_of_another_name_is_refused(lease: Lease) -> None:
    with pytest.raises(InputError, match="use auto, docker or bubblewrap"):
        await open_engine("podman", lease)  # type: ignore[arg-type] # what a user may have typed


async def test_a_container_that_cannot_be_closed_keeps_no_other_from_being_so() -> None:
    closed: list[str] = []

    class Closing:
        def __init__(self, name: str) -> None:
            self._name = name

        async def close(self) -> None:
            if self._name == "stuck":
                raise SandboxError("it does not end")
            await asyncio.sleep(0)
            closed.append(self._name)

    with pytest.raises(SandboxError, match="it does not end"):
        await close_all([Closing("a"), Closing("stuck"), Closing("b")])  # type: ignore[list-item] # all that is called
    assert closed == ["a", "b"]
