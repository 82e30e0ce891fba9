"""What the tests of collectors share: a data set, and engines in a state folder of each test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandboxes import Engine, EngineUnavailableError, Lease, open_engine
from sandboxes.engines import EngineName
from tests.collectors.notepad import Notepad
from trajectories import Dataset


@pytest.fixture
def notepad() -> Iterator[Notepad]:
    pad = Notepad()
    yield pad
    assert pad.closed > 0, "the recorder has left its sandbox open"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return Dataset(tmp_path / "data")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder that makes this test a host of its own: it cannot touch what others on this machine own."""
    folder = tmp_path / "state"
    monkeypatch.setenv("WORLDTAPE_STATE", str(folder))
    return folder


@pytest.fixture(
    params=[
        pytest.param("docker", marks=pytest.mark.docker),
        pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
    ]
)
def engine_name(request: pytest.FixtureRequest) -> EngineName:
    name: EngineName = request.param
    return name


@pytest.fixture
async def engine(engine_name: EngineName, state: Path) -> AsyncIterator[Engine]:
    """Each engine in turn, under a lease of the test's own process."""
    async with opened(engine_name, state) as engine:
        yield engine


@pytest.fixture
async def any_engine(state: Path) -> AsyncIterator[Engine]:
    """The engine this machine would take by itself."""
    async with opened("auto", state) as engine:
        yield engine


@asynccontextmanager
async def opened(name: EngineName, state: Path) -> AsyncIterator[Engine]:
    with Lease.acquire("tests", state=state) as lease:
        try:
            engine = await open_engine(name, lease)
        except EngineUnavailableError as error:
            pytest.skip(str(error))
        yield engine
        await engine.close()
