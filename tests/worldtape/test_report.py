"""``worldtape report``: the report anew, and beside another."""

from __future__ import annotations

from pathlib import Path

from curation import CurationProfile, curate
from tests.worldtape.conftest import Worldtape
from trajectories import Dataset


def test_the_report_is_written_and_summed_up(worldtape: Worldtape, curated: Dataset) -> None:
    finished = worldtape("report", curated.folder)
    assert finished.code == 0
    assert "5 turns" in finished.out
    page = curated.folder / "curation/default/report.html"
    assert f"the report is {page}" in finished.err
    assert page.exists()


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
