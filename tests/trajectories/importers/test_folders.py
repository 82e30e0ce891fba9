"""What a folder holds and an import cannot read is named: nothing is left out in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.trajectories.importers.import_support import written
from trajectories import Dataset
from trajectories.importers import UnreadableError, import_trajectories
from trajectories.importers.folders import unreadable_entries

CHAT = {"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "no"}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = written(tmp_path / "in", "a.jsonl", CHAT)
    os.mkfifo(source.with_name("pipe.jsonl"))
    source.with_name("nowhere.jsonl").symlink_to("gone")
    source.with_name("itself.jsonl").symlink_to("itself.jsonl")
    source.with_name("linked.jsonl").symlink_to(source)
    (tmp_path / "other").mkdir()
    source.with_name("elsewhere").symlink_to(tmp_path / "other")
    source.with_name(".hidden").symlink_to("gone")
    return source.parent


def test_links_that_lead_nowhere_and_pipes_are_named_and_the_rest_is_imported(folder: Path, tmp_path: Path) -> None:
    report = import_trajectories(Dataset(tmp_path / "data"), "messages", [folder], licence="MIT")
    told = {Path(problem.file).name: problem.reason for problem in report.problems}
    assert told.keys() == {"pipe.jsonl", "nowhere.jsonl", "itself.jsonl", "elsewhere"}
    assert told["nowhere.jsonl"] == "the link leads nowhere"
    assert report.num_sources == 2 + len(told), "the link to a file is one"
    with pytest.raises(UnreadableError, match="elsewhere"):
        import_trajectories(Dataset(tmp_path / "strict"), "messages", [folder], licence="MIT", strict=True)


def test_a_folder_that_may_not_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "in" / "closed"
    closed.mkdir(parents=True)
    listed = os.scandir

    def scandir(path: Path) -> object:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)  # whoever runs the tests may list anything
    (problem,) = unreadable_entries(tmp_path)
    assert (problem.file, problem.reason) == (str(closed), "the folder cannot be listed: Permission denied")
