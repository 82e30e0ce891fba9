"""Engines and leases for the tests: real ones, in a state folder of each test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sandboxes.engines import Engine, open_engine
from sandboxes.engines.docker import DockerEngine
from sandboxes.errors import EngineUnavailableError
from sandboxes.leases import Lease


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder that makes this test a host of its own: it cannot touch what others on this machine own."""
    folder = tmp_path / "state"
    monkeypatch.setenv("WORLDTAPE_STATE", str(folder))
    return folder


@pytest.fixture
def lease(state: Path) -> Iterator[Lease]:
    with Lease.acquire("tests", state=state) as held:
        yield held


@pytest.fixture
async def docker_engine(lease: Lease) -> AsyncIterator[DockerEngine]:
    try:
        engine = await DockerEngine.connect(lease)
    except EngineUnavailableError as error:
        pytest.skip(str(error))
    yield engine
    await engine.close()


@pytest.fixture(
    params=[
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    ]
)
async def engine(request: pytest.FixtureRequest, lease: Lease) -> AsyncIterator[Engine]:
    """Each engine in turn."""
    try:
        engine = await open_engine(request.param, lease)
    except EngineUnavailableError as error:
        pytest.skip(str(error))
    yield engine
    await engine.close()
