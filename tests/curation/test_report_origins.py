"""Shares of the classes by where the turns came from: what a source is, and how many of them are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from curation import CurationProfile, Searches, curate, write_report
from curation.report import origins
from curation.report.origins import OriginFacts, Origins, source_of
from tests.curation.recordings import a_header, record_turns, turn
from tests.curation.report_support import Page, figures
from trajectories import Dataset, compact

PROFILE = CurationProfile(searches=Searches(duplicates=False))
_ECHO = turn("repeat these words", "repeat these words")
_ANSWER = turn("list", " ".join(f"name{number}" for number in range(60)))


def reported(folder: Path, recorded: list[tuple[str, Any]]) -> tuple[Any, str]:
    """The figures and the page's text of trajectories of one turn in one run, by their sources."""
    dataset = Dataset(folder / "recorded")
    for number, (source, given) in enumerate(recorded):
        record_turns(dataset, a_header(f"t{number:03d}", source=source), [given])
    compact(dataset, "r1")
    page = write_report(dataset, curate(dataset, profile=PROFILE).sidecar)
    return figures(page), Page(page.read_text()).text


@pytest.mark.parametrize(
    ("source", "group", "shown"),
    [
        ("traces/chats.jsonl:12", "", "traces/chats.jsonl"),
        ("traces/chats.jsonl:12#subagent-1", "", "traces/chats.jsonl"),
        ("traces/session.cast", "", "traces/session.cast"),
        ("traces/all.tar.gz!a/b.jsonl:3", "", "traces/all.tar.gz"),
        ("https://data.example/all.zip!a.json", "", "https://data.example/all.zip"),
        ("wow!.jsonl:3", "", "wow!.jsonl"),
        ("https://data.example/chats.jsonl:3", "", "https://data.example/chats.jsonl"),
        ("https://books.example/laws/act-7?page=2", "books.example", "https://books.example"),
        ("Old laws: laws.jsonl:4", "Old laws", "Old laws"),
        ("Old laws: acts and bills", "", "Old laws: acts and bills"),
        ("book-A", "book-A", "book-A"),
        ("", "", "run r1"),
        (None, None, "run r1"),
        ("12:30", "", "12:30"),
        ("ECLI:NL:1", "", "ECLI:NL:1"),
        ("datasets:laws:train:1", "", "datasets:laws:train"),
        ("https://host:8080", "", "https://host:8080"),
        ("a\nb.jsonl:7", "", "a\nb.jsonl"),
    ],
)
def test_a_source_is_what_a_place_shares_with_others(source: str | None, group: str | None, shown: str) -> None:
    row = pl.DataFrame(
        {"source": [source], "split_group": [group], "run": ["r1"]},
        schema={"source": pl.String, "split_group": pl.String, "run": pl.String},
    )
    assert row.select(source_of()).item() == shown


def test_sources_of_one_run_have_shares_of_their_own(tmp_path: Path) -> None:
    report, text = reported(
        tmp_path,
        [*((f"book-A.jsonl:{n}", _ECHO) for n in range(2)), *((f"b.zip!{n}.json", _ANSWER) for n in range(3))],
    )
    (of_run,) = report["by_run"]["largest"]
    assert of_run["classes"]["echo"] == 2
    of_b, of_a = report["by_source"]["largest"]
    assert (of_b["name"], of_b["num_trajectories"], of_b["classes"]["echo"]) == ("b.zip", 3, 0)
    assert (of_a["name"], of_a["num_trajectories"], of_a["classes"]["echo"]) == ("book-A.jsonl", 2, 2)
    assert sum(of_b["classes"].values()) == 3
    assert "book-A.jsonl" in text


def test_of_very_many_sources_the_largest_are_told_and_the_rest_summed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origins, "NUM_LARGEST", 40)
    sources = [f"s{number:02d}.json" for number in range(45) for _ in range(1 + (number == 7))]
    report, text = reported(tmp_path, [(source, _ECHO) for source in sources])
    told = report["by_source"]
    assert told["largest"][0]["name"] == "s07.json"
    assert (len(told["largest"]), told["num_others"]) == (40, 5)
    assert told["others"]["total"]["num_turns"] == told["others"]["classes"]["echo"] == 5
    assert "15 others" in text
    assert "The 40 largest are in report.json." in text


def test_what_is_told_together_is_the_sum_of_what_is_told_one_by_one() -> None:
    def facts(name: str, number: int) -> OriginFacts:
        amounts = dict.fromkeys(("num_turns", "num_kept", "code_points", "code_points_kept"), number)
        return OriginFacts.model_validate(
            {
                "name": name,
                "source_formats": [f"f{number}"],
                "num_trajectories": number,
                "total": amounts,
                "classes": dict.fromkeys(origins._CLASSES, number),
            }
        )

    all_of_them = Origins(largest=[facts("a", 4), facts("b", 2), facts("c", 1)], num_others=2, others=facts("", 1))
    shown = all_of_them.at_most(1)
    assert ([one.name for one in shown.largest], shown.num_others) == (["a"], 4)
    assert shown.others == facts("", 4).model_copy(update={"source_formats": ["f1", "f2"]})
    assert all_of_them.at_most(3) == all_of_them
