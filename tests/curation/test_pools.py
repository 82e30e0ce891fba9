"""Pools of data are disjoint where no source and no split group is in two of them; what is, is named."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from curation.pools import Key, Violation, disjoint_groups
from tests.curation.recordings import record
from trajectories import Dataset, InputError, compact
from trajectories.importers import import_trajectories


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


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("laws/a.jsonl:1", "laws/a.jsonl:20", "laws/a.jsonl"),
        ("laws: a.jsonl:1", "laws: a.jsonl:2", "laws: a.jsonl"),
        ("a.tar.gz!b/c.json:7", "a.tar.gz!b/c.json", "a.tar.gz!b/c.json"),
        ("a.json#subagent-1", "a.json:2#subagent-1#subagent-2", "a.json"),
        ("https://host/a.jsonl:1", "https://host/a.jsonl:2", "https://host/a.jsonl"),
        ("datasets:laws:train:1", "datasets:laws:train:2", "datasets:laws:train"),
        ("two\nlines.jsonl:1", "two\nlines.jsonl:2", "two\nlines.jsonl"),
        ("./chats:1", "./chats:2", "./chats"),
    ],
)
def test_the_rows_of_one_file_are_of_one_source(one: str, other: str, shared: str) -> None:
    pools = {"cpt": pool(("a", "g1", one)), "eval": pool(("b", "g2", other))}
    assert disjoint_groups(pools) == [Violation(Key.SOURCE, shared, ("cpt", "eval"), 2)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("laws/a.jsonl:1", "laws/b.jsonl:1"),
        ("a.zip!b.json:1", "a.zip!c.json:1"),
        ("https://host:8080", "https://host:8081"),
        ("ECLI:NL:1", "ECLI:NL:2"),
        ("a:1", "a:2"),
    ],
)
def test_other_files_are_other_sources(one: str, other: str) -> None:
    assert disjoint_groups({"cpt": pool(("a", "g1", one)), "eval": pool(("b", "g2", other))}) == []


@pytest.mark.parametrize("name", ["chats.jsonl", "chats", "chats of 10:30", "mydatasets"])
def test_rows_of_one_import_are_no_two_pools(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chats = [{"messages": [{"role": "user", "content": task}, {"role": "assistant", "content": ""}]} for task in "ab"]
    Path(name).write_text("".join(f"{json.dumps(chat)}\n" for chat in chats))
    dataset = Dataset(tmp_path / "data")
    import_trajectories(dataset, "messages", [name], licence="MIT")
    rows = dataset.scan_trajectories()
    pools = {name: rows.filter(pl.col("instruction") == task) for name, task in (("cpt", "a"), ("eval", "b"))}
    assert disjoint_groups(pools) == [Violation(Key.SOURCE, name if "." in name else f"./{name}", ("cpt", "eval"), 2)]


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
