"""Pools of data are disjoint where no source and no split group is in two of them; what is, is named."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from curation.contamination import Key, Violation, disjoint_groups
from tests.curation.recordings import record
from trajectories import Dataset, InputError, compact


def pool(*rows: tuple[str, str, str]) -> pl.LazyFrame:
    """Trajectories as (id, split group, source)."""
    return pl.DataFrame(rows, schema=["trajectory_id", "split_group", "source"], orient="row").lazy()


def test_pools_without_a_common_source_are_disjoint() -> None:
    pools = {"cpt": pool(("a", "g1", "s1"), ("b", "g1", "s1")), "rl": pool(("c", "g2", "s2"))}
    assert disjoint_groups(pools) == []


def test_each_common_value_is_named_with_its_pools() -> None:
    pools = {
        "cpt": pool(("a", "g1", "s1"), ("b", "g2", "s1")),
        "sft": pool(("c", "g2", "s2"), ("d", "g2", "s3")),
        "eval": pool(("e", "g2", "s3"), ("a", "g4", "s4")),
    }
    assert disjoint_groups(pools) == [
        Violation(Key.SOURCE, "s3", ("eval", "sft"), 2),
        Violation(Key.SPLIT_GROUP, "g2", ("cpt", "eval", "sft"), 4),
        Violation(Key.TRAJECTORY, "a", ("cpt", "eval"), 2),
    ]


def test_the_keys_can_be_chosen() -> None:
    pools = {"cpt": pool(("a", "g1", "s")), "sft": pool(("b", "g2", "s"))}
    assert disjoint_groups(pools, keys=[Key.SPLIT_GROUP]) == []
    assert [violation.value for violation in disjoint_groups(pools)] == ["s"]


def test_no_source_is_not_a_common_source() -> None:
    assert disjoint_groups({"cpt": pool(("a", "", "")), "sft": pool(("b", "", ""))}) == []


def test_data_sets_and_selections_of_them_are_pools(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path)
    for name, domain in (("a", "terminal"), ("b", "mcp")):
        record(dataset, name, [("ls", "one")], domain=domain)
    compact(dataset, "r1")
    some = dataset.scan_trajectories().filter(pl.col("domain") == "mcp")
    assert disjoint_groups({"all": dataset, "some": some}) == [Violation(Key.TRAJECTORY, "b", ("all", "some"), 2)]


def test_one_pool_is_refused() -> None:
    with pytest.raises(InputError, match="two pools"):
        disjoint_groups({"cpt": pool(("a", "g", "s"))})
