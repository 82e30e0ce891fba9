"""The report: the right figures, safe to open whatever was recorded, the same bytes for the same data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from curation import CurationProfile, Draw, Reason, Sidecar, curate, open_sidecar, write_report
from curation.classes import CLASSES
from curation.report import Packed, Report, read_report
from curation.report.judged import KEEPING
from tests.curation.recordings import a_header, record_turns, turn
from tests.curation.report_support import HOSTILE, Page, figures, shape
from trajectories import Dataset, InputError, compact

GOLDEN = Path(__file__).parent / "golden" / "report.txt"
TOKENS = {
    "terminal": {"retrieval": (1000, 900), "echo": (100, 5)},
    "mcp": {"retrieval": (500, 450), "echo": (60, 0), "other": (7, 7)},
}
PACKED = Packed(num_documents=5, refused={"no kept turn": 3, "no turn": 1}, tokens=TOKENS)


@dataclass(frozen=True, slots=True)
class Reported:
    """A report, and the sidecar it tells of."""

    dataset: Dataset
    sidecar: Sidecar
    rows: pl.DataFrame
    json: Any
    page: Page

    def sums(self, rows: pl.DataFrame) -> tuple[int, int, int, int]:
        """Turns and code points of some rows, each with those that are kept."""
        kept = rows.filter("kept")
        return len(rows), len(kept), int(rows["len_observation"].sum()), int(kept["len_observation"].sum())


@pytest.fixture(scope="module")
def reported(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """The report of the recorded data set, with tokens."""
    dataset = Dataset(shutil.copytree(recorded, tmp_path_factory.mktemp("reported") / "recorded"))
    sidecar = curate(dataset).sidecar
    page = write_report(dataset, sidecar, PACKED)
    return Reported(dataset, sidecar, sidecar.scan().collect(), figures(page), Page(page.read_text()))


def amounts(facts: Any) -> tuple[int, ...]:
    return tuple(facts[name] for name in ("num_turns", "num_kept", "code_points", "code_points_kept"))


def test_the_keys_of_the_json_are_the_golden_ones() -> None:
    assert shape(Report) == GOLDEN.read_text()


def test_totals_and_domains_are_those_of_the_sidecar(reported: Reported) -> None:
    assert amounts(reported.json["total"]) == reported.sums(reported.rows)
    assert reported.json["by_domain"].keys() == {"mcp", "terminal"}
    for domain, facts in reported.json["by_domain"].items():
        assert amounts(facts) == reported.sums(reported.rows.filter(pl.col("domain") == domain))
    domains = {facts["domain"]: facts for facts in reported.json["dataset"]["domains"]}
    assert domains["terminal"]["statuses"] == {"completed": 20}
    assert domains["terminal"]["error_kinds"] == {"tool": 20}
    assert domains["mcp"]["num_timed_out"] == 20


def test_classes_and_what_is_kept_of_them_are_those_of_the_sidecar(reported: Reported) -> None:
    assert [facts["name"] for facts in reported.json["classes"]] == list(CLASSES)
    for facts in reported.json["classes"]:
        of_class = reported.rows.filter(pl.col("class") == facts["name"])
        assert amounts(facts["total"]) == reported.sums(of_class)
        for domain, in_domain in facts["by_domain"].items():
            assert amounts(in_domain) == reported.sums(of_class.filter(pl.col("domain") == domain))


def test_each_stage_leaves_what_no_reason_up_to_it_has_masked(reported: Reported) -> None:
    stages = reported.json["stages"]
    masking = [reason for reason in Reason if reason not in KEEPING]
    assert [stage["reason"] for stage in stages] == [None, *masking]
    gone: list[str] = []
    for stage in stages:
        gone += [stage["reason"]] if stage["reason"] else []
        left = reported.rows.filter(~pl.col("reason").is_in(gone))
        trajectories = left.select("domain", "run", "trajectory_id").n_unique()
        assert (stage["num_turns"], stage["num_trajectories"]) == (len(left), trajectories)
        assert stage["code_points"] == left["len_observation"].sum()
    assert stages[-1]["num_turns"] == reported.rows["kept"].sum()
    off = {stage["reason"] for stage in stages if not stage["applied"]}
    assert off == {Reason.CONTAMINATED, Reason.DUPLICATE_TURN}


def test_reasons_are_those_of_the_sidecar_in_their_order(reported: Reported) -> None:
    told = {facts["name"]: facts for facts in reported.json["reasons"]}
    assert list(told) == [reason for reason in Reason if reason in set(reported.rows["reason"])]
    for name, facts in told.items():
        of_reason = reported.rows.filter(pl.col("reason") == name)
        assert (facts["num_turns"], facts["code_points"]) == (len(of_reason), of_reason["len_observation"].sum())
        assert facts["by_domain"] == dict(of_reason.group_by("domain").len().iter_rows())


def test_shares_by_run_are_those_of_the_sidecar_the_largest_first(reported: Reported) -> None:
    largest = reported.json["by_run"]["largest"]
    sizes = [of_run["total"]["num_turns"] for of_run in largest]
    assert sizes == sorted(sizes, reverse=True)
    assert {of_run["name"] for of_run in largest} == {"r1", "r2"}
    for facts in largest:
        of_run = reported.rows.filter(pl.col("run") == facts["name"])
        assert amounts(facts["total"]) == reported.sums(of_run)
        assert facts["source_formats"] == ["worldtape"]
        assert facts["num_trajectories"] == of_run["trajectory_id"].n_unique()
        assert sum(facts["classes"].values()) == len(of_run)
    assert reported.json["by_run"]["others"] is None


def test_trajectories_that_name_no_source_have_their_run_for_one(reported: Reported) -> None:
    by_run, by_source = (reported.json[name]["largest"] for name in ("by_run", "by_source"))
    assert by_source == [{**facts, "name": f"run {facts['name']}"} for facts in by_run]


def test_the_statistics_are_of_every_readable_turn(reported: Reported) -> None:
    for histogram in reported.json["statistics"]:
        assert sum(sum(counts) for counts in histogram["by_domain"].values()) == len(reported.rows)


def test_tokens_are_told_as_they_are_given(reported: Reported) -> None:
    assert (reported.json["total"]["num_tokens"], reported.json["total"]["num_tokens_kept"]) == (1667, 1362)
    assert reported.json["by_domain"]["mcp"]["num_tokens"] == 567
    classes = {facts["name"]: facts for facts in reported.json["classes"]}
    assert (classes["echo"]["total"]["num_tokens"], classes["echo"]["total"]["num_tokens_kept"]) == (160, 5)
    assert classes["echo"]["by_domain"]["terminal"]["num_tokens_kept"] == 5
    assert classes["action"]["total"]["num_tokens"] == 0
    assert "In tokens" in reported.page.text


def test_the_page_is_whole_and_cannot_reach_out(reported: Reported) -> None:
    reported.page.check()
    assert reported.page.tags["svg"] == 3


def test_tokens_are_told_as_long_as_the_judgements_by_which_they_were_packed_stand(dataset: Dataset) -> None:
    sidecar = curate(dataset).sidecar
    page = write_report(dataset, sidecar)
    assert figures(page)["total"]["num_tokens"] is None
    assert "In tokens" not in page.read_text()
    with_tokens = write_report(dataset, sidecar, PACKED).read_text()
    assert "In tokens" in with_tokens
    assert figures(page)["packed"] == {"num_documents": 5, "refused": {"no kept turn": 3, "no turn": 1}}
    text = " ".join(Page(with_tokens).text.replace("\u00a0", " ").split())
    assert "of the packed documents’ observation tokens" in text
    assert (
        "of 5 packed documents; those of refused trajectories are not counted (3 × no kept turn, 1 × no turn)" in text
    )
    assert write_report(dataset, sidecar).read_text() == with_tokens
    curate(dataset, profile=CurationProfile(seed=5), overwrite=True)
    assert figures(write_report(dataset, sidecar))["total"]["num_tokens"] is None


def test_a_report_reads_back_as_it_was_written(reported: Reported) -> None:
    again = read_report(reported.sidecar.folder / "report.json")
    assert json.loads(again.model_dump_json()) == reported.json


def test_where_tokens_are_drawn_the_page_says_what_is_realised(dataset: Dataset) -> None:
    sidecar = curate(dataset, profile=CurationProfile(draw=Draw.TOKEN)).sidecar
    report = figures(write_report(dataset, sidecar))
    assert Reason.DRAWN_BY_TOKEN in {facts["name"] for facts in report["reasons"]}
    text = " ".join(Page((sidecar.folder / "report.html").read_text()).text.split())
    assert "the realised share is the one in tokens, which are counted when the data set is packed" in text


def test_every_class_that_occurs_has_examples_to_read(reported: Reported) -> None:
    assert {example["turn_class"] for example in reported.json["examples"]} == set(reported.rows["class"])
    check_examples(reported, reported.json["examples"], "turn_class", most=4)


def test_every_reason_that_masks_has_examples_to_read(reported: Reported) -> None:
    masked = reported.rows.filter(~pl.col("kept"))
    examples = reported.json["masked"]
    assert {example["reason"] for example in examples} == set(masked["reason"])
    check_examples(reported, examples, "reason", most=2)
    for reason in set(masked["reason"]):
        domains = [example["domain"] for example in examples if example["reason"] == reason]
        num_domains = masked.filter(pl.col("reason") == reason)["domain"].n_unique()
        assert len(set(domains)) == min(2, num_domains)


def check_examples(reported: Reported, examples: Any, kind: str, *, most: int) -> None:
    """They are turns of the data set as they are judged, and as many as there may be."""
    keys = ["trajectory_id", "turn"]
    rows = {tuple(row[key] for key in keys): row for row in reported.rows.to_dicts()}
    turns = {tuple(row[key] for key in keys): row for row in reported.dataset.scan_turns().collect().to_dicts()}
    for example in examples:
        place = example["trajectory_id"], example["turn"]
        assert turns[place]["observation"] == example["observation"]["text"]
        assert turns[place]["action"] == example["action"]["text"]
        assert rows[place]["reason"] == example["reason"]
        assert example["task"]["text"] == "Look around."
    of_kind = [example[kind] for example in examples]
    assert max(of_kind.count(value) for value in of_kind) <= most


def test_nothing_recorded_can_run_or_reach_out_from_the_page(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "recorded")
    header = a_header("hostile", domain="x-y", instruction=HOSTILE, licence=HOSTILE, policy=HOSTILE, source=HOSTILE)
    record_turns(dataset, header, [turn(HOSTILE, HOSTILE), turn(HOSTILE, "ok")])
    compact(dataset, "r1")
    page = Page(write_report(dataset, curate(dataset).sidecar).read_text())
    page.check()
    assert "alert(1)" in page.text
    assert "{{ 7 * 7 }}" in page.text


def test_the_same_data_give_the_same_page(make_dataset: Callable[[str], Dataset]) -> None:
    pages = []
    for where in ("one", "other"):
        dataset = make_dataset(where)
        pages.append(write_report(dataset, curate(dataset).sidecar, PACKED))
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert pages[0].with_name("report.json").read_bytes() == pages[1].with_name("report.json").read_bytes()


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


def test_a_number_stays_with_what_it_counts_where_a_line_breaks(reported: Reported) -> None:
    assert "20\u00a0×\u00a0scripted" in reported.page.text
    assert "20\u00a0×\u00a0completed" in reported.page.text


def test_there_is_no_report_before_the_curation(dataset: Dataset) -> None:
    with pytest.raises(InputError, match="not curated"):
        write_report(dataset, open_sidecar(dataset))
