"""The examples in the help of the verbs work, and ``--json`` is one JSON document and nothing else."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
import typer

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import written
from tests.worldtape.conftest import Worldtape
from trajectories import Dataset
from worldtape.cli import app

_EXAMPLE = re.compile(r"Example: worldtape (.*)")
_ELSEWHERE = "https://"
_COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # it is a group
_NOT_HERE = {"collect", "doctor", "gc", "images", "train"}
"""Verbs that need an engine, another's model, or what only this machine has."""
_VERBS = {name: command for name, command in _COMMANDS.items() if name not in _NOT_HERE}
EXAMPLES = [
    example
    for command in _VERBS.values()
    for example in _EXAMPLE.findall(" ".join((command.help or "").split("\n")).replace("Example:", "\nExample:"))
    if _ELSEWHERE not in example
]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worldtape: Worldtape, tiny_tokenizer: Path) -> Path:
    """A folder with all that the examples name, imported from files made here."""
    monkeypatch.chdir(tmp_path)
    written(Path("runs"), "trajectory.json", samples.ATIF)
    written(Path(), "chats.jsonl", samples.CHAT)
    written(Path(), "laws.jsonl", *samples.LAWS)
    written(Path(), "terminal_test.jsonl", {"prompt": "Count the lines of every file below the folder, sorted by name"})
    licence = ("--licence", "MIT")
    worldtape("import", "messages", "chats.jsonl", "--dataset", "data", "--domain", "terminal", *licence)
    worldtape("import", "atif", "runs", "--dataset", "recorded", *licence)
    worldtape("import", "messages", "chats.jsonl", "--dataset", "held-out", *licence)
    worldtape("import", "corpus", "laws.jsonl", "--dataset", "crawled", "--field", "law", *licence)
    for name in ("default", "strict"):
        worldtape("curate", "data", "--name", name)
    shutil.copytree(tiny_tokenizer, Path("Qwen", "Qwen3-0.6B"))
    return tmp_path


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.usefixtures("workplace")
def test_an_example_works(worldtape: Worldtape, example: str) -> None:
    (trajectory_id,) = Dataset("data").scan_trajectories().collect()["trajectory_id"]
    arguments = [trajectory_id[:11] if word == "terminal-3f" else word for word in shlex.split(example)]
    if arguments[0] == "curate":
        shutil.rmtree(Path("data", "curation"))
    shown = worldtape(*arguments)
    assert shown.code == 0, shown.err
    if arguments[0] == "export":
        shutil.rmtree(arguments[2])
    again = [*arguments, "--overwrite"] if arguments[0] in ("curate", "pack") else arguments
    as_json = worldtape(*again, "--json")
    assert (as_json.code, isinstance(as_json.json, dict | list)) == (0, True)


def test_every_verb_that_can_run_here_has_an_example() -> None:
    assert {example.split()[0] for example in EXAMPLES} == _VERBS.keys()
