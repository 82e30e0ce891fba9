"""What a report tells of the searches: what their tables hold, where the judgement knew of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from curation import CurationProfile, Searches, curate, write_report
from curation.contamination import find_contamination, open_contamination
from curation.duplicates import Unit, find_duplicates, open_duplicates
from curation.replays import find_volatile
from curation.search_settings import DuplicateSettings
from tests.curation.recordings import record
from tests.curation.report_support import Page, figures
from tests.curation.secrets.test_detector import key
from trajectories import Dataset, compact

WORDS = [f"{first}{second}" for first in "bcdfgklmnprst" for second in ("ano", "eri", "idu", "ola", "uxe", "ymi")]
ITEMS = {name: " ".join(random.Random(name).sample(WORDS, 30)) for name in ("alpha", "beta", "gamma")}


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Eight trajectories: two copies of the first, a turn that six have, and two items of the benchmark."""
    dataset = Dataset(tmp_path / "recorded")
    same = ("pwd", " ".join(WORDS[:40]))
    for number in range(8):
        rng = random.Random(0 if number in (3, 6) else number)
        texts = [(f"look {rng.randint(0, 9)}", " ".join(rng.sample(WORDS, 40))) for _ in range(5)]
        texts += [same] if number not in (1, 2) else [("cat item", ITEMS["alpha"]), ("cat", f"{ITEMS['beta']} so")]
        record(dataset, f"t{number}", texts, run=f"r{number % 2}", domain=("terminal", "mcp")[number % 2])
    for run in ("r0", "r1"):
        compact(dataset, run)
    return dataset


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps({"id": name, "problem": text}) + "\n" for name, text in ITEMS.items()))
    return path


def reported(dataset: Dataset, **given: Any) -> tuple[Any, Page]:
    page = write_report(dataset, curate(dataset, **given).sidecar)
    return figures(page), Page(page.read_text())


def test_duplicates_are_those_of_the_tables(dataset: Dataset) -> None:
    report, page = reported(dataset)
    for unit in Unit:
        facts = report["duplicates"][unit]
        rows = open_duplicates(dataset).scan(unit).collect()
        copies = rows.filter(~pl.col("survivor"))
        assert facts["num_exact"] + facts["num_near"] == len(copies)
        assert facts["by_domain"] == dict(copies.group_by("domain").len().iter_rows())
        sizes = sorted(rows.group_by("cluster").len()["len"], reverse=True)
        assert [cluster["num_members"] for cluster in facts["largest"]] == sizes[:5]
        for cluster in facts["largest"]:
            assert sum(cluster["by_domain"].values()) == cluster["num_members"]
    (largest,) = report["duplicates"]["trajectories"]["largest"]
    assert (largest["trajectory_id"], largest["turn"], largest["num_members"]) == ("t0", 1, 3)
    turns = report["duplicates"]["turns"]["largest"]
    assert (turns[0]["num_members"], turns[0]["observation"]["text"]) == (6, " ".join(WORDS[:40]))
    assert "The largest clusters of trajectories" in page.text
    page.check()


def test_benchmarks_and_the_strongest_hits_are_those_of_the_table(dataset: Dataset, benchmark: Path) -> None:
    report, page = reported(dataset, benchmarks=[benchmark])
    hits = open_contamination(dataset).scan().collect()
    facts = report["contamination"]
    (of_benchmark,) = facts["benchmarks"]
    assert (of_benchmark["name"], of_benchmark["num_items"], of_benchmark["num_found"]) == ("items.jsonl", 3, 2)
    assert of_benchmark["num_turns"] == hits.select("trajectory_id", "turn").n_unique() == 4
    assert of_benchmark["num_trajectories"] == hits["trajectory_id"].n_unique() == 2
    assert of_benchmark["by_domain"] == {"mcp": 1, "terminal": 1}
    assert {hit["item"] for hit in facts["strongest"]} == {"alpha", "beta"}
    for hit in facts["strongest"]:
        of_item = hits.filter(pl.col("item") == hit["item"])
        assert hit["item_share"] == of_item["item_share"].max()
        assert ITEMS[hit["item"]] in hit["text"]["text"]
    assert "The strongest hits" in page.text
    page.check()


def test_a_search_that_was_not_made_has_no_section(dataset: Dataset) -> None:
    report, page = reported(dataset, profile=CurationProfile(searches=Searches(secrets=False, duplicates=False)))
    names = ("secrets", "duplicates", "contamination", "volatile")
    assert [report[name] for name in names] == [None] * 4
    assert not set(names) & set(page.attributes["id"])


def test_tables_that_the_judgement_did_not_know_are_not_told(dataset: Dataset, benchmark: Path) -> None:
    summary = curate(dataset)
    find_contamination(dataset, [benchmark])
    find_duplicates(dataset, settings=DuplicateSettings(threshold=0.5))
    report = figures(write_report(dataset, summary.sidecar))
    assert (report["duplicates"], report["contamination"]) == (None, None)


def test_secrets_are_counted_by_kind_domain_and_rule_and_never_told(tmp_path: Path) -> None:
    table = pytest.importorskip("curation.secrets.table")
    dataset = Dataset(tmp_path / "recorded")
    secrets = [f"ghp_{key(seed=seed)}" for seed in range(3)]
    record(dataset, "a", [(f"export A={secrets[0]}", "ok"), ("env", f"A={secrets[0]} {secrets[1]}")])
    record(dataset, "b", [("mail", "to jane.doe@acme-corp.io"), ("env", secrets[2])], domain="mcp")
    compact(dataset, "r1")
    report, page = reported(dataset, profile=CurationProfile(searches=Searches(secrets=True)))
    rows = table.open_secrets(dataset).scan().collect()
    kinds = {facts["kind"]: facts for facts in report["secrets"]["kinds"]}
    assert report["secrets"]["num_findings"] == len(rows) == 5
    for kind, facts in kinds.items():
        of_kind = rows.filter(pl.col("kind") == kind)
        assert facts["num_findings"] == len(of_kind)
        assert facts["num_before_turns"] == len(of_kind.filter(pl.col("turn") == 0))
        assert facts["by_domain"] == dict(of_kind.group_by("domain").len().iter_rows())
        assert facts["by_rule"] == dict(of_kind.group_by("rule").len().iter_rows())
    assert [(facts["kind"], facts["personal"]) for facts in report["secrets"]["kinds"]] == [
        ("github-token", False),
        ("email", True),
    ]
    assert not [secret for secret in (*secrets, "jane.doe") if secret in page.html]
    assert "found by a rule" in page.html
    assert "every other place where the same value stands" in page.html
    page.check()


def test_volatile_spans_are_counted(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "recorded")
    for number in range(3):
        record(
            dataset, f"t{number}", [("date", f"it is 10:0{number} now"), ("ls", "notes.txt"), ("ps", f"pid 1{number}7")]
        )
    compact(dataset, "r1")
    profile = CurationProfile(searches=Searches(duplicates=False))
    sidecar = curate(dataset, profile=profile).sidecar
    summary = find_volatile(dataset)
    sidecar.write_manifest(profile, {"volatile": summary.fingerprint})
    page = write_report(dataset, sidecar)
    facts = figures(page)["volatile"]
    assert facts == {name: getattr(summary, name) for name in facts}
    assert facts["num_turns_with_spans"] == 6
    parsed = Page(page.read_text())
    parsed.check()
    assert "What differs each time" in parsed.text
