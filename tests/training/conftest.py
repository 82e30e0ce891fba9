"""Shards to train on, small enough for a test: documents of random tokens of a tiny vocabulary."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from sharding import PackedDataset, TokenShards
from tests.sharding.conftest import write_shards

VOCABULARY = 10_000
CONTEXT = 32

MakeDataset = Callable[[], PackedDataset]


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    """Sums in one order whatever else the machine does."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shards(tmp_path_factory: pytest.TempPathFactory) -> TokenShards:
    """Six documents of 5 to 30 tokens (of document ``d``: ``100 d, 100 d + 1 …``), half of them in the loss."""
    rng = random.Random(5)
    losses = [[place > 0 and rng.random() < 0.5 for place in range(length)] for length in (30, 21, 9, 5, 17, 12)]
    return write_shards(tmp_path_factory.mktemp("shards"), losses, context=CONTEXT, vocabulary_size=VOCABULARY)


@pytest.fixture
def make_dataset(shards: TokenShards) -> MakeDataset:
    return lambda: PackedDataset(shards, seed=3)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "run"
