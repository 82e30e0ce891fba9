"""From files to a run of a data set: whole or not at all, once."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import signal
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest

from tests.trajectories.importers import samples
from tests.trajectories.importers.fetch_support import archive
from tests.trajectories.importers.import_support import imported, written
from trajectories import Dataset, InputError
from trajectories.importers import ImportReport, UnreadableError, import_trajectories, open_importer
from trajectories.importers.staging import staged_import
from trajectories.partitions import StagedPart

RUN = "import-messages"


def _chat(number: int) -> dict[str, object]:
    return {**samples.CHAT, "id": str(number % 3)}


def _import(folder: Path, path: Path, *, strict: bool = False) -> ImportReport:
    return import_trajectories(Dataset(folder), "messages", [path], strict=strict, licence="CC0-1.0")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_import_is_read_back_as_recorded_trajectories_are(tmp_path: Path) -> None:
    report = _import(tmp_path / "data", written(tmp_path, "chats.jsonl", *map(_chat, range(5))))
    assert (report.num_trajectories, report.num_turns, report.num_problems) == (5, 15, 0)
    data = Dataset(tmp_path / "data")
    rows = data.scan_trajectories().collect()
    assert set(rows["licence"]) == {"CC0-1.0"}
    assert set(rows["source_format"]) == {"messages"}
    assert rows["source"].str.ends_with("chats.jsonl:1").sum() == 1
    assert json.loads(rows["loss_report_json"][0])["no_place"] == {"content that is no text": 1}
    turns = data.trajectory(rows["trajectory_id"][0]).turns
    assert turns["observation"].to_list() == ["3", "not JSON", "nothing to add"]
    assert data.scan_turns().select(pl.len()).collect().item() == 15


def test_importing_again_writes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", *map(_chat, range(5)))
    _import(tmp_path / "data", path)
    before = _files(tmp_path / "data")
    again = _import(tmp_path / "data", path)
    assert (again.num_trajectories, again.num_present) == (0, 5)
    assert _files(tmp_path / "data") == before


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", *map(_chat, range(5)))
    for name in ("one", "two"):
        _import(tmp_path / name, path)
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_a_named_file_that_breaks_off_gives_what_stands_before_it(tmp_path: Path) -> None:
    lines = "".join(f"{json.dumps(_chat(number))}\n" for number in range(500)).encode()
    packed = gzip.compress(lines)
    (cut := tmp_path / "cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    whole = written(tmp_path, "whole.jsonl", _chat(1))
    report = import_trajectories(Dataset(tmp_path / "data"), "messages", [cut, whole], licence="CC0-1.0")
    assert report.num_trajectories > 1
    assert [problem.file for problem in report.problems] == [str(cut)]
    with pytest.raises(UnreadableError, match=r"cut\.jsonl\.gz"):
        _import(tmp_path / "strictly", cut, strict=True)
    assert not (tmp_path / "strictly").exists()


def test_a_named_archive_that_cannot_be_unpacked_is_a_problem_of_its_own(tmp_path: Path) -> None:
    (broken := tmp_path / "broken.zip").write_bytes(b"PK")
    whole = written(tmp_path, "whole.jsonl", _chat(1))
    report = import_trajectories(Dataset(tmp_path / "data"), "messages", [broken, whole], licence="CC0-1.0")
    assert (report.num_trajectories, [problem.file for problem in report.problems]) == (1, [str(broken)])


def test_a_named_archive_that_breaks_off_gives_the_files_before_it(tmp_path: Path) -> None:
    files = {f"{n}.jsonl": f"{json.dumps(_chat(n))}\n".encode() for n in range(3)}
    path = archive(tmp_path / "cut.tar", files)
    path.write_bytes(path.read_bytes()[: path.read_bytes().index(b"2.jsonl") + 600])
    report = import_trajectories(Dataset(tmp_path / "data"), "messages", [path], licence="CC0-1.0")
    assert (report.num_trajectories, [problem.file for problem in report.problems]) == (2, [str(path)])
    assert "cannot be read to its end" in report.problems[0].reason
    sources = Dataset(tmp_path / "data").scan_trajectories().collect()["source"]
    assert set(sources) == {f"{path}!0.jsonl", f"{path}!1.jsonl"}
    with pytest.raises(UnreadableError, match=r"cut\.tar"):
        _import(tmp_path / "strictly", path, strict=True)


def test_an_import_that_fails_leaves_not_even_a_folder(tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", _chat(1), "{broken")
    with pytest.raises(UnreadableError):
        _import(tmp_path / "new" / "data", path, strict=True)
    assert not (tmp_path / "new").exists()
    _import(tmp_path / "data", written(tmp_path, "good.jsonl", _chat(2)))
    before = sorted((tmp_path / "data").rglob("*"))
    with pytest.raises(UnreadableError):
        _import(tmp_path / "data", path, strict=True)
    assert sorted((tmp_path / "data").rglob("*")) == before


def test_a_domain_that_cannot_be_a_folder_is_a_problem_of_its_trajectory(tmp_path: Path) -> None:
    odd = {**samples.ATIF, "extra": {"worldtape": {"domain": "1e+308"}}}
    paths = [written(tmp_path, "odd.json", odd), written(tmp_path, "good.json", samples.ATIF)]
    report = import_trajectories(Dataset(tmp_path / "data"), "atif", paths)
    assert report.num_trajectories > 0
    (problem,) = report.problems
    assert str(problem) == f"{tmp_path}/odd.json: '1e+308' cannot be a domain; give one with --domain"


def test_only_a_recording_that_is_imported_itself_tells_of_stages(tmp_path: Path) -> None:
    outcome = {"events": 9, "turns_segmented": 3, "turns_aligned": 3, "turns_entered": 3}
    exported = {**samples.ATIF, "extra": {"worldtape": {"outcome": outcome}}}
    report = import_trajectories(Dataset(tmp_path / "data"), "atif", [written(tmp_path, "a.json", exported)])
    assert report.as_json()["stages"] == {}


def test_what_nobody_answered_is_imported_and_counted_apart(tmp_path: Path) -> None:
    talk = {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hello"}]}
    report = _import(tmp_path / "data", written(tmp_path, "chats.jsonl", talk, _chat(1)))
    assert (report.num_trajectories, report.num_without_turns) == (2, 1)


def test_rows_that_cannot_be_read_are_named_and_the_rest_is_imported(tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", _chat(1), "{broken", _chat(2), {"messages": "none"})
    report = _import(tmp_path / "data", path)
    assert (report.num_trajectories, report.num_problems) == (2, 2)
    assert [(problem.file, problem.line) for problem in report.problems] == [(str(path), 2), (str(path), 4)]


def test_a_strict_import_of_a_broken_file_writes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", _chat(1), "{broken")
    with pytest.raises(UnreadableError, match=r"chats.jsonl:2"):
        _import(tmp_path / "data", path, strict=True)
    assert not _files(tmp_path / "data")


@pytest.mark.parametrize("content", ["", "nonsense", '{"messages": 1}', '{"metadata": {}}'])
def test_a_file_without_anything_to_import_is_an_error_and_leaves_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    with pytest.raises(InputError) as failure:
        _import(tmp_path / "data", path)
    assert str(path) in str(failure.value)
    assert not (tmp_path / "data").exists()


def test_a_bad_file_in_a_folder_is_a_problem_and_the_others_are_imported(tmp_path: Path) -> None:
    written(tmp_path / "in", "a.jsonl", _chat(1))
    written(tmp_path / "in", "b.jsonl", "version https://git-lfs.github.com/spec/v1")
    report = _import(tmp_path / "data", tmp_path / "in")
    assert report.num_trajectories == 1
    assert "git lfs pull" in str(report.problems[0])


@pytest.mark.parametrize("name", ["missing.jsonl", "empty-folder"])
def test_a_path_with_nothing_at_it_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty-folder").mkdir()
    with pytest.raises(InputError, match=name):
        _import(tmp_path / "data", tmp_path / name)


def test_an_unknown_format_names_those_there_are() -> None:
    with pytest.raises(InputError, match="openhands"):
        open_importer("openhand")


def test_a_part_is_cut_by_its_size_and_sorted_by_id(tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", *map(_chat, range(40)))
    data = Dataset(tmp_path / "data")
    with staged_import(data, RUN, part_bytes=20_000) as staging:
        for trajectory in imported("messages", path):
            staging.add(trajectory, trajectory.header("messages", RUN, ""))
    parts = data.turn_parts()
    assert len(parts) > 2
    for part in parts:
        ids = pl.read_parquet(part.path)["trajectory_id"].to_list()
        assert ids == sorted(ids)
    assert data.scan_trajectories().select(pl.len()).collect().item() == 40


def test_an_import_that_is_killed_while_it_commits_is_completed_by_the_next(tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", *map(_chat, range(40)))
    _import(tmp_path / "whole", path)
    process = multiprocessing.get_context("forkserver").Process(target=_killed_import, args=(tmp_path / "data", path))
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL
    report = _import(tmp_path / "data", path)
    assert report.num_trajectories == 40
    assert _files(tmp_path / "data") == _files(tmp_path / "whole")


def test_an_import_that_is_killed_before_it_commits_leaves_nothing_that_the_next_does_not_remove(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, "chats.jsonl", *map(_chat, range(40)))
    _import(tmp_path / "whole", path)
    process = multiprocessing.get_context("forkserver").Process(
        target=_import_killed_on_the_way, args=(tmp_path / "data", path)
    )
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL
    assert (tmp_path / "data" / "journal" / RUN).is_dir()
    with pytest.raises(UnreadableError):
        _import(tmp_path / "data", written(tmp_path, "broken.jsonl", _chat(1), "{broken"), strict=True)
    assert not list((tmp_path / "data").iterdir())
    _import(tmp_path / "data", path)
    assert sorted(_below(tmp_path / "data")) == sorted(_below(tmp_path / "whole"))


def _below(folder: Path) -> list[Path]:
    return [path.relative_to(folder) for path in folder.rglob("*")]


def _import_killed_on_the_way(folder: Path, path: Path) -> None:
    """Import, and die when all is written aside."""
    with patch.object(StagedPart, "commit", lambda _: os.kill(os.getpid(), signal.SIGKILL)):
        _import(folder, path)


def _killed_import(folder: Path, path: Path) -> None:
    """Import, and die after the turns have taken their place and before the trajectories have."""

    def half_commit(part: StagedPart) -> None:
        part._turns.take_place(part._partition.turns / part._name)
        os.kill(os.getpid(), signal.SIGKILL)

    with patch.object(StagedPart, "commit", half_commit):  # to die at one exact place
        _import(folder, path)
