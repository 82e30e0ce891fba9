"""Files appear whole or not at all."""

import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.trajectories.store_support import forked
from trajectories import StorageError
from trajectories.files import append_durably, remove_abandoned, storage_errors, written_aside, written_whole


def test_a_file_takes_its_place_when_the_block_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file"
    for content in (b"first", b"second"):
        with written_whole(path) as file:
            file.write(content)
            assert not path.exists() or path.read_bytes() == b"first"
        assert path.read_bytes() == content
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), written_whole(path) as file:
        file.writelines([b"new", "no bytes"])  # type: ignore[list-item]  # what fails does not matter here
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_bytes() == b"old"


def write_and_wait(folder: str, ready: Connection) -> None:
    with written_aside(Path(folder)) as aside:
        aside.file.write(b"half")
        ready.send(0)
        signal.pause()


def test_what_a_killed_writer_left_is_removed_and_a_living_ones_stays(tmp_path: Path) -> None:
    with forked(write_and_wait, str(tmp_path)) as (writer, words):
        words.recv()
        remove_abandoned(tmp_path)
        assert len(list(tmp_path.iterdir())) == 1
        writer.kill()
        writer.join()
        remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_taken_is_not_taken_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"first")
    with written_aside(tmp_path) as aside, pytest.raises(FileExistsError):
        aside.take_free_place(tmp_path / "file")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_an_append_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"whole\n")
    handle = os.open(path, os.O_RDWR)
    append_durably(handle, 6, b"more\n")
    with pytest.raises(TypeError):
        append_durably(handle, 11, "not bytes")  # type: ignore[arg-type]  # what fails does not matter here
    os.close(handle)
    assert path.read_bytes() == b"whole\nmore\n"


def test_what_the_system_says_becomes_one_line_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"No such file or directory \(.*none\)"), storage_errors(tmp_path / "none"):
        (tmp_path / "none").read_bytes()
