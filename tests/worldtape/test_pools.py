"""``worldtape pools``: nothing in common is 0, something is 1 and named."""

from __future__ import annotations

import json
from pathlib import Path

from tests.curation.recordings import a_header, record_turns, turn
from tests.worldtape.conftest import Worldtape
from trajectories import Dataset, compact


def pool(folder: Path, name: str, group: str) -> Dataset:
    """A data set of one trajectory."""
    dataset = Dataset(folder / name)
    record_turns(dataset, a_header(name, split_group=group, source=f"{group}.jsonl"), [turn("ls", "a")])
    compact(dataset, "r1")
    return dataset


def test_pools_that_are_apart_are_told_so(worldtape: Worldtape, tmp_path: Path) -> None:
    one, other = pool(tmp_path, "one", "a"), pool(tmp_path, "other", "b")
    result = worldtape("pools", f"cpt={one.url}", f"evaluation={other.url}")
    assert (result.code, result.out) == (0, "")
    assert "nothing in common" in result.err


def test_what_pools_share_is_named_and_leaves_with_1(worldtape: Worldtape, tmp_path: Path) -> None:
    one, other, third = (pool(tmp_path, name, group) for name, group in (("one", "a"), ("other", "b"), ("third", "b")))
    arguments = [f"cpt={one.url}", f"cpt={other.url}", f"evaluation={third.url}"]
    result = worldtape("pools", *arguments, "--json")
    assert result.code == 1
    assert [(shared["key"], shared["value"], shared["pools"]) for shared in json.loads(result.out)] == [
        ("source", "b.jsonl", ["cpt", "evaluation"]),
        ("split_group", "b", ["cpt", "evaluation"]),
    ]
    assert "b.jsonl" in worldtape("pools", *arguments).out


def test_a_pool_without_a_name_is_one_line(worldtape: Worldtape, tmp_path: Path) -> None:
    result = worldtape("pools", str(tmp_path))
    assert result.code == 2
    assert "NAME=DATASET" in result.err
