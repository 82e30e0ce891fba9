"""The command line as a function, and a small curated data set to point it at."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from curation import curate
from tests.curation.recordings import record
from tests.sharding.conftest import tiny_tokenizer, tokenizer_without_template
from trajectories import Dataset, compact
from worldtape import cli

__all__ = ["tiny_tokenizer", "tokenizer_without_template"]

PROGRAM = Path(sys.executable).with_name("worldtape")
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\x9b31m"


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a call: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line that says what is wrong."""
        lines = [line for line in self.err.splitlines() if line.startswith("worldtape: ")]
        assert len(lines) == 1, self.err
        assert self.err.splitlines()[-1] == lines[0]
        return lines[0]


Worldtape = Callable[..., Finished]


@pytest.fixture
def worldtape(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Worldtape:
    """The program called in this process, from the parsing of its arguments to its exit code."""

    def run(*arguments: object) -> Finished:
        monkeypatch.setattr(sys, "argv", ["worldtape", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            cli.main()
        code = left.value.code
        assert isinstance(code, int)
        return Finished(code, *capfd.readouterr())

    return run


def run_program(*arguments: object, **options: Any) -> Finished:
    """The installed program, in a process of its own."""
    command = [str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)
    return Finished(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def recorded(tmp_path: Path) -> Dataset:
    """Three trajectories; the first has a turn with an empty action (R is infinite) and one with a hostile answer."""
    dataset = Dataset(tmp_path / "data")
    record(dataset, "t-one", [("", "a new and long answer"), ("cat x\n", HOSTILE), ("true\n", "")])
    record(dataset, "t-two", [("ls\n", "notes.txt and some more words")])
    record(dataset, "u-three", [("ls\n", "notes.txt")], run="r2")
    for run in ("r1", "r2"):
        compact(dataset, run)
    return dataset


@pytest.fixture
def curated(recorded: Dataset) -> Dataset:
    curate(recorded)
    return recorded


def make_newer(dataset: Dataset) -> None:
    """Say of every part of a data set that a later version wrote it."""
    for part in (*dataset.turn_parts(), *dataset.trajectory_parts()):
        table = pq.read_table(part.path, partitioning=None)
        pq.write_table(table.replace_schema_metadata({b"schema_version": b"99"}), part.path)


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
