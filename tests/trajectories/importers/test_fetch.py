"""What an import takes: archives and URLs of any kind, for every format, without a trace of where they were put."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import sys
from functools import partial
from pathlib import Path
from unittest.mock import patch

import fsspec
import pytest

from tests.trajectories.importers import samples
from tests.trajectories.importers.fetch_support import (
    ARCHIVES,
    BrokenOff,
    Forbidden,
    SaysEncoded,
    archive,
    imported_report,
    imported_rows,
    served,
    serving,
)
from tests.trajectories.importers.import_support import written
from trajectories import Dataset, InputError, MissingExtraError, StorageError
from trajectories.importers import Limits, UnreadableError, import_trajectories
from trajectories.importers.incoming import temporary_folder

CHAT = (json.dumps(samples.CHAT) + "\n").encode()
OTHER = (json.dumps({**samples.CHAT, "id": "other"}) + "\n").encode()
CHATS = {"in/a.jsonl": CHAT, "b.jsonl": OTHER}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two chats, one in a folder of its own."""
    for name, content in CHATS.items():
        path = tmp_path / "chats" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "chats"


@pytest.fixture
def local(folder: Path, tmp_path: Path) -> set[str]:
    """The ids that the chats have when they are imported from a local folder."""
    return set(imported_rows(tmp_path / "local", "messages", folder))


@pytest.mark.parametrize("end", ARCHIVES)
def test_an_archive_brings_what_its_files_would(end: str, local: set[str], tmp_path: Path) -> None:
    packed = archive(tmp_path / f"packed{end}", CHATS)
    rows = imported_rows(tmp_path / "data", "messages", packed)
    assert set(rows) == local
    assert set(rows.values()) == {f"{packed}!in/a.jsonl", f"{packed}!b.jsonl"}


def test_a_file_behind_a_url_is_fetched(folder: Path, tmp_path: Path) -> None:
    written(folder, "two.jsonl", samples.CHAT, samples.CHAT)
    with served(folder) as url:
        rows = imported_rows(tmp_path / "data", "messages", f"{url}/two.jsonl")
    assert sorted(rows.values()) == [f"{url}/two.jsonl:1", f"{url}/two.jsonl:2"]


def test_a_url_in_capitals_is_fetched_and_its_password_is_stored_nowhere(folder: Path, tmp_path: Path) -> None:
    written(folder, "two.jsonl", samples.CHAT, samples.CHAT)
    with served(folder) as url:
        host = url.removeprefix("http://")
        rows = imported_rows(tmp_path / "data", "messages", f"HTTP://user:GEHEIM@{host}/two.jsonl?token=GEHEIM")
    assert sorted(rows.values()) == [f"{url}/two.jsonl:1", f"{url}/two.jsonl:2"]
    stored = Dataset(tmp_path / "data").scan_trajectories().collect()
    assert "GEHEIM" not in stored.write_json()


def test_a_folder_behind_a_url_is_fetched_with_what_is_below_it(folder: Path, local: set[str], tmp_path: Path) -> None:
    (folder / "in" / "a.jsonl").rename(folder / "in" / "with a space.jsonl")
    with served(folder.parent) as url:
        rows = imported_rows(tmp_path / "data", "messages", f"{url}/chats/")
    assert set(rows) == local
    assert set(rows.values()) == {f"{url}/chats/in/with a space.jsonl", f"{url}/chats/b.jsonl"}


def test_a_compressed_file_arrives_as_it_lies_there(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(CHAT))
    with serving(partial(SaysEncoded, directory=str(tmp_path))) as url:
        rows = imported_rows(tmp_path / "data", "messages", f"{url}/a.jsonl.gz")
    assert list(rows.values()) == [f"{url}/a.jsonl.gz"]


def test_an_archive_behind_a_url_is_fetched_and_unpacked(local: set[str], tmp_path: Path) -> None:
    archive(tmp_path / "served" / "x.tar.gz", CHATS)
    with served(tmp_path / "served") as url:
        rows = imported_rows(tmp_path / "data", "messages", f"{url}/x.tar.gz?download=1")
    assert set(rows) == local
    assert set(rows.values()) == {f"{url}/x.tar.gz!in/a.jsonl", f"{url}/x.tar.gz!b.jsonl"}


@pytest.mark.parametrize("what", ["folder", "file"])
def test_any_file_system_of_fsspec_is_read(what: str, local: set[str], tmp_path: Path) -> None:
    root = f"memory://{tmp_path.name}-{what}"
    for name, content in CHATS.items():
        fsspec.filesystem("memory").pipe(f"{root}/{name}", content)
    paths = [root] if what == "folder" else [f"{root}/{name}" for name in CHATS]
    rows = imported_rows(tmp_path / "data", "messages", *paths)
    assert set(rows) == local
    assert set(rows.values()) == {f"{root}/{name}" for name in CHATS}


