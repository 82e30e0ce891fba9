"""YAML with its line numbers: where each task of a file stands, and which line an error is about."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from collectors.task_yaml import TaskFileError, construct, place, read_root
from trajectories.spelling import nearest

Model = TypeVar("Model", bound=BaseModel)

_SUFFIXES = (".yaml", ".yml")
_FOLDER_KEY = "files_from"
"""Names a folder beside the YAML file whose files the task gets, besides the inline ones."""


@dataclass(frozen=True, slots=True)
class TaskSource:
    """One task as it stands in a file: its content, and the YAML nodes that know the lines."""

    path: Path
    node: yaml.MappingNode
    content: dict[str, object]

    @property
    def place(self) -> str:
        return place(self.path, self.node)

    def build(self, model: type[Model]) -> Model:
        """The validated model. Raises :class:`TaskFileError` that names the line and the nearest known key."""
        known = {*model.model_fields, _FOLDER_KEY}
        for key in self.content:
            if key not in known:
                raise self.error(f"unknown key '{key}'", (key,), nearest(str(key), known))
        content = {key: value for key, value in self.content.items() if key != _FOLDER_KEY}
        if _FOLDER_KEY in self.content:
            content["files"] = {**self._folder_files(), **self._inline_files()}
        try:
            return model.model_validate(content)
        except ValidationError as problem:
            first = problem.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise self.error(f"{key}: {first['msg'].removeprefix('Value error, ')}", first["loc"]) from None

    def error(self, what: str, loc: Sequence[int | str], mend: str | None = None) -> TaskFileError:
        task = self.content.get("id", "without an id")
        return TaskFileError(what, where=f"{self.path}:{_line(self.node, loc)}, task {task}", mend=mend)

    def _inline_files(self) -> dict[str, object]:
        inline = self.content.get("files", {})
        if not isinstance(inline, dict):
            raise self.error("files: must be a mapping of path to content", ("files",))
        return inline

    def _folder_files(self) -> dict[str, bytes]:
        name = str(self.content[_FOLDER_KEY])
        folder = self.path.parent / name
        if not folder.is_dir():
            raise self._folder_error(f"there is no folder '{folder}'")
        if not _is_within(folder, self.path.parent):
            raise self._folder_error(f"'{name}' lies outside the task file's own folder")
        return {
            file.relative_to(folder).as_posix(): self._read(file, folder)
            for file in sorted(folder.rglob("*"))
            if file.is_symlink() or not file.is_dir()
        }

    def _read(self, file: Path, folder: Path) -> bytes:
        if not _is_within(file, folder):
            raise self._folder_error(f"the link '{file}' leaves its folder")
        try:
            if not stat.S_ISREG(file.stat().st_mode):  # to read a pipe is to wait for ever
                raise self._folder_error(f"'{file}' is not a file")
            return file.read_bytes()
        except OSError as error:
            raise self._folder_error(f"'{file}' cannot be read: {error.strerror}") from None

    def _folder_error(self, what: str) -> TaskFileError:
        return self.error(f"{_FOLDER_KEY}: {what}", (_FOLDER_KEY,))


def read_sources(paths: Iterable[Path]) -> Iterator[TaskSource]:
    """Every task of every YAML file named, or lying in a folder named."""
    for path in paths:
        for file in _task_files(path):
            yield from _read_file(file)


def _task_files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
    if not path.is_file():
        raise TaskFileError("there is no such task file or folder", where=str(path))
    return [path]


def _read_file(path: Path) -> Iterator[TaskSource]:
    for node in _task_nodes(path, read_root(path)):
        yield TaskSource(path, node, construct(path, node))


def _task_nodes(path: Path, root: yaml.Node | None) -> list[yaml.MappingNode]:
    """A file is one task, or ``tasks:`` with a list of them."""
    if root is None:
        return []
    listed = _child(root, "tasks")
    if listed is not None and len(root.value) > 1:
        key = next(key for key, _ in root.value if key.value != "tasks")
        raise TaskFileError(
            f"unknown key '{key.value}' beside 'tasks'", where=place(path, key), mend="put it into a task"
        )
    candidates = [root] if listed is None else listed.value if isinstance(listed, yaml.SequenceNode) else [listed]
    tasks = []
    for node in candidates:
        if not isinstance(node, yaml.MappingNode):
            raise TaskFileError("a task must be a mapping of keys to values", where=place(path, node))
        tasks.append(node)
    return tasks


def _line(node: yaml.Node, loc: Sequence[int | str]) -> int:
    """Line (from 1) of the deepest node on the way to ``loc``; a mapping's entry starts at its key."""
    line = node.start_mark.line + 1
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            entry = next(((key, value) for key, value in node.value if key.value == part), None)
            if entry is None:
                break
            line, node = entry[0].start_mark.line + 1, entry[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _is_within(path: Path, folder: Path) -> bool:
    """Once all links are followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _child(node: yaml.Node, name: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == name), None)
