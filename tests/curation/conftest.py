"""Data sets to curate, recorded and compacted by the store itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.curation.recordings import cut_row_groups, record, some_texts
from trajectories import Dataset, compact


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a data set of 40 trajectories in two domains and two runs, in row groups of 16 turns."""
    dataset = Dataset(tmp_path_factory.mktemp("recorded"))
    for number in range(40):
        domain, run = ("terminal", "mcp")[number % 2], ("r1", "r2")[number % 3 == 0]
        record(dataset, f"t{number:03d}", some_texts(number, 4 + number % 9), run=run, domain=domain)
    for run in ("r1", "r2"):
        compact(dataset, run)
    cut_row_groups(dataset, 16)
    return dataset.folder


@pytest.fixture
def make_dataset(recorded: Path, tmp_path: Path) -> Callable[[str], Dataset]:
    """Makes copies of the recorded data set, each in a folder of its own."""

    def make(where: str) -> Dataset:
        return Dataset(shutil.copytree(recorded, tmp_path / where / "recorded"))

    return make


@pytest.fixture
def dataset(make_dataset: Callable[[str], Dataset]) -> Dataset:
    return make_dataset("here")