def test_a_file_url_is_the_file_itself(folder: Path, local: set[str], tmp_path: Path) -> None:
    rows = imported_rows(tmp_path / "data", "messages", f"file://{folder}")
    assert set(rows) == local
    assert f"{folder}/b.jsonl" in rows.values()


def test_formats_whose_sources_are_folders_or_have_files_beside_them_come_whole(tmp_path: Path) -> None:
    rollout = "".join(json.dumps(row) + "\n" for row in samples.OSWORLD).encode()
    osworld = archive(tmp_path / "results.zip", {"traj.jsonl": rollout, "step_1.png": b"an image"})
    ids = [set(imported_rows(tmp_path / name, "osworld", osworld)) for name in ("one", "two")]
    assert ids[0] == ids[1], "no id depends on where the archive was unpacked"
    turns = Dataset(tmp_path / "one").scan_turns().collect()
    assert turns["screenshot_blob"].null_count() == len(turns) - 1

    events = {
        f"events/event-{n:05d}-{e['id']}.json": json.dumps(e).encode() for n, e in enumerate(samples.OPENHANDS_V1)
    }
    openhands = archive(tmp_path / "talk.tar.zst", events)
    ids = [set(imported_rows(tmp_path / name, "openhands", openhands)) for name in ("three", "four")]
    assert ids[0] == ids[1]
    assert set(imported_rows(tmp_path / "five", "openhands", openhands).values()) == {str(openhands)}


def test_the_archives_in_a_folder_are_opened_too(folder: Path, tmp_path: Path) -> None:
    third = json.dumps({**samples.CHAT, "id": "third"}).encode()
    inner = archive(folder / "in" / "more.zip", {"c.jsonl": third})
    archive(folder / "pictures.tar", {"a.png": b"an image"})
    archive(folder / ".hidden" / "no.zip", {"d.jsonl": third})
    (folder / "broken.tar.gz").write_bytes(b"not an archive")
    report = imported_report(tmp_path / "data", "messages", folder)
    assert (report.num_trajectories, report.num_problems) == (3, 1)
    assert str(report.problems[0]).startswith(f"{folder}/broken.tar.gz: the archive cannot be read")
    assert report.loss.skipped["fetch: archive that holds nothing of the format"] == 1
    assert f"{inner}!c.jsonl" in set(Dataset(tmp_path / "data").scan_trajectories().collect()["source"])


def test_an_archive_in_an_archive_is_counted_and_not_opened(tmp_path: Path) -> None:
    inner = archive(tmp_path / "inner.zip", CHATS)
    outer = archive(tmp_path / "outer.zip", {"a.jsonl": CHAT, "inner.zip": inner.read_bytes()})
    report = imported_report(tmp_path / "data", "messages", outer)
    assert report.num_trajectories == 1
    assert report.loss.skipped["fetch: archive in an archive"] == 1


def test_a_problem_names_the_member_that_it_is_in(tmp_path: Path) -> None:
    packed = archive(tmp_path / "x.zip", {"a.jsonl": CHAT + b"{broken\n", "b.jsonl": b""})
    report = imported_report(tmp_path / "data", "messages", packed)
    assert [problem.place for problem in report.problems] == [f"{packed}!a.jsonl:2", f"{packed}!b.jsonl"]


@pytest.mark.parametrize("member", ["a.txt", None])
def test_an_archive_without_anything_of_the_format_is_refused(member: str | None, tmp_path: Path) -> None:
    packed = archive(tmp_path / "x.zip", {member: b"text"} if member else {})
    with pytest.raises(InputError, match=r"holds nothing of the format.*x\.zip"):
        imported_report(tmp_path / "data", "messages", packed)
    assert not (tmp_path / "data").exists()


def test_a_url_with_nothing_at_it_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as url, pytest.raises(InputError) as failure:
        imported_report(tmp_path / "data", "messages", f"{url}/none.jsonl")
    assert str(failure.value) == f"there is nothing at this URL ({url}/none.jsonl); check it"
    assert not (tmp_path / "data").exists()
    with pytest.raises(InputError, match="there is nothing at this URL"):
        imported_report(tmp_path / "data", "messages", "memory://none/here.jsonl")


def test_a_server_that_refuses_is_named_with_its_answer(tmp_path: Path) -> None:
    with serving(Forbidden) as url, pytest.raises(UnreadableError, match="the server answers 403"):
        imported_report(tmp_path / "data", "messages", f"{url}/a.jsonl")
    assert not (tmp_path / "data").exists()


