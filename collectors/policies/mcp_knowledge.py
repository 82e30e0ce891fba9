"""What an explorer of tool servers has learnt from their answers: paths, tables, branches and commits there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sandboxes.base import SandboxFacts
from trajectories import Action, Observation

_WORKSPACE = "/workspace"
_REPOSITORY = f"{_WORKSPACE}/repo"
_LINES_KEPT = 5

_STATE_LINE = re.compile(r"^(\S.*?)(/| \(\d+ bytes\))$", re.MULTILINE)
_PATH = re.compile(r"/workspace(?:/[\w.@+-]+)*")
_ENTRY = re.compile(r"^\[(?:FILE|DIR)\] (\S+)", re.MULTILINE)
_COMMIT = re.compile(r"\b[0-9a-f]{40}\b")
_BRANCH = re.compile(r"(?:^[* ] |branch ')([\w./-]+)'?", re.MULTILINE)
_TABLE = re.compile(r"\{'name': '(\w+)'\}")
_CREATED_TABLE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", re.IGNORECASE)
_COLUMN = re.compile(r"'name': '(\w+)', 'type'")
_FOLDER_TOOL = re.compile("director|search")
"""A tool with such a name takes the path of a folder; others take a file's."""


@dataclass(slots=True)
class Knowledge:
    """Names of things, in the order they were learnt."""

    paths: list[str] = field(default_factory=lambda: [_WORKSPACE])
    branches: list[str] = field(default_factory=lambda: ["main"])
    commits: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """Lines that stand in some file."""

    def start_from(self, facts: SandboxFacts) -> None:
        """Learn the files that the sandbox says it begins with."""
        listed = facts.prompt.initial_state.partition(f"Files in {_WORKSPACE}:\n")[2]
        _add(self.paths, (f"{_WORKSPACE}/{name}" for name, _ in _STATE_LINE.findall(listed)))

    def learn(self, action: Action, observation: Observation) -> None:
        """Learn from what was asked and what was answered."""
        if observation.error_kind is not None or not isinstance(action.payload, Mapping):
            return
        tool, text = str(action.payload.get("name")), observation.text
        arguments = action.payload.get("arguments")
        named = arguments if isinstance(arguments, Mapping) else {}
        _add(self.paths, _PATH.findall(f"{text}\n{action.text}"))
        if isinstance(folder := named.get("path"), str):
            _add(self.paths, (f"{folder.rstrip('/')}/{name}" for name in _ENTRY.findall(text)))
        if "destination" in named:  # moved: it is no longer where it was
            self.paths = [path for path in self.paths if path != named.get("source")]
        _add(self.commits, _COMMIT.findall(text))
        if "branch" in tool:
            _add(self.branches, _BRANCH.findall(text))
        if tool.startswith("read_") and tool.endswith("file"):
            _add(self.lines, (line for line in text.splitlines()[:_LINES_KEPT] if line.strip()))
        _add(self.tables, [*_TABLE.findall(text), *_CREATED_TABLE.findall(action.text)])
        _add(self.columns, _COLUMN.findall(text))

    def context(self, tool: str) -> Mapping[str, Sequence[str]]:
        """Kind of value → known ones, as :class:`~collectors.policies.schema_values.ArgumentMaker` takes them."""
        about_folders = _FOLDER_TOOL.search(tool) is not None
        inside = f"{_REPOSITORY}/"
        return {
            "path": [path for path in self.paths if _is_folder(path) == about_folders] or self.paths,
            "repo_path": [_REPOSITORY],
            "repo_file": [path.removeprefix(inside) for path in self.paths if path.startswith(inside)],
            "branch": self.branches,
            "revision": ["HEAD", *self.branches, *self.commits],
            "table": self.tables,
            "column": self.columns,
            "known_text": self.lines,
        }


def _is_folder(path: str) -> bool:
    """A guess: what has an extension is a file."""
    return "." not in path.rpartition("/")[2]


def _add(known: list[str], names: Iterable[str]) -> None:
    # A set: an answer may name tens of thousands.
    before = set(known)
    known.extend(name for name in dict.fromkeys(names) if name not in before)
