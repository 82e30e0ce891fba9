"""Engines and leases for the tests: real ones, in a state folder of each test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from sandboxes.engines import Engine, EngineName, open_engine
from sandboxes.engines.docker import DockerEngine
from sandboxes.errors import EngineUnavailableError
from sandboxes.leases import Lease
from tests.sandboxes.watched_engine import WatchedEngine


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


ENGINES = (
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
)


@pytest.fixture(params=ENGINES)
async def engine(request: pytest.FixtureRequest, lease: Lease) -> AsyncIterator[Engine]:
    """Each engine in turn."""
    async with opened_engine(request.param, lease) as engine:
        yield engine


@pytest_asyncio.fixture(params=ENGINES, scope="module", loop_scope="module")
async def watched_engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[WatchedEngine]:
    """Each engine in turn, one for all the tests of a module, in a state folder of its own."""
    with Lease.acquire("tests", state=tmp_path_factory.mktemp("state")) as lease:
        async with opened_engine(request.param, lease) as engine:
            yield WatchedEngine(engine, lease)


@asynccontextmanager
async def opened_engine(name: EngineName, lease: Lease) -> AsyncIterator[Engine]:
    """The engine of that name for the time of a block; the test is skipped where it cannot be had."""
    try:
        engine = await open_engine(name, lease)
    except EngineUnavailableError as error:
        pytest.skip(str(error))
    try:
        yield engine
    finally:
        await engine.close()
