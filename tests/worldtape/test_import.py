"""``worldtape import``: the report, and what happens to what cannot be read."""

from __future__ import annotations

from pathlib import Path

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import written
from tests.worldtape.conftest import Worldtape, files_below


def test_the_report_names_what_was_lost_and_what_could_not_be_read(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", samples.CHAT, "{broken")
    finished = worldtape("import", "messages", path, "--dataset", tmp_path / "data")
    assert finished.code == 0
    assert "content that is no text" in finished.out
    assert f"import: not imported: {path}:2: " in finished.err


def test_the_report_as_json_counts_everything(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", samples.CHAT, "{broken")
    arguments = ("import", "messages", path, "--dataset", tmp_path / "data", "--run", "theirs", "--json")
    report = worldtape(*arguments).json
    assert (report["run"], report["trajectories"], report["turns"], report["unreadable"]) == ("theirs", 1, 3, 1)
    assert report["problems"][0]["line"] == 2
    assert report["loss"]["inferred"]["time of a turn"] == 3
    assert worldtape(*arguments).json["already_there"] == 1


def test_a_pointer_in_place_of_a_file_is_one_line_and_exit_code_2(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "traj.jsonl", "version https://git-lfs.github.com/spec/v1", "oid sha256:0", "size 9")
    finished = worldtape("import", "osworld", path, "--dataset", tmp_path / "data")
    assert finished.code == 2
    assert str(path) in finished.error
    assert finished.error.endswith("run: git lfs pull")
    assert not (tmp_path / "data").exists()


def test_a_strict_import_stops_at_what_it_cannot_read(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", samples.CHAT, "{broken")
    finished = worldtape("import", "messages", path, "--dataset", tmp_path / "data", "--strict")
    assert finished.code == 2
    assert f"{path}:2" in finished.error
    assert not files_below(tmp_path / "data")


def test_an_unknown_format_names_those_there_are(worldtape: Worldtape, tmp_path: Path) -> None:
    finished = worldtape("import", "atiff", tmp_path, "--dataset", tmp_path / "data")
    assert finished.code == 2
    assert "atif" in finished.error
