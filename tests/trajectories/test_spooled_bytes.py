"""Bytes that grow at their end are read as one, wherever they lie, and leave nothing behind."""

from __future__ import annotations

import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trajectories.store_support import tree
from trajectories import EventSpool, RawEvent, StorageError
from trajectories.spooled_bytes import SpooledBytes, spooling_in

_MANY = 2**20


def _append(spool: EventSpool, events: list[RawEvent]) -> None:
    for event in events:
        spool.append(event)


@contextmanager
def full_disk() -> Iterator[None]:
    """A block in which no file may be longer than a few bytes. No more than the block: pytest may log to a file."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@given(
    st.lists(st.binary(max_size=9) | st.just(b"\n"), max_size=20),
    st.integers(0, 40),
    st.integers(0, 90),
    st.integers(0, 90),
)
def test_they_are_one_wherever_they_lie(pieces: list[bytes], in_memory: int, begin: int, end: int) -> None:
    spooled, whole = SpooledBytes(in_memory), b"".join(pieces)
    for piece in pieces:
        spooled.append(piece)
    assert len(spooled) == len(whole)
    assert spooled.read(begin, end) == whole[begin:end]
    assert list(spooled.reader()) == whole.splitlines(keepends=True) or b"\r" in whole
    assert spooled.reader(begin).read() == whole[begin:]
    spooled.close()


def test_who_reads_and_who_adds_do_not_disturb_each_other() -> None:
    spooled = SpooledBytes(3)
    spooled.append(b"one\ntwo\n")
    one, other = spooled.reader(), spooled.reader()
    assert one.read(1) == b"o"
    spooled.append(b"three\n")
    assert (one.readline(), other.readline()) == (b"ne\n", b"one\n")
    assert spooled.reader().read() == b"one\ntwo\nthree\n"
    spooled.close()


@pytest.mark.parametrize("in_memory", [0, _MANY])
def test_what_was_closed_is_not_taken_for_empty(in_memory: int) -> None:
    spooled = SpooledBytes(in_memory)
    spooled.append(b"a")
    spooled.close()
    with pytest.raises(ValueError, match="closed"):
        spooled.read(0, 1)
    with pytest.raises(ValueError, match="closed"):
        spooled.append(b"b")


def test_what_the_disk_does_not_take_is_refused_whole_and_the_rest_stays() -> None:
    spooled = SpooledBytes(30)
    spooled.append(b"a" * 90)
    spooled.append(b"b" * 30)
    for _ in range(2):
        told = pytest.raises(StorageError, match=r"temporary files cannot be used: .*; free some space or set TMPDIR")
        with full_disk(), told:
            spooled.append(b"c")
    assert spooled.reader().read() == b"a" * 90 + b"b" * 30


def test_a_disk_that_is_full_is_told_once_and_not_when_the_file_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    event = RawEvent(0.0, "o", "x" * 3000)
    for closes in (True, False):
        with full_disk():
            events = EventSpool()
            with pytest.raises(StorageError):
                _append(events, [event] * (_MANY // 3000 + 1))
            assert list(events) == [event] * events.num_events
            if closes:
                events.close()
            del events
            gc.collect()
    assert unraisable == []


def test_they_lie_in_the_folder_that_is_named_and_leave_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    folder = tmp_path / "above" / "data"
    with spooling_in(folder):
        assert not folder.parent.exists()
        spooled = SpooledBytes(0)
        spooled.append(b"a")
        assert folder.exists()
        assert spooled.read(0, 1) == b"a"
    assert not folder.parent.exists()
    with pytest.raises(StorageError, match="folder for temporary files"):
        SpooledBytes(0).append(b"a")


def test_a_folder_that_was_there_or_is_not_empty_stays(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for name in ("old", "new"):
        with spooling_in(tmp_path / name):
            SpooledBytes(0).append(b"a")
            (tmp_path / "new").mkdir(exist_ok=True)
            (tmp_path / "new" / "file").touch()
    assert (tmp_path / "old").is_dir()
    assert tree(tmp_path).keys() == {"new/file"}


_SESSION = """
from trajectories import StorageError
from trajectories.spooled_bytes import SpooledBytes
spooled = SpooledBytes(0)
try:
    while True:
        spooled.append(bytes(1000))
except StorageError as error:
    print(error)
"""


def test_a_process_on_a_full_disk_says_one_line(tmp_path: Path) -> None:
    """Whose end closes all files."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        environment = os.environ | {"TMPDIR": str(place)}
        told = subprocess.run(
            [sys.executable, "-c", _SESSION], env=environment, capture_output=True, text=True, check=True
        )
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert (told.stdout.count("\n"), told.stderr) == (1, "")
    assert "temporary files cannot be used: No space left on device" in told.stdout
