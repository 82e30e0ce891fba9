"""A file is the same source however it is compressed, and in whatever letters its name is written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import actions, answers, imported, only, written
from trajectories import Dataset
from trajectories.importers import import_trajectories

NAMELESS_SESSION = [{key: value for key, value in line.items() if key != "sessionId"} for line in samples.CLAUDE_CODE]
FILES: dict[str, tuple[str, list[Any]]] = {
    **{name: ("in/a.jsonl", rows) for name, rows in samples.ROWS.items()},
    "swe-agent": ("in/a.traj", samples.ROWS["swe-agent"]),
    "openhands-v0": ("in/a.json", [samples.OPENHANDS_V0]),
    "osworld": ("chrome/task-1/traj.jsonl", samples.OSWORLD),
    "agentworldbench": ("in/terminal_test.jsonl", samples.ROWS["agentworldbench"]),
    "claude-code": ("in/a.jsonl", NAMELESS_SESSION),
    "gemini-cli": ("in/a.json", samples.ROWS["gemini-cli"]),
}
"""Format → the name of a file, and its lines; where a name can tell what the lines do not, they do not."""


def _compress(folder: Path) -> None:
    for path in [*folder.rglob("*.*")]:
        if path.is_file():
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()


def _shout(folder: Path) -> None:
    for path in [*folder.rglob("*.*")]:
        path.rename(path.with_name(path.stem + path.suffix.upper()))


@pytest.mark.parametrize("change", [_compress, _shout])
@pytest.mark.parametrize("source_format", FILES)
def test_a_folder_holds_the_same_whatever_is_done_to_its_names(source_format: str, change: Any, tmp_path: Path) -> None:
    name, rows = FILES[source_format]
    written(tmp_path, name, *rows)
    before = imported(source_format, tmp_path)
    change(tmp_path)
    after = imported(source_format, tmp_path)
    assert before
    assert [each.trajectory_id("") for each in after] == [each.trajectory_id("") for each in before]
    assert [(actions(each), answers(each), each.domain, each.agent) for each in after] == [
        (actions(each), answers(each), each.domain, each.agent) for each in before
    ]


@pytest.mark.parametrize("name", ["a.traj", "a.TRAJ", "a.traj.gz", "a.TRAJ.GZ"])
def test_a_trajectory_is_named_as_its_file_is_without_its_endings(name: str, tmp_path: Path) -> None:
    content = json.dumps(samples.SWE_AGENT).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.lower().endswith(".gz") else content)
    assert only("swe-agent", tmp_path).source_id == "a"


def test_a_file_and_its_compressed_copy_are_one_trajectory(tmp_path: Path) -> None:
    path = written(tmp_path, "in/a.traj", samples.SWE_AGENT)
    path.with_name("a.traj.gz").write_bytes(gzip.compress(path.read_bytes()))
    report = import_trajectories(Dataset(tmp_path / "data"), "swe-agent", [tmp_path / "in"])
    assert (report.num_sources, report.num_trajectories, report.num_present) == (2, 1, 1)


@pytest.mark.parametrize("source_format", ["messages", "swe-agent"])
def test_a_compressed_file_of_mini_swe_agent_is_told_by_its_name(source_format: str, tmp_path: Path) -> None:
    chat = json.dumps(samples.SHELL_CHAT).replace("mswea_bash_command", "bash")
    (tmp_path / "a.traj.json.gz").write_bytes(gzip.compress(chat.encode()))
    assert actions(only(source_format, tmp_path)) == ["echo hello"]


@pytest.mark.parametrize("change", [_compress, _shout])
def test_compressed_files_of_events_are_one_conversation(change: Any, tmp_path: Path) -> None:
    for number, event in enumerate(samples.OPENHANDS_V1):
        written(tmp_path, f"one/events/event-{number:05d}-{event['id']}.json", event)
    before = only("openhands", tmp_path)
    change(tmp_path)
    assert only("openhands", tmp_path).trajectory_id("") == before.trajectory_id("")


@pytest.mark.parametrize("compressed", [(), ("a.json",), ("a.cont-1.json",), ("a.json", "a.cont-1.json")])
def test_a_continuation_is_found_however_it_is_compressed(compressed: tuple[str, ...], tmp_path: Path) -> None:
    documents = {"a.json": {**samples.ATIF, "continued_trajectory_ref": "a.cont-1.json"}, "a.cont-1.json": samples.ATIF}
    for name, document in documents.items():
        content = json.dumps(document).encode()
        packed = name in compressed
        (tmp_path / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(content) if packed else content)
    alone = only("atif", written(tmp_path / "alone", "b.json", samples.ATIF))
    (tmp_path / "alone" / "b.json").unlink()
    assert len(only("atif", tmp_path).turns) == 2 * len(alone.turns)
