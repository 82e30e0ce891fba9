"""Blobs: named by their content, whole or not there."""

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from trajectories import BlobStore, DamagedFileError, Dataset, InputError


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return Dataset(tmp_path).blobs


@pytest.mark.parametrize("suffix", [".png", ".txt.zst"])
def test_a_blob_is_named_by_its_content_and_read_back(store: BlobStore, suffix: str) -> None:
    content = b"line\n" * 1000
    name = store.put(content, suffix)
    assert name == hashlib.sha256(content).hexdigest() + suffix
    assert b"".join(store.chunks(name)) == content
    assert list(store.lines(name)) == [b"line\n"] * 1000


def test_the_way_it_is_cut_into_chunks_does_not_matter(store: BlobStore, tmp_path: Path) -> None:
    content = bytes(range(256)) * 500
    assert store.put((content[i : i + 7] for i in range(0, len(content), 7)), ".zst") == store.put(content, ".zst")
    assert len([path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]) == 1


def test_the_same_content_makes_the_same_bytes(tmp_path: Path) -> None:
    files = []
    for place in ("a", "b"):
        name = Dataset(tmp_path / place).blobs.put(iter([b"x" * 10**6, b"y"]), ".bin.zst")
        files.append((tmp_path / place / "blobs" / name[:2] / name).read_bytes())
    assert files[0] == files[1]
    assert len(files[0]) < 1000


def test_a_source_that_fails_leaves_nothing(store: BlobStore, tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"first"
        raise RuntimeError("the source failed")

    with pytest.raises(RuntimeError, match="the source failed"):
        store.put(broken(), ".zst")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_blob_that_is_not_there_is_one_clear_line(store: BlobStore) -> None:
    with pytest.raises(InputError, match="a blob is missing"):
        list(store.chunks("0" * 64 + ".png"))
    with pytest.raises(InputError, match="is not the name of a blob"):
        list(store.chunks("../../etc/passwd"))


@pytest.mark.parametrize("suffix", [".png", ".cast.zst"])
@pytest.mark.parametrize("kept", [0.0, 0.5, 1.0])
def test_a_blob_that_was_cut_off_or_changed_is_found_out(
    store: BlobStore, tmp_path: Path, suffix: str, kept: float
) -> None:
    name = store.put(random.Random(0).randbytes(100_000), suffix)
    path = tmp_path / "blobs" / name[:2] / name
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 0xFF
    path.write_bytes(damaged[: int(len(damaged) * kept)])
    with pytest.raises(DamagedFileError, match=r"a blob is damaged: .*; copy it again"):
        list(store.lines(name))
