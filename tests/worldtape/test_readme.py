"""What the README shows works as it is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from collectors import load_tasks
from tests.collectors.conftest import any_engine, state
from tests.worldtape.conftest import run_program, tiny_tokenizer
from trajectories import Dataset

__all__ = ["any_engine", "state", "tiny_tokenizer"]

README = Path(__file__).parents[2] / "README.md"
DATASET = "demo-output/dataset"
"""Where the README has its data set."""


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.usefixtures("any_engine")
def test_the_task_and_the_python_of_the_readme_run_as_printed(tmp_path: Path, tiny_tokenizer: Path) -> None:
    (tmp_path / "count-the-errors.yaml").write_text(blocks("yaml")[0])
    for arguments in (
        ["collect", "count-the-errors.yaml", "--dataset", DATASET],
        ["curate", DATASET],
        ["pack", DATASET, "--tokenizer", tiny_tokenizer, "--context", 1024],
    ):
        done = run_program(*arguments, cwd=tmp_path)
        assert done.code == 0, done.err
    turns = Dataset(tmp_path / DATASET).scan_turns().sort("turn").collect()
    assert turns["observation"].str.contains("1\n", literal=True)[0]
    assert turns["observation"].str.contains("08:07 ERROR ledger timeout")[1]
    (python,) = blocks("python")
    shown = subprocess.run(
        [sys.executable, "-c", f"{python}\nprint(len(turns), sample.input_ids.shape, state['position'])"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(README.parent)},
    )
    assert (shown.returncode, shown.stdout) == (0, "4 (4096,) 1\n"), shown.stderr


def test_the_server_of_ones_own_is_one_that_a_task_can_have(tmp_path: Path) -> None:
    task = {
        "id": "throw",
        "domain": "mcp",
        "instruction": "Throw a die.",
        "files": {"dice.py": "print()"},
        "actions": [{"call": {"name": "throw", "arguments": {}}}],
    }
    (tmp_path / "throw.yaml").write_text(yaml.safe_dump(task) + blocks("yaml")[1])
    (loaded,) = load_tasks([tmp_path / "throw.yaml"])
    assert loaded.id == "throw"
