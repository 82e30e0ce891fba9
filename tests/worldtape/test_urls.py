"""Verbs that read URLs: what lies elsewhere and cannot be had is one line that says why, and what would open it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import fsspec
import pytest
from fsspec.registry import _registry

from tests.trajectories.importers.fetch_support import served
from tests.worldtape.conftest import Finished, Worldtape, run_program
from trajectories import Dataset

READING = ["inspect {url}", "inspect {url} t-one", "export {url} {folder}/out", "pools a={url} b={url}"]
FETCHING = ["import messages {url} --dataset {folder}/data", "import corpus {url} --dataset {folder}/data --field law"]
WRITING = [
    "import messages {folder} --dataset {url}",
    "collect {folder} --dataset {url}",
    "curate {url}",
    "report {url}",
    "pack {url} --tokenizer {folder}",
]
LOCAL = [
    "curate {folder} --benchmark {url}",
    "curate {folder} --profile {url}",
    "collect {url} --dataset {folder}/data",
    "export {folder} {url}",
    "pack {folder} --tokenizer {folder} --chat-template {url}",
    "train --shards {folder} --output {url}",
    "train --shards {url} --output {folder}/run",
]
"""What can only be a path."""


def _called(worldtape: Worldtape, line: str, url: str, folder: Path) -> Finished:
    return worldtape(*(word.format(url=url, folder=folder) for word in line.split()))


@pytest.mark.parametrize("line", READING + FETCHING)
def test_a_server_that_is_not_there_is_one_line(worldtape: Worldtape, tmp_path: Path, line: str) -> None:
    with served(tmp_path) as url:
        pass
    done = _called(worldtape, line, url, tmp_path)
    assert (done.code, done.out, done.err) == (1, "", f"{done.error}\n")
    assert f"it cannot be fetched: Connection refused ({url}); check the URL" in done.error
    assert not list(tmp_path.iterdir())


def test_a_server_that_is_not_there_leaves_nothing_else_on_the_screen(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        pass
    done = run_program("inspect", url)
    assert (done.code, done.out, len(done.err.splitlines())) == (1, "", 1)


@pytest.mark.parametrize("line", READING + FETCHING)
@pytest.mark.parametrize(("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs"), ("hf", "huggingface_hub")])
def test_the_package_that_opens_a_url_is_named(
    worldtape: Worldtape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, scheme: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(_registry, scheme, raising=False)
    done = _called(worldtape, line, f"{scheme}://bucket/data", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert f"{scheme}:// needs the package {package}, which is not installed" in done.error
    assert done.error.endswith(f"run: pip install {package}")


@pytest.mark.parametrize("line", READING + FETCHING)
def test_an_extra_that_opens_a_url_is_named(
    worldtape: Worldtape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.delitem(sys.modules, "fsspec.implementations.http", raising=False)
    for scheme in ("http", "https"):
        monkeypatch.delitem(_registry, scheme, raising=False)
    done = _called(worldtape, line, "https://host.invalid/data", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.error.endswith("run: pip install 'worldtape[urls]'")


@pytest.mark.parametrize("line", WRITING)
def test_a_verb_that_writes_refuses_a_url_before_it_names_a_package(
    worldtape: Worldtape, tmp_path: Path, line: str
) -> None:
    done = _called(worldtape, line, "s3://bucket/data", tmp_path)
    assert (done.code, done.out, done.err) == (2, "", f"{done.error}\n")
    assert "this needs a data set in a local folder (s3://bucket/data)" in done.error


@pytest.mark.parametrize("line", LOCAL)
def test_a_url_is_no_path_and_no_folder_is_made_of_it(
    worldtape: Worldtape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = _called(worldtape, line, "s3://bucket/data", tmp_path)
    assert (done.code, done.out, done.err) == (2, "", f"{done.error}\n")
    assert "this has to be a local file or folder (s3://bucket/data); give a path" in done.error
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", READING + FETCHING)
def test_what_only_looks_like_a_url_is_one_line(worldtape: Worldtape, tmp_path: Path, line: str) -> None:
    done = _called(worldtape, line, "http://[::1", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "not a URL" in done.error


def test_a_data_set_is_read_through_a_url(worldtape: Worldtape, recorded: Dataset, tmp_path: Path) -> None:
    files = fsspec.filesystem("memory")
    files.put(str(recorded.folder), f"/{tmp_path.name}/data", recursive=True)
    shutil.rmtree(recorded.folder)
    assert worldtape("inspect", f"memory://{tmp_path.name}/data", "--json").json["num_trajectories"] == 3


@pytest.mark.parametrize("line", READING + FETCHING + WRITING + LOCAL + ["pools {url}", "pools {url}=a"])
@pytest.mark.parametrize(
    "template",
    [
        "HTTPS://user:GEHEIM@127.0.0.1:1/data?token=GEHEIM",
        "s3://KEY:GEHEIM@bucket/data",
        "webdav://user:GEHEIM@host/data",
        "smb://user:GEHEIM@127.0.0.1:1/data",
        "http://user:GEHEIM",
        "http://user:GEHEIM@h\u2100st/data",
        "filecache::http://user:GEHEIM@127.0.0.1:1/data",
        "nothing://user:GEHEIM@host/data",
    ],
)
def test_no_verb_shows_the_password_of_a_url(worldtape: Worldtape, tmp_path: Path, line: str, template: str) -> None:
    done = _called(worldtape, line, template, tmp_path)
    assert done.code != 0
    assert len(done.err.splitlines()) == 1
    assert "GEHEIM" not in done.out + done.err


@pytest.mark.parametrize("line", READING + FETCHING)
def test_a_scheme_may_be_written_in_capitals(worldtape: Worldtape, tmp_path: Path, line: str) -> None:
    with served(tmp_path) as url:
        pass
    done = _called(worldtape, line, url.replace("http", "HTTP"), tmp_path)
    assert "it cannot be fetched: Connection refused (http://" in done.error


def test_a_data_set_is_read_and_written_at_a_file_url_in_capitals(worldtape: Worldtape, recorded: Dataset) -> None:
    assert worldtape("inspect", f"FILE://{recorded.folder}", "--json").json["num_trajectories"] == 3
    assert worldtape("curate", f"FILE://{recorded.folder}").code == 0


def test_a_path_may_be_written_as_a_file_url(worldtape: Worldtape, recorded: Dataset, tmp_path: Path) -> None:
    assert worldtape("export", str(recorded.folder), f"file://{tmp_path}/out").code == 0
    assert (tmp_path / "out").is_dir()
