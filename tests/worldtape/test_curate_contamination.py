"""``worldtape curate`` says of which benchmark items it cannot tell whether they are there."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.worldtape.conftest import Worldtape
from trajectories import Dataset

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def written(path: Path, tasks: list[str]) -> Path:
    path.write_text(json.dumps([{"id": f"q{place}", "task": task} for place, task in enumerate(tasks)]))
    return path


def test_items_that_cannot_be_found_are_told_with_what_helps(
    worldtape: Worldtape, recorded: Dataset, tmp_path: Path
) -> None:
    short = written(tmp_path / "short.json", [LONG, "Open the browser.", "Close the browser."])
    boilerplate = written(tmp_path / "boilerplate.json", [LONG] * 6)
    done = worldtape("curate", recorded.folder, "--benchmark", short, "--benchmark", boilerplate)
    assert done.code == 0
    rows = {row[0]: row[1:] for row in map(str.split, done.out.splitlines()) if row and row[0].endswith(".json")}
    assert rows == {"short.json": ["3", "0", "2", "0"], "boilerplate.json": ["6", "0", "0", "6"]}
    assert "too short" in done.out
    assert "only boilerplate" in done.out
    (line,) = (line for line in done.err.splitlines() if "cannot be found" in line)
    assert "8 items" in line
    assert "[contamination] ngram_words in the profile (now 13)" in line


def test_nothing_is_said_of_them_where_there_are_none(worldtape: Worldtape, recorded: Dataset, tmp_path: Path) -> None:
    done = worldtape("curate", recorded.folder, "--benchmark", written(tmp_path / "long.json", [LONG]))
    assert done.code == 0
    assert "too short" not in done.out
    assert "only boilerplate" not in done.out
    assert "cannot be found" not in done.err


def test_files_of_a_benchmark_that_are_not_read_are_named(
    worldtape: Worldtape, recorded: Dataset, tmp_path: Path
) -> None:
    (folder := tmp_path / "bench").mkdir()
    written(folder / "long.json", [LONG])
    for number in range(6):
        (folder / f"picture-{number}.png").write_bytes(b"\x89PNG\0\0")
    done = worldtape("curate", recorded.folder, "--benchmark", folder)
    (line,) = (line for line in done.err.splitlines() if "not read" in line)
    assert line.startswith(f"curate: 6 files of {folder} not read (links, no text, or not UTF-8): picture-0.png, ")
    assert line.endswith("picture-4.png and 1 more")


def test_a_benchmark_that_cannot_be_read_is_noticed_before_anything_is_searched(
    worldtape: Worldtape, recorded: Dataset, tmp_path: Path
) -> None:
    whole = gzip.compress(json.dumps([{"id": "q", "task": LONG}] * 1000).encode())
    (cut := tmp_path / "cut.json.gz").write_bytes(whole[: len(whole) // 2])
    done = worldtape("curate", recorded.folder, "--benchmark", cut)
    assert done.code != 0
    assert str(cut) in done.error
    assert not (recorded.folder / "curation" / "default" / "secrets").exists()
