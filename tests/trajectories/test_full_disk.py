"""A full disk: one clear line, nothing half-written, and what was recorded can still be read."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trajectories.store_support import ENDING, RUN, header, observation, record, tree, turn
from trajectories import Dataset, JournalWriter, StorageError, compact, recover


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if os.geteuid() != 0 or shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all the space there is."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return filler


def test_a_turn_that_does_not_fit_is_refused_and_the_journal_is_as_before(small_disk: Path) -> None:
    dataset = Dataset(small_disk / "data")
    with JournalWriter(dataset, header("a"), observation("$")) as journal:
        journal.append(turn(1))
        filler = fill(small_disk)
        before = tree(dataset.folder)
        with pytest.raises(StorageError, match=r"the disk is full \(.*a\.journal\); free some space"):
            journal.append(turn(2, "x" * 5000))
        assert tree(dataset.folder) == before
        assert dataset.trajectory("a").turns.height == 1
        filler.unlink()
        journal.append(turn(2))
        journal.end(ENDING)
    assert compact(dataset, RUN) == ["a"]
    assert dataset.trajectory("a").turns["turn"].to_list() == [1, 2]


def test_raw_events_that_do_not_fit_leave_no_blob(small_disk: Path) -> None:
    dataset = Dataset(small_disk / "data")
    with JournalWriter(dataset, header("a"), observation("$")) as journal:
        before = tree(dataset.folder)
        with pytest.raises(StorageError, match=r"the disk is full \(.*blobs\)"):
            journal.append(turn(1, raw_bytes=3_000_000))
        assert tree(dataset.folder) == before
        journal.append(turn(1))


def test_a_trajectory_that_cannot_begin_leaves_nothing(small_disk: Path) -> None:
    dataset = Dataset(small_disk / "data")
    record(dataset, "a")
    fill(small_disk)
    before = tree(dataset.folder)
    with pytest.raises(StorageError, match="the disk is full"):
        JournalWriter(dataset, header("b"), observation("x" * 10_000))
    assert tree(dataset.folder) == before
    assert recover(dataset, RUN) == []


def test_a_compaction_that_does_not_fit_leaves_the_journals_and_nothing_else(small_disk: Path) -> None:
    dataset = Dataset(small_disk / "data")
    for name in ("a", "b"):
        record(dataset, name, num_turns=30)
    filler = fill(small_disk)
    before = tree(dataset.folder)
    with pytest.raises(StorageError, match="the disk is full"):
        compact(dataset, RUN)
    assert tree(dataset.folder) == before
    assert dataset.trajectory("b").turns.height == 30
    filler.unlink()
    assert compact(dataset, RUN) == ["a", "b"]
    assert dataset.trajectory("b").turns.height == 30


def test_a_disk_that_fills_up_during_compaction_leaves_no_part(small_disk: Path) -> None:
    dataset = Dataset(small_disk / "data")
    record(dataset, "a", num_turns=200)
    filler = fill(small_disk)
    journals = tree(dataset.folder)
    for free in range(4096, 65536, 4096):
        os.truncate(filler, filler.stat().st_size - 4096)
        try:
            compact(dataset, RUN)
        except StorageError:
            assert dataset.trajectory("a").turns.height == 200
            left = tree(dataset.folder)
            assert journals.items() <= left.items()
            assert all(name.startswith("blobs/") for name in left.keys() - journals.keys()), free
        else:
            break
    assert compact(dataset, RUN) == []
    assert dataset.scan_turns().collect().height == 200
