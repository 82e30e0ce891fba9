"""Two reports side by side: what differs, by how much, and what became of each turn."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from curation import CurationProfile, Filters, KeepRatios, Scope, Searches, Sidecar, Thresholds, curate, write_report
from curation.report import Comparison, find_report, read_report, write_comparison
from tests.curation.recordings import record, some_texts
from tests.curation.report_support import HOSTILE, Page, figures, shape
from trajectories import Dataset, InputError, compact

GOLDEN = Path(__file__).parent / "golden" / "comparison.txt"
STRICT = CurationProfile(
    seed=3,
    thresholds=Thresholds(short=4),
    keep_ratios=KeepRatios(echo=0.5),
    filters=Filters(few_turns=6, sandbox_died=Scope.OFF),
    searches=Searches(duplicates=False),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison of two curations of one data set, 'strict' against 'default'."""

    dataset: Dataset
    this: Sidecar
    other: Sidecar
    page: Path
    json: Any


@pytest.fixture(scope="module")
def compared(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    dataset = Dataset(shutil.copytree(recorded, tmp_path_factory.mktemp("compared") / "recorded"))
    other = curate(dataset).sidecar
    this = curate(dataset, name="strict", profile=STRICT).sidecar
    for sidecar in (this, other):
        write_report(dataset, sidecar)
    page, _ = write_comparison(this, find_report(dataset, "strict", "default"))
    return Compared(dataset, this, other, page, figures(page))


def test_the_keys_of_the_json_are_the_golden_ones() -> None:
    assert shape(Comparison) == GOLDEN.read_text()


def test_the_settings_that_differ_are_named_by_their_keys(compared: Compared) -> None:
    settings = {setting["key"]: (setting["other"], setting["this"]) for setting in compared.json["settings"]}
    assert settings == {
        "seed": (0, 3),
        "thresholds.short": (32, 4),
        "keep_ratios.echo": (0.05, 0.5),
        "filters.few_turns": (2, 6),
        "filters.sandbox_died": ("trajectory", "off"),
        "searches.duplicates": (True, False),
    }


def test_shares_and_their_differences_are_those_of_the_sidecars(compared: Compared) -> None:
    both = [sidecar.scan().collect() for sidecar in (compared.this, compared.other)]

    def check(shares: Any, mine: float | None, its: float | None) -> None:
        assert (shares["this"], shares["other"]) == (mine, its)
        if mine is not None and its is not None:
            assert shares["points"] == pytest.approx(100 * (mine - its))

    def kept(rows: pl.DataFrame) -> float | None:
        return len(rows.filter("kept")) / len(rows) if len(rows) else None

    check(compared.json["total"]["kept_turns"], *map(kept, both))
    for facts in compared.json["classes"]:
        of_class = [rows.filter(pl.col("class") == facts["name"]) for rows in both]
        check(facts["share"], *(len(some) / len(rows) for some, rows in zip(of_class, both, strict=True)))
        check(facts["total"]["kept_turns"], *map(kept, of_class))
    for facts in compared.json["domains"]:
        of_domain = [rows.filter(pl.col("domain") == facts["domain"]) for rows in both]
        check(facts["total"]["kept_turns"], *map(kept, of_domain))
    for facts in compared.json["reasons"]:
        counts = facts["num_turns"]
        expected = [(rows["reason"] == facts["name"]).sum() for rows in both]
        assert [counts["this"], counts["other"]] == expected
        assert counts["difference"] == expected[0] - expected[1]
    reasons = {reason for rows in both for reason in rows["reason"]}
    assert {facts["name"] for facts in compared.json["reasons"]} == reasons


def test_every_turn_that_changed_is_counted(compared: Compared) -> None:
    keys = ["domain", "run", "trajectory_id", "turn"]
    joined = compared.this.scan().join(compared.other.scan(), on=keys, suffix="_other").collect()
    changes = compared.json["changes"]
    total = changes["total"]
    assert total["num_turns"] == len(joined) == compared.this.scan().collect().height
    assert total["num_class_changed"] == (joined["class"] != joined["class_other"]).sum() > 0
    assert total["num_fate_changed"] == (joined["kept"] != joined["kept_other"]).sum() > 0
    assert total["num_reason_changed"] == (joined["reason"] != joined["reason_other"]).sum()
    for flow in changes["fates"]:
        moved = joined.filter((pl.col("kept_other") == flow["other_kept"]) & (pl.col("kept") == flow["this_kept"]))
        assert (flow["num_turns"], flow["code_points"]) == (len(moved), moved["len_observation"].sum())
    flows = {(flow["other"], flow["this"]): flow["num_turns"] for flow in changes["classes"]}
    assert flows == {tuple(row[:2]): row[2] for row in joined.group_by("class_other", "class").len().iter_rows()}
    reasons = {(flow["other"], flow["this"]): flow["num_turns"] for flow in changes["reasons"]}
    changed = joined.filter(pl.col("reason") != pl.col("reason_other"))
    assert reasons == {tuple(row[:2]): row[2] for row in changed.group_by("reason_other", "reason").len().iter_rows()}
    by_domain = [of_domain["num_fate_changed"] for of_domain in changes["by_domain"].values()]
    assert sum(by_domain) == total["num_fate_changed"]


def test_a_search_that_only_one_of_them_made_has_no_difference(compared: Compared) -> None:
    findings = {(finding["search"], finding["what"]): finding["counts"] for finding in compared.json["findings"]}
    counts = findings["duplicates", "exact copies of turns"]
    assert counts["other"] > 0
    assert (counts["this"], counts["difference"]) == (None, None)


def test_the_page_is_whole_and_cannot_reach_out(compared: Compared) -> None:
    page = Page(compared.page.read_text())
    page.check()
    assert "filters.few_turns" in page.text
    assert page.text.count("pp") > 20


def test_the_same_reports_give_the_same_comparison(compared: Compared) -> None:
    before = compared.page.read_bytes(), compared.page.with_suffix(".json").read_bytes()
    page, _ = write_comparison(compared.this, find_report(compared.dataset, "strict", "default"))
    assert (page.read_bytes(), page.with_suffix(".json").read_bytes()) == before


def test_a_report_named_by_its_path_is_the_same_one(compared: Compared) -> None:
    path = compared.other.folder / "report.json"
    found = find_report(compared.dataset, "strict", str(path))
    assert found.sidecar == compared.other


def test_another_data_set_is_compared_without_its_turns(compared: Compared, tmp_path: Path) -> None:
    other = Dataset(tmp_path / "other")
    record(other, "a", some_texts(5, 9), domain="swe")
    compact(other, "r1")
    write_report(other, curate(other, name="strict", profile=STRICT).sidecar)
    for against in (other.folder, other.folder / "curation/strict/report.json"):
        _, comparison = write_comparison(compared.this, find_report(compared.dataset, "strict", str(against)))
        assert comparison.changes is None
        assert comparison.settings == []
        assert [facts.domain for facts in comparison.domains] == ["mcp", "swe", "terminal"]
        swe = comparison.domains[1]
        assert (swe.total.num_turns.this, swe.total.num_turns.other, swe.total.num_turns.difference) == (0, 9, -9)
        assert swe.total.kept_turns.points is None


def test_hostile_names_in_the_other_report_are_shown_and_nothing_more(compared: Compared, tmp_path: Path) -> None:
    report = json.loads((compared.other.folder / "report.json").read_text())
    report["dataset"]["name"] = report["curation"] = HOSTILE
    report["by_domain"] = {HOSTILE: report["total"]}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    page, comparison = write_comparison(compared.this, find_report(compared.dataset, "strict", str(path)))
    Page(page.read_text()).check()
    assert comparison.changes is None


def spoilt(compared: Compared, folder: Path, **changed: Any) -> Path:
    report = json.loads((compared.other.folder / "report.json").read_text())
    path = folder / "spoilt.json"
    path.write_text(json.dumps(report | changed))
    return path


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"schema_version": 99}, r"a newer worldtape wrote this report .*spoilt\.json"),
        ({"schema_version": 1}, r"an older worldtape wrote this report .*worldtape report"),
        ({"schema_version": "x"}, "no report of a curation"),
        ({"total": {"num_turns": 10**400}}, "no report of a curation"),
        ({"classes": "many"}, "no report of a curation"),
        ({"profile": {"sede": 1}}, "no report of a curation"),
    ],
)
def test_a_report_that_is_not_of_this_version_or_none_is_refused(
    compared: Compared, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_report(spoilt(compared, tmp_path, **changed))


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b"\xff\xfe", b"null", b'{"schema_version": 2'])
def test_any_other_file_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="no report of a curation"):
        read_report(path)


