"""Archives made to do harm, or damaged: one line, and nothing outside the folder."""

from __future__ import annotations

import random
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.trajectories.importers.fetch_support import ARCHIVES, archive, link, tar_bytes
from trajectories.importers import LIMITS, Limits, LossReport, UnreadableError
from trajectories.importers.archives import DamagedArchiveError, archive_stem, unpack
from trajectories.importers.incoming import Meter

_MEBIBYTE = 2**20


def _unpacked(path: Path, limits: Limits = LIMITS) -> tuple[dict[str, bytes], LossReport]:
    """The files of an archive, which is the only thing beside the folder that it is unpacked in."""
    folder = path.parent / "inside"
    folder.mkdir(exist_ok=True)
    loss = LossReport()
    try:
        unpack(path, folder, str(path), Meter(folder, str(path), limits, packed_bytes=path.stat().st_size), loss)
    finally:
        assert {each.name for each in path.parent.iterdir()} == {"inside", path.name}
    files = {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if not each.is_dir()}
    return files, loss


@pytest.mark.parametrize("end", ARCHIVES)
def test_every_kind_of_archive_is_unpacked(end: str, tmp_path: Path) -> None:
    members = {"a.txt": b"a", "deep/er/b.txt": b"b" * 3 * _MEBIBYTE, "empty": b""}
    path = archive(tmp_path / f"x{end}", members)
    assert archive_stem(path.name) == "x"
    assert _unpacked(path)[0] == members


@pytest.mark.parametrize("end", [".zip", ".tar"])
@pytest.mark.parametrize("name", ["/etc/evil", "../evil", "a/../../evil", "a/.."])
def test_a_name_that_leads_out_is_refused(name: str, end: str, tmp_path: Path) -> None:
    path = archive(tmp_path / f"x{end}", {name: b"evil"})
    with pytest.raises(UnreadableError, match="leads out of the archive"):
        _unpacked(path)


def test_an_empty_name_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"name": b"a"})
    path.write_bytes(path.read_bytes().replace(b"name", b"\0ame"))  # what comes after a NUL is no part of a name
    with pytest.raises(UnreadableError, match="leads out of the archive: ''"):
        _unpacked(path)


def test_links_and_devices_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    members: dict[str, bytes | tarfile.TarInfo] = {
        "a.txt": b"a",
        "out": link("out", "/etc"),
        "up": link("up", ".."),
        "hard": link("hard", "../x.tar", tarfile.LNKTYPE),
        "pipe": link("pipe", "", tarfile.FIFOTYPE),
        "disk": link("disk", "", tarfile.BLKTYPE),
        "out/passwd": b"through the link",
    }
    path.write_bytes(tar_bytes(members))
    files, loss = _unpacked(path)
    assert files == {"a.txt": b"a", "out/passwd": b"through the link"}
    assert loss.skipped == {"fetch: link in an archive": 3, "fetch: device in an archive": 2}


def test_a_link_in_a_zip_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    info = zipfile.ZipInfo("link")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr(info, "/etc/passwd")
    assert _unpacked(path)[0] == {}


@pytest.mark.parametrize("end", [".zip", ".tar.gz", ".tar.zst"])
def test_a_bomb_is_refused(end: str, tmp_path: Path) -> None:
    path = archive(tmp_path / f"x{end}", {f"{n}.txt": bytes(_MEBIBYTE) for n in range(8)})
    assert path.stat().st_size < 100_000
    with pytest.raises(UnreadableError, match="an archive bomb: it unpacks to more than 20 times its size"):
        _unpacked(path, Limits(ratio=20, free_bytes=2 * _MEBIBYTE))
    with pytest.raises(UnreadableError, match=r"it holds more than 0\.00390625 GiB"):
        _unpacked(archive(path, {"a": bytes(8 * _MEBIBYTE)}), Limits(num_bytes=4 * _MEBIBYTE))


def test_a_sparse_file_that_claims_to_be_large_is_measured_by_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    info = tarfile.TarInfo("large")
    info.size = 2**40
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))
    with pytest.raises(UnreadableError, match="cannot be read"):
        _unpacked(path)


