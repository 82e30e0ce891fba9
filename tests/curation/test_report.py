"""The report: the right figures, safe to open whatever was recorded, the same bytes for the same data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from curation import curate, open_sidecar, write_report
from curation.classes import CLASSES
from tests.curation.recordings import a_header, record, record_turns, turn
from trajectories import Dataset, InputError, compact

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>&lt;\x1b[31m\x00\u202edesrever {{ 7 * 7 }}"


class Tags(HTMLParser):
    """The names of the tags of a page, their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: dict[str, set[str]] = {}
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_figures_are_those_of_the_data(dataset: Dataset) -> None:
    sidecar = curate(dataset).sidecar
    page = write_report(dataset, sidecar)
    report = json.loads(page.with_name("report.json").read_text())
    rows = sidecar.scan().collect()
    assert [facts["name"] for facts in report["classes"]] == list(CLASSES)
    for facts in report["classes"]:
        of_class = rows.filter(pl.col("class") == facts["name"])
        assert (facts["num_turns"], facts["num_kept"]) == (len(of_class), of_class["kept"].sum())
        assert sum(facts["by_domain"].values()) == len(of_class)
    domains = {facts["domain"]: facts for facts in report["dataset"]["domains"]}
    assert domains["terminal"]["statuses"] == {"completed": 20}
    assert domains["terminal"]["error_kinds"] == {"tool": 20}
    assert domains["mcp"]["num_timed_out"] == 20
    for histogram in report["statistics"]:
        assert sum(sum(counts) for counts in histogram["by_domain"].values()) == len(rows)
    assert report["code_points"] == rows["len_observation"].sum()


def test_every_class_that_occurs_has_examples_to_read(dataset: Dataset) -> None:
    sidecar = curate(dataset).sidecar
    rows = sidecar.scan().collect()
    report = json.loads(write_report(dataset, sidecar).with_name("report.json").read_text())
    assert {example["turn_class"] for example in report["examples"]} == set(rows["class"])
    turns = {(row["trajectory_id"], row["turn"]): row for row in dataset.scan_turns().collect().to_dicts()}
    for example in report["examples"]:
        assert turns[example["trajectory_id"], example["turn"]]["observation"] == example["observation"]["text"]


def test_nothing_recorded_can_run_or_reach_out_from_the_page(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "recorded")
    record(dataset, "hostile", [(HOSTILE, HOSTILE), (HOSTILE, "ok")], domain="x-y")
    compact(dataset, "r1")
    page = write_report(dataset, curate(dataset).sidecar).read_text()
    parsed = Tags(page)
    assert "alert(1)" in parsed.text
    assert "{{ 7 * 7 }}" in parsed.text
    assert parsed.tags.isdisjoint({"script", "img", "iframe", "link", "object", "embed", "base", "form"})
    assert not [name for name in parsed.attributes if name.startswith("on")]
    assert not [
        link for name in ("href", "src", "xlink:href") for link in parsed.attributes.get(name, ()) if link[0] != "#"
    ]
    assert "default-src 'none'" in page
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202e]", page)


def test_the_same_data_give_the_same_page(make_dataset: Callable[[str], Dataset]) -> None:
    pages = []
    for where in ("one", "other"):
        dataset = make_dataset(where)
        pages.append(write_report(dataset, curate(dataset).sidecar))
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert pages[0].with_name("report.json").read_bytes() == pages[1].with_name("report.json").read_bytes()


def test_a_long_text_is_cut_and_says_how_much_is_left_out(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "recorded")
    record(dataset, "long", [("go", "x" * 5000)])
    compact(dataset, "r1")
    assert "3,800 more characters" in write_report(dataset, curate(dataset).sidecar).read_text()


@pytest.mark.parametrize(
    ("licences", "line"),
    [
        (["CC0-1.0", "MIT", "MIT"], "Licence: CC0-1.0, MIT."),
        (["CC0-1.0", ""], "Licence: CC0-1.0, 1 without."),
        ([""], "Licence: 1 without."),
    ],
)
def test_the_page_says_of_how_many_trajectories_the_licence_is_unknown(
    tmp_path: Path, licences: list[str], line: str
) -> None:
    dataset = Dataset(tmp_path / "recorded")
    for number, licence in enumerate(licences):
        record_turns(dataset, a_header(f"t{number}", licence=licence), [turn("go", "gone")])
    compact(dataset, "r1")
    assert line in write_report(dataset, curate(dataset).sidecar).read_text()


def test_a_number_stays_with_what_it_counts_where_a_line_breaks(dataset: Dataset) -> None:
    page = write_report(dataset, curate(dataset).sidecar).read_text()
    assert "20\u00a0×\u00a0scripted" in page
    assert "20\u00a0×\u00a0completed" in page


def test_there_is_no_report_before_the_curation(dataset: Dataset) -> None:
    with pytest.raises(InputError, match="not curated"):
        write_report(dataset, open_sidecar(dataset))