def test_what_is_not_there_is_said_with_what_there_is(compared: Compared, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no curation or report 'nowhere' .*one of: default, strict"):
        find_report(compared.dataset, "strict", "nowhere")
    with pytest.raises(InputError, match=r"there is no report .*curation/strict/report\.json"):
        find_report(compared.dataset, "strict", str(tmp_path))
    with pytest.raises(InputError, match="cannot be compared with itself"):
        find_report(compared.dataset, "strict", "strict")


def test_a_report_older_than_its_curation_is_not_compared(dataset: Dataset) -> None:
    profile = CurationProfile(searches=Searches(duplicates=False))
    write_report(dataset, curate(dataset, profile=profile).sidecar)
    record(dataset, "late", some_texts(9, 5), run="r3")
    compact(dataset, "r3")
    curate(dataset, profile=profile)
    with pytest.raises(InputError, match="older than its curation"):
        find_report(dataset, "strict", "default")


def test_turns_that_only_one_curation_has_judged_are_counted(dataset: Dataset) -> None:
    profile = CurationProfile(searches=Searches(duplicates=False))
    other = curate(dataset, profile=profile).sidecar
    write_report(dataset, other)
    record(dataset, "late", some_texts(9, 5), run="r3")
    compact(dataset, "r3")
    this = curate(dataset, name="later", profile=profile).sidecar
    write_report(dataset, this)
    _, comparison = write_comparison(this, find_report(dataset, "later", "default"))
    assert comparison.changes is not None
    assert (comparison.changes.num_only_this, comparison.changes.num_only_other) == (5, 0)
    assert comparison.changes.total.num_fate_changed == 0