@pytest.mark.parametrize("end", [".zip", ".tar"])
def test_too_many_members_are_refused(end: str, tmp_path: Path) -> None:
    path = archive(tmp_path / f"x{end}", {f"{n}": b"" for n in range(11)})
    assert len(_unpacked(path, Limits(num_files=11))[0]) == 11
    path = archive(path, {f"other/{n}": b"" for n in range(11)})
    with pytest.raises(UnreadableError, match="it holds more than 10 files"):
        _unpacked(path, Limits(num_files=10))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "members",
    [[("a", b"1"), ("a", b"2")], [("a", b"1"), ("./a", b"2")], [("a", b"1"), ("a/b", b"2")], [("x" * 300, b"1")]],
    ids=["twice", "twice-in-other-words", "file-and-folder", "long-name"],
)
def test_members_that_cannot_take_their_place_are_refused(members: list[tuple[str, bytes]], tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as zipped:
        for name, content in members:
            zipped.writestr(zipfile.ZipInfo(name), content)
    with pytest.raises(UnreadableError, match="a member cannot take its place"):
        _unpacked(path)


def test_a_damaged_header_is_not_taken_for_the_end(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    whole = tar_bytes({"a.txt": b"a", "b.txt": b"b", "c.txt": b"c"})
    second = 1024  # a header and a block each
    path.write_bytes(whole[:second] + b"\xff" * 512 + whole[second + 512 :])
    with pytest.raises(UnreadableError, match="the archive cannot be read"):
        _unpacked(path)


NOISE = random.Random(0).randbytes(300_000)
MEMBERS = {name: NOISE[begin : begin + 100_000] for begin, name in ((0, "a"), (100_000, "b"), (200_000, "c"))}


def _cut(path: Path, size: int) -> dict[str, bytes]:
    """What is unpacked of an archive that was cut."""
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(DamagedArchiveError, match="cannot be read to its end"):
        _unpacked(path)
    return {each.name: each.read_bytes() for each in (path.parent / "inside").iterdir()}


@pytest.mark.parametrize("end", sorted({*ARCHIVES} - {".zip"}))
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_tar_that_was_cut_gives_the_files_that_are_whole(end: str, part: float, tmp_path: Path) -> None:
    path = archive(tmp_path / f"x{end}", MEMBERS)
    files = _cut(path, int(path.stat().st_size * part))
    expected = int(part * len(MEMBERS))
    assert len(files) <= expected
    # Of so small a file bzip2 makes one block, and Zstandard is read a mebibyte at a time.
    assert len(files) == expected or end in (".tar.bz2", ".tar.zst")
    assert files.items() <= MEMBERS.items()


@given(size=st.integers(512, 3 * 1024))
def test_a_tar_cut_at_any_byte_is_told_to_be(size: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.tar")
        path.write_bytes(tar_bytes({"a": b"a" * 512, "b": b"b", "c": b"c" * 512}))
        ends = {"a": 1024, "b": 1537, "c": 3072}
        assert _cut(path, size).keys() == {name for name, end in ends.items() if size >= end}


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_a_zip_that_was_cut_lacks_the_list_of_its_files(part: float, tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", MEMBERS)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * part)])
    with pytest.raises(
        DamagedArchiveError, match="lacks the list of its files, which a zip has at its end: it was cut"
    ):
        _unpacked(path)


def test_a_zip_gives_the_files_before_a_damaged_one(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", MEMBERS)
    content = bytearray(path.read_bytes())
    content[150_000] ^= 1
    path.write_bytes(content)
    assert _cut(path, len(content)).keys() == {"a"}


def test_a_header_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 2**40
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))
    with pytest.raises(UnreadableError, match="a header of 1,099,511,627,776 bytes"):
        _unpacked(path)


def test_a_zip_with_a_password_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"a.txt": b"a"})
    content = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + place] |= 1
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match="password"):
        _unpacked(path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_mutated_archive_never_surprises(tmp_path: Path, data: st.DataObject) -> None:
    end = data.draw(st.sampled_from([".zip", ".tar", ".tar.gz"]))
    path = archive(Path(mkdtemp(dir=tmp_path)) / f"x{end}", {"a.txt": b"a" * 700, "in/b.txt": b"b"})
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path.write_bytes(content)
    with suppress(UnreadableError):
        _unpacked(path, Limits(num_bytes=_MEBIBYTE))


def test_an_archive_is_told_by_its_name() -> None:
    assert [archive_stem(name) for name in ("A.ZIP", "b.tar.gz", "c.gz", "tar", "d.jsonl.zst")] == [
        "A",
        "b",
        None,
        None,
        None,
    ]