def test_a_server_that_breaks_off_gives_nothing(tmp_path: Path) -> None:
    with serving(BrokenOff) as url, pytest.raises(UnreadableError, match=rf"cannot be fetched.*\({url}/a\.jsonl\)"):
        imported_report(tmp_path / "data", "messages", f"{url}/a.jsonl")
    assert not (tmp_path / "data").exists()


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        pass
    with pytest.raises(UnreadableError, match="cannot be fetched"):
        imported_report(tmp_path / "data", "messages", f"{url}/a.jsonl")


@pytest.mark.parametrize("url", ["nonsense://a/b.jsonl", "s3://bucket/a.jsonl"])
def test_a_kind_of_url_that_nothing_opens_is_one_line(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(InputError, match=url):
        imported_report(tmp_path / "data", "messages", url)


def test_without_its_library_a_url_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(MissingExtraError, match=r"worldtape\[urls\]"):
        imported_report(tmp_path / "data", "messages", "https://host.invalid/a.jsonl")


def test_no_secret_of_a_url_is_stored_or_told(folder: Path, tmp_path: Path) -> None:
    written(folder, "two.jsonl", samples.CHAT, samples.CHAT)
    with served(folder) as url:
        host = url.removeprefix("http://")
        secret = f"http://user:password@{host}/b.jsonl?token={'secret' * 100}"
        rows = imported_rows(tmp_path / "data", "messages", secret)
        assert list(rows.values()) == [f"{url}/b.jsonl"]
        with pytest.raises(InputError) as failure:
            imported_report(tmp_path / "data", "messages", secret.replace("b.jsonl", "none.jsonl"))
    assert "password" not in str(failure.value)
    assert "secret" not in str(failure.value)


def test_what_is_fetched_has_a_limit(folder: Path, tmp_path: Path) -> None:
    for limits in (Limits(num_files=2), Limits(num_bytes=len(CHAT))):
        with served(folder.parent) as url, pytest.raises(UnreadableError, match="it holds more than"):
            import_trajectories(Dataset(tmp_path / "data"), "messages", [f"{url}/chats/"], limits=limits)
        assert not (tmp_path / "data").exists()


def test_a_long_transfer_is_told_of(tmp_path: Path) -> None:
    packed = archive(tmp_path / "x.tar", {"a.jsonl": CHAT, "large": bytes(70 * 2**20)})
    told: list[str] = []
    import_trajectories(
        Dataset(tmp_path / "data"),
        "messages",
        [packed],
        progress=lambda done, total, detail="": told.append(f"{done}/{total} {detail}"),
    )
    assert told == [f"0/None 64 MiB of {packed}", f"1/None {packed}!a.jsonl"]


def test_what_an_importer_that_was_killed_has_left_is_removed_and_a_living_ones_stays(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / ".incoming-dead" / "fetched").mkdir(parents=True)
    (data / ".incoming-alive").mkdir()
    handle = os.open(data / ".incoming-alive", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with temporary_folder(data) as ours:
        assert sorted(path.name for path in data.iterdir()) == sorted([".incoming-alive", ours.name])
    os.close(handle)


def test_a_folder_that_another_importer_takes_for_abandoned_before_it_is_locked_is_made_again(tmp_path: Path) -> None:
    make, made = Path.mkdir, list[Path]()

    def overtaken_once(path: Path) -> None:
        make(path)
        made.append(path)
        if len(made) == 1:
            path.rmdir()

    with patch.object(Path, "mkdir", overtaken_once), temporary_folder(tmp_path) as ours:
        assert ours.is_dir()
    assert made[1:] == [ours]


def test_where_what_is_fetched_does_not_fit_one_line_says_so_and_nothing_is_left(
    small_disk: Path, tmp_path: Path
) -> None:
    data = small_disk / "data"
    packed = archive(tmp_path / "x.tar", {"a.jsonl": CHAT, "large": os.urandom(2_000_000)})
    with pytest.raises(StorageError, match="the disk is full"):
        imported_report(data, "messages", packed)
    with served(tmp_path) as url, pytest.raises(StorageError, match="no room on the disk of the data set"):
        imported_report(data, "messages", f"{url}/x.tar")
    assert not data.exists()


def test_a_strict_import_of_what_was_fetched_leaves_nothing(tmp_path: Path) -> None:
    packed = archive(tmp_path / "x.zip", {"a.jsonl": CHAT + b"{broken\n"})
    with pytest.raises(UnreadableError, match=r"x\.zip!a\.jsonl:2"):
        import_trajectories(Dataset(tmp_path / "data"), "messages", [packed], strict=True)
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]


def test_a_pipe_is_refused_before_anything_of_it_is_lost(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match=r"a pipe or a device .*pipe\.jsonl\); write what it gives to a file"):
        import_trajectories(Dataset(tmp_path / "data"), "messages", [pipe])
    assert not (tmp_path / "data").exists()
