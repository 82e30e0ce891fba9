"""A folder that cannot be written to is one line from every verb, and stays as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import written
from tests.worldtape.conftest import Worldtape, files_below
from trajectories import Dataset

TASK = "id: look\ndomain: terminal\ninstruction: Look around.\nactions:\n  - ls\n"
NEEDS_BUBBLEWRAP = [
    pytest.mark.bubblewrap,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


@pytest.fixture
def read_only(curated: Dataset, tmp_path: Path) -> Iterator[Path]:
    """A folder that nothing can be written into, with a curated data set in it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    is_mounted = os.geteuid() == 0  # root may write whatever a folder's mode is
    if (
        is_mounted
        and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)], check=False, capture_output=True
        ).returncode
    ):
        pytest.skip("a file system cannot be mounted here")
    shutil.copytree(curated.folder, folder / "data")
    for place in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        place.chmod(0o555)
    if is_mounted:
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    yield folder
    if is_mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
    else:
        for place in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            place.chmod(0o755)


@pytest.mark.parametrize(
    "line",
    [
        "import messages {tmp}/chats.jsonl --dataset {disk}/data",
        "import messages {tmp}/chats.jsonl --dataset {disk}/new/data",
        "curate {disk}/data --overwrite",
        "curate {disk}/data --name other",
        "report {disk}/data",
        "pack {disk}/data --tokenizer {tokenizer} --context 128",
        "export {disk}/data {disk}/exported",
        pytest.param("collect {tmp}/tasks.yaml --dataset {disk}/data --engine bubblewrap", marks=NEEDS_BUBBLEWRAP),
    ],
)
def test_a_folder_that_cannot_be_written_to_is_one_line(
    worldtape: Worldtape, read_only: Path, tmp_path: Path, tiny_tokenizer: Path, line: str
) -> None:
    written(tmp_path, "chats.jsonl", samples.CHAT)
    (tmp_path / "tasks.yaml").write_text(TASK)
    before = files_below(read_only)
    done = worldtape(*(word.format(disk=read_only, tmp=tmp_path, tokenizer=tiny_tokenizer) for word in line.split()))
    assert (done.code, done.out) == (1, "")
    assert str(read_only) in done.error
    assert "copy" in done.error.rpartition(";")[2]
    assert files_below(read_only) == before


def test_a_data_set_that_cannot_be_written_to_can_be_looked_at(worldtape: Worldtape, read_only: Path) -> None:
    assert worldtape("inspect", read_only / "data", "--json").json["num_trajectories"] == 3
    assert worldtape("inspect", read_only / "data", "t-one").code == 0
