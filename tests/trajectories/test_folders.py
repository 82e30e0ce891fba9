from __future__ import annotations

from pathlib import Path

import pytest

from trajectories import InputError
from trajectories.folders import folder_written_whole


def write(target: Path, text: str) -> None:
    with folder_written_whole(target) as folder:
        (folder / "file").write_text(text, encoding="utf-8")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_appears_when_all_of_it_is_there(tmp_path: Path) -> None:
    target = tmp_path / "new"
    with folder_written_whole(target) as folder:
        (folder / "file").write_text("whole")
        assert not target.exists()
    assert (target / "file").read_text() == "whole"
    assert names(tmp_path) == ["new"]


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "new", "old")
    with pytest.raises(UnicodeEncodeError):
        write(tmp_path / "new", "half \ud800")
    assert (tmp_path / "new" / "file").read_text() == "old"
    assert names(tmp_path) == ["new"]


def test_the_new_folder_replaces_the_old_one(tmp_path: Path) -> None:
    write(tmp_path / "new", "old")
    write(tmp_path / "new", "newer")
    assert (tmp_path / "new" / "file").read_text() == "newer"
    assert names(tmp_path) == ["new"]


def test_what_a_killed_writer_left_is_not_mixed_in(tmp_path: Path) -> None:
    (tmp_path / ".new.part" / "work").mkdir(parents=True)
    (tmp_path / ".new.part" / "leftover").write_text("half")
    write(tmp_path / "new", "whole")
    assert names(tmp_path / "new") == ["file"]


def test_a_writer_killed_in_the_exchange_loses_no_folder(tmp_path: Path) -> None:
    write(tmp_path / "new", "old")
    (tmp_path / "new").rename(tmp_path / ".new.old")
    with pytest.raises(UnicodeEncodeError):
        write(tmp_path / "new", "half \ud800")
    assert (tmp_path / "new" / "file").read_text() == "old"
    assert names(tmp_path) == ["new"]


def test_two_writers_of_one_folder_do_not_meet(tmp_path: Path) -> None:
    with folder_written_whole(tmp_path / "new") as folder:
        (folder / "file").write_text("first")
        with pytest.raises(InputError, match="another process is writing this"):
            write(tmp_path / "new", "second")
    assert (tmp_path / "new" / "file").read_text() == "first"
