"""Reports of data sets that are not as one would wish: nothing kept, nothing readable, many domains, odd rows."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation import CurationProfile, KeepRatios, Searches, curate, write_report
from tests.curation.recordings import a_header, record, record_turns, some_texts, turn
from tests.curation.report_support import Page, figures
from trajectories import Dataset, compact

PROFILE = CurationProfile(searches=Searches(duplicates=False))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return Dataset(tmp_path / "recorded")


def reported(dataset: Dataset, profile: CurationProfile = PROFILE) -> Any:
    """The figures; the page is looked through, too."""
    page = write_report(dataset, curate(dataset, profile=profile).sidecar)
    Page(page.read_text()).check()
    return figures(page)


def put(part: str, column: str, values: pa.Array) -> None:
    """Put a column in the place of a part's own."""
    table = pq.read_table(part, partitioning=None)
    place = table.schema.get_field_index(column)
    pq.write_table(table.set_column(place, pa.field(column, values.type), values), part)


def test_a_data_set_of_which_nothing_is_kept(dataset: Dataset) -> None:
    record(dataset, "a", [("ls", "ls")])
    compact(dataset, "r1")
    report = reported(dataset)
    assert (report["total"]["num_turns"], report["total"]["num_kept"]) == (1, 0)
    assert report["stages"][-1]["num_trajectories"] == 0
    assert [example["reason"] for example in report["masked"]] == ["few_turns"]


def test_a_data_set_of_which_nothing_can_be_read(dataset: Dataset) -> None:
    record(dataset, "a", some_texts(1, 4))
    compact(dataset, "r1")
    (part,) = dataset.turn_parts()
    put(part.path, "observation", pa.nulls(4, pa.string()))
    report = reported(dataset)
    assert report["stages"][1]["num_turns"] == report["total"]["code_points"] == 0
    assert [statistic["quantiles"] for statistic in report["statistics"]] == [{}] * 4
    assert report["examples"] == []
    assert {example["observation"]["problem"] for example in report["masked"]} == {"missing"}
    assert {example["turn_class"] for example in report["masked"]} == {None}


def test_thirteen_domains_and_more_runs_than_are_listed(dataset: Dataset) -> None:
    runs = [f"r{number:02d}" for number in range(33)]
    for number, run in enumerate(runs):
        record(dataset, f"t{number}", some_texts(number, 3), run=run, domain=f"d{number % 13:02d}")
        compact(dataset, run)
    report = reported(dataset)
    assert len(report["by_domain"]) == len(report["dataset"]["domains"]) == 13
    assert [facts["name"] for facts in report["by_run"]["largest"]] == runs
    assert report["by_run"]["num_others"] == 0
    page = Page((dataset.folder / "curation/default/report.html").read_text()).text
    assert "3 others" in page
    assert "Every one is in report.json." in page


def test_every_turn_is_drawn_out(dataset: Dataset) -> None:
    record(dataset, "a", [("ls", "a new and long answer of many words"), ("cd", "another new and long answer")])
    compact(dataset, "r1")
    ratios = KeepRatios(**dict.fromkeys(KeepRatios.model_fields, 0.0))
    report = reported(dataset, PROFILE.model_copy(update={"keep_ratios": ratios}))
    assert [facts["name"] for facts in report["reasons"]] == ["drawn_out"]
    assert report["total"]["num_kept"] == 0


def test_rows_without_values_are_counted_all_the_same(dataset: Dataset) -> None:
    record(dataset, "a", some_texts(1, 4))
    compact(dataset, "r1")
    (part,) = dataset.trajectory_parts()
    for column in ("licence", "policy", "source_format", "loss_report_json", "instruction", "status", "engine"):
        put(part.path, column, pa.nulls(1, pa.string()))
    put(part.path, "started_at", pa.nulls(1, pa.timestamp("us", tz="UTC")))
    put(part.path, "ended_at", pa.array([12_000_000], pa.timestamp("us", tz="UTC")))  # twelve seconds after it began
    report = reported(dataset)
    assert report["dataset"]["num_without_licence"] == 1
    assert (report["dataset"]["first_started_at"], report["dataset"]["last_ended_at"]) == (None, None)
    assert report["by_run"]["largest"][0]["source_formats"] == []
    assert {example["task"]["problem"] for example in report["examples"]} == {"missing"}


def test_the_loss_reports_of_imports_are_summed_by_format(dataset: Dataset) -> None:
    losses: list[dict[str, Any]] = [
        {"skipped": {"a message": 2}, "inferred": {"time of a turn": 3}},
        {"skipped": {"a message": 1, "a thought": 7}, "no_place": {"usage": 4}},
    ]
    for number, loss in enumerate(losses):
        header = a_header(f"t{number}", source_format="messages", loss_report=loss)
        record_turns(dataset, header, [turn("go", "gone")])
    record_turns(dataset, a_header("t2", source_format="atif", started_at=datetime(1970, 1, 1, tzinfo=UTC)), [])
    record_turns(dataset, a_header("t3"), [turn("go", "gone")])
    compact(dataset, "r1")
    (part,) = dataset.trajectory_parts()
    written = [*map(json.dumps, losses), '{"skipped": {"x": -1}}', "{}"]
    put(part.path, "loss_report_json", pa.array(written))
    atif, messages = reported(dataset)["imports"]
    assert messages == {
        "source_format": "messages",
        "num_trajectories": 2,
        "num_without_report": 0,
        "no_place": {"usage": 4},
        "inferred": {"time of a turn": 3},
        "skipped": {"a thought": 7, "a message": 3},
    }
    assert (atif["source_format"], atif["num_without_report"], atif["skipped"]) == ("atif", 1, {})
