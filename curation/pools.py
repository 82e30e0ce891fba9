"""The proof that pools of data (for pre-training, fine-tuning, rewards, evaluation) have nothing in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

import polars as pl

from curation.places import file_of
from trajectories.dataset import Dataset
from trajectories.errors import InputError


class Key(StrEnum):
    """A column of trajectories whose values no two pools may share."""

    SPLIT_GROUP = "split_group"
    SOURCE = "source"
    TRAJECTORY = "trajectory_id"


class Violation(NamedTuple):
    """A value that several pools have."""

    key: Key
    value: str
    pools: tuple[str, ...]
    """Their names, sorted."""
    num_trajectories: int
    """Those that have it, in all pools together."""


def disjoint_groups(
    pools: Mapping[str, Sequence[Dataset] | Dataset | pl.LazyFrame],
    *,
    keys: Sequence[Key] = (Key.SPLIT_GROUP, Key.SOURCE),
) -> list[Violation]:
    """What pools have in common, sorted; nothing where they are disjoint.

    An empty value says nothing about where a trajectory is from, so it is compared by ``trajectory_id`` instead. Of a
    source that is a place in a file (``FILE:LINE``) the file is compared: its rows are of one source.

    Args:
        pools: by name, data sets, several at once too, or selections of ``Dataset.scan_trajectories()``.
        keys: what must be disjoint. A value of one key is not compared with those of another.

    Raises:
        InputError: fewer than two pools, or one without trajectories.
    """
    if len(pools) < 2:
        raise InputError("one pool has nothing to be disjoint with", mend="name two pools at least")
    frames = [
        rows.select("trajectory_id", *(key.value for key in keys)).with_columns(pool=pl.lit(name))
        for name, pool in pools.items()
        for rows in _rows(pool)
    ]
    rows = pl.concat(frames)
    return sorted(violation for key in {*keys, Key.TRAJECTORY} for violation in _shared(rows, key))


def _rows(pool: Sequence[Dataset] | Dataset | pl.LazyFrame) -> list[pl.LazyFrame]:
    if isinstance(pool, pl.LazyFrame):
        return [pool]
    return [dataset.scan_trajectories() for dataset in ([pool] if isinstance(pool, Dataset) else pool)]


def _shared(rows: pl.LazyFrame, key: Key) -> list[Violation]:
    shared = (
        rows.filter(pl.col(key.value) != "")
        .group_by(value=file_of(pl.col(key.value)) if key is Key.SOURCE else key.value)
        .agg(pl.col("pool").unique().sort(), num_trajectories=pl.len())
        .filter(pl.col("pool").list.len() > 1)
        .collect(engine="streaming")
    )
    return [Violation(key, value, tuple(pools), count) for value, pools, count in shared.iter_rows()]
