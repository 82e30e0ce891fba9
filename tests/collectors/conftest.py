"""What the tests of collectors share: a data set, and engines in a state folder of each test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sandboxes import Engine, Lease
from sandboxes.engines import EngineName
from tests.collectors.notepad import Notepad
from tests.sandboxes.conftest import ENGINES, opened_engine, state
from trajectories import Dataset

__all__ = ["state"]


@pytest.fixture
def notepad() -> Iterator[Notepad]:
    pad = Notepad()
    yield pad
    assert pad.closed > 0, "the recorder has left its sandbox open"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return Dataset(tmp_path / "data")


@pytest.fixture(params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> EngineName:
    name: EngineName = request.param
    return name


@pytest.fixture
async def engine(engine_name: EngineName, state: Path) -> AsyncIterator[Engine]:
    """Each engine in turn, under a lease of the test's own process."""
    with Lease.acquire("tests", state=state) as lease:
        async with opened_engine(engine_name, lease) as engine:
            yield engine


@pytest.fixture
async def any_engine(state: Path) -> AsyncIterator[Engine]:
    """The engine this machine would take by itself."""
    with Lease.acquire("tests", state=state) as lease:
        async with opened_engine("auto", lease) as engine:
            yield engine
