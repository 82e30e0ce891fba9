"""A session of any length takes the memory of a short one."""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trajectories.store_support import BEGIN, forked
from trajectories import Action, Dataset, ErrorKind, Observation, Turn
from trajectories.importers import ImportReport, import_trajectories
from trajectories.importers.json_text import parse
from trajectories.importers.spooled_turns import SpooledTurns
from trajectories.model import JsonValue
from trajectories.row_groups import ROW_GROUP_BYTES

_FEW_CHARACTERS: Final = 3000
"""Of which a turn or two are held as they are."""
_PAYLOADS: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)
_TURNS = st.builds(
    Turn,
    number=st.integers(1, 2**31),
    action=st.builds(Action, st.text(st.characters()), _PAYLOADS, st.none() | st.text()),
    observation=st.builds(
        Observation,
        text=st.text(st.characters()) | st.integers(0, 4000).map(lambda size: "x" * size),
        renderer=st.text(),
        error_kind=st.none() | st.sampled_from(ErrorKind),
        truncated=st.booleans(),
    ),
    started_at=st.integers(0, 10**9).map(lambda seconds: BEGIN + timedelta(seconds=seconds)),
    duration_s=st.floats(0, 9),
    is_noop=st.none() | st.booleans(),
)


def _turn(number: int, payload: JsonValue = None, text: str = "") -> Turn:
    observation = Observation(text=text, renderer="r")
    return Turn(number=number, action=Action("a", payload), observation=observation, started_at=BEGIN, duration_s=0.5)


def _spooled(turns: list[Turn]) -> SpooledTurns:
    spooled = SpooledTurns(in_memory=_FEW_CHARACTERS)
    for turn in turns:
        spooled.append(turn)
    return spooled


@given(st.lists(_TURNS, max_size=12), st.integers(-13, 12), st.slices(12))
def test_spooled_turns_are_what_a_list_of_them_is(turns: list[Turn], index: int, part: slice) -> None:
    spooled = _spooled(turns)
    assert (list(spooled), list(spooled), len(spooled)) == (turns, turns, len(turns))
    assert spooled[part] == turns[part]
    if -len(turns) <= index < len(turns):
        assert spooled[index] == turns[index]
    else:
        with pytest.raises(IndexError):
            _ = spooled[index]


def test_two_readers_and_a_writer_do_not_disturb_each_other() -> None:
    spooled = _spooled([_turn(number) for number in range(9)])
    one, other = iter(spooled), iter(spooled)
    assert [next(one).number for _ in range(4)] == [0, 1, 2, 3]
    assert next(other).number == 0
    spooled.append(_turn(9, text="x" * _FEW_CHARACTERS))
    assert [turn.number for turn in one] == [4, 5, 6, 7, 8, 9]
    assert next(other).number == 1


def test_an_action_nested_as_deep_as_json_may_be_is_kept() -> None:
    depth = 900
    deep = parse("[" * depth + "]" * depth)
    spooled = _spooled([_turn(1, deep), _turn(2), _turn(3, deep), _turn(4), _turn(5), _turn(6)])
    assert [spooled[place].action.payload is deep for place in range(6)] == [True, False, True, False, False, False]
    assert [turn.number for turn in spooled] == [1, 2, 3, 4, 5, 6]


def _open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_the_file_is_closed_once_nobody_has_the_turns() -> None:
    gc.collect()
    before = _open_files()
    spooled = _spooled([_turn(number) for number in range(9)])
    assert _open_files() == before + 1
    del spooled
    gc.collect()
    assert _open_files() == before


def test_turns_that_fit_into_memory_need_no_file() -> None:
    before = _open_files()
    spooled = SpooledTurns()
    for number in range(9):
        spooled.append(_turn(number))
    assert (_open_files(), len(spooled)) == (before, 9)


def _claude(number: int, text: str) -> list[object]:
    call = {"type": "tool_use", "id": str(number), "name": "Bash", "input": {"command": str(number)}}
    result = {"type": "tool_result", "tool_use_id": str(number), "content": text}
    return [
        {"type": "assistant", "uuid": f"c{number}", "message": {"content": [call]}},
        {"type": "user", "uuid": f"a{number}", "message": {"content": [result]}},
    ]


def _import_and_measure(folder: Path, result: Connection) -> None:
    _import(folder, "short.jsonl")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = _import(folder, "long.jsonl")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    result.send((report.num_turns, report.loss.inferred["turn without effect, by the same text"], grown * 1024))


def _import(folder: Path, name: str) -> ImportReport:
    """As what is visible, so that turns are looked at for whether anything changed, too."""
    return import_trajectories(Dataset(folder / "data"), "claude-code", [folder / name], domain="web")


def test_a_session_of_300_mb_takes_little_more_memory_than_one_of_10(tmp_path: Path) -> None:
    num_turns, text = 1700, "".join(f"a line of output, number {number}\n" for number in range(6_000))
    for name, count in (("short.jsonl", 50), ("long.jsonl", num_turns)):
        with (tmp_path / name).open("w") as file:
            for number in range(count):
                file.writelines(f"{json.dumps(line)}\n" for line in _claude(number, f"{number // 2}\n{text}"))
    assert (tmp_path / "long.jsonl").stat().st_size > 300 * 10**6
    with forked(_import_and_measure, tmp_path) as (_, words):
        found, num_without_effect, grown = words.recv()
    assert (found, num_without_effect) == (num_turns, num_turns // 2)
    assert grown < 3 * ROW_GROUP_BYTES, f"an import of 300 MB took {grown / 2**20:.0f} MiB"


def _import_without_temporary_files(folder: Path, result: Connection) -> None:
    """As on a machine whose folder for temporary files is full."""
    tempfile.tempdir = str(folder / "not there")
    result.send(_import(folder, "a.jsonl").num_turns)


def _long_session(path: Path) -> Path:
    """Of more than is held in memory, in turns that are shorter than a buffer of Python's files."""
    text = "".join(f"a line, number {number}\n" for number in range(250))
    with path.open("w") as file:
        for number in range(3500):
            file.writelines(f"{json.dumps(line)}\n" for line in _claude(number, text))
    assert path.stat().st_size > 2**24
    return path


def test_turns_wait_on_the_disk_of_the_data_set_and_leave_no_trace_there(tmp_path: Path) -> None:
    _long_session(tmp_path / "a.jsonl")
    with forked(_import_without_temporary_files, tmp_path) as (_, words):
        assert words.recv() == 3500
    assert {path.name for path in (tmp_path / "data").iterdir()} == {"trajectories", "turns"}


def test_an_import_that_fills_the_disk_says_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    session = _long_session(tmp_path / "a.jsonl")
    command = [sys.executable, "-m", "worldtape", "import", "claude-code", str(session), "--dataset", f"{disk}/data"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        left = list(disk.iterdir())
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    message = f"worldtape: the disk is full ({disk}/data); free some space and run it again\n"
    assert (told.returncode, told.stderr, left) == (1, message, [])
