"""``worldtape report``: the report anew, and beside another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from curation import CurationProfile, curate
from curation.reasons import MEANINGS, Reason
from tests.curation.recordings import record
from tests.worldtape.conftest import Worldtape
from trajectories import Dataset, compact


def test_the_report_is_written_and_summed_up(worldtape: Worldtape, curated: Dataset) -> None:
    finished = worldtape("report", curated.folder)
    assert finished.code == 0
    assert "5 turns" in finished.out
    page = curated.folder / "curation/default/report.html"
    assert f"the report is {page}" in finished.err
    assert page.exists()


@pytest.mark.parametrize("arguments", [("curate", "--overwrite"), ("report",)])
def test_every_reason_says_whether_its_turns_leave_the_loss(
    worldtape: Worldtape, curated: Dataset, arguments: tuple[str, ...]
) -> None:
    verb, *options = arguments
    out = worldtape(verb, curated.folder, *options).out
    lines = {line.split()[0]: line for line in out.splitlines() if "Masked: " in line or "Kept: " in line}
    assert "Masked: nothing was done." in lines["empty_action"]
    assert "Kept: the observation is empty" in lines["silence"]
    assert {name: MEANINGS[Reason(name)] in line for name, line in lines.items()} == dict.fromkeys(lines, True)


@pytest.mark.parametrize("verb", ["report", "inspect"])
def test_turns_that_are_not_judged_yet_are_told(worldtape: Worldtape, curated: Dataset, verb: str) -> None:
    assert "not judged" not in worldtape(verb, curated.folder).err
    record(curated, "new", [("ls\n", "a new and long answer")], run="later")
    compact(curated, "later")
    told = worldtape(verb, curated.folder).err
    assert f"{verb}: the data set has changed since it was curated, 1 part of turns not judged as now" in told


@pytest.mark.parametrize("verb", ["curate", "inspect"])
def test_turns_without_the_file_of_their_trajectories_are_told(
    worldtape: Worldtape, recorded: Dataset, verb: str
) -> None:
    lost = recorded.trajectory_parts()[0].path
    Path(lost).unlink()
    told = worldtape(verb, recorded.folder).err
    turns = lost.replace("/trajectories/", "/turns/")
    assert f"{verb}: 1 part of turns left out, without the file of the same trajectories ({turns})" in told


def test_the_page_calls_one_as_one(worldtape: Worldtape, tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "data")
    record(dataset, "only", [("ls\n", "a new and long answer")])
    compact(dataset, "r1")
    worldtape("curate", dataset.folder)
    page = (dataset.folder / "curation/default/report.html").read_text()
    assert "1 trajectory and 1 turn of" in " ".join(page.split())
    assert re.search(r"(?<![\d,.])1 (trajectories|turns|texts|characters)", page) is None


def test_two_curations_are_compared(worldtape: Worldtape, curated: Dataset) -> None:
    curate(curated, name="other", profile=CurationProfile(seed=1))
    assert worldtape("report", curated.folder, "--name", "other").code == 0
    finished = worldtape("report", curated.folder, "--against", "other")
    assert finished.code == 0
    assert "Against 'other' of data" in finished.out
    assert (curated.folder / "curation/default/compare.html").exists()
    report = worldtape("report", curated.folder, "--against", "other", "--json").json
    assert report["turns"] == 5
    assert report["comparison"]["settings"] == [{"key": "seed", "this": 0, "other": 1}]
    assert report["comparison"]["changes"]["total"]["num_turns"] == 5


def test_what_cannot_be_compared_is_one_line_and_exit_code_2(
    worldtape: Worldtape, curated: Dataset, tmp_path: Path
) -> None:
    other = tmp_path / "report.json"
    newer = '{"schema_version": 99, "curation": "x"}'
    for content, words in (("{}", "no report of a curation"), (newer, "newer worldtape")):
        other.write_text(content)
        finished = worldtape("report", curated.folder, "--against", other)
        assert finished.code == 2
        assert words in finished.error
    finished = worldtape("report", curated.folder, "--against", "nowhere")
    assert (finished.code, "nowhere" in finished.error) == (2, True)
    assert not list(curated.folder.glob("curation/default/compare.*"))


def test_a_data_set_that_is_not_curated_has_no_report(worldtape: Worldtape, recorded: Dataset) -> None:
    finished = worldtape("report", recorded.folder)
    assert finished.code == 2
    assert "not curated" in finished.error
