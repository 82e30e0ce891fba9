"""Tasks: what to do, in which sandbox, with which files; read from YAML, checked before anything runs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    JsonValue,
    StringConstraints,
    field_validator,
)
from pydantic_core import CoreSchema, core_schema

from collectors.task_actions import parse_action
from collectors.task_files import TaskSource, read_sources
from collectors.task_yaml import TaskFileError
from sandboxes.engines.archive import checked_path
from trajectories import Action, InputError, canonical_json

Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]

_KEY_OF_ITS_OWN = "it is a key of the task itself"
_NO_OPTIONS = {
    "engine": "it is chosen for the whole run",
    "files": _KEY_OF_ITS_OWN,
    "setup": _KEY_OF_ITS_OWN,
    "servers": _KEY_OF_ITS_OWN,
}


class _ActionForm:
    """Lets pydantic read an action in any form a task file may give it."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(parse_action)


class Task(BaseModel):
    """One task. Frozen: its hash is part of the identity of every trajectory made from it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Name
    domain: Name
    """Which sandbox it runs in: ``terminal``, ``mcp`` …"""
    instruction: Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
    files: dict[str, bytes] = Field(default_factory=dict)
    """What lies in the working directory at the start: relative path → content."""
    setup: tuple[str, ...] = ()
    """Shell commands run inside, in order, before the first turn; they leave no trace in the recording."""
    servers: tuple[JsonValue, ...] = ()
    """mcp: which tool servers run, by name or as ``{name, command, env, setup}``."""
    actions: tuple[Annotated[Action, _ActionForm], ...] = ()
    """What the scripted policy does."""
    turns: int | None = Field(default=None, ge=1)
    """How many turns an exploring policy takes."""
    options: dict[str, JsonValue] = Field(default_factory=dict)
    """Further options of the domain's sandbox."""
    licence: str = ""
    source: str = ""
    tags: tuple[str, ...] = ()
    split_group: str = ""
    """Trajectories of one group never fall on both sides of a split; the task's id where empty."""

    @field_validator("files")
    @classmethod
    def _paths_stay_inside(cls, files: dict[str, bytes]) -> dict[str, bytes]:
        try:
            paths = [PurePosixPath(checked_path(path)) for path in files]
        except InputError as refusal:
            raise ValueError(str(refusal)) from None
        folders = {parent for path in paths for parent in path.parents}
        for path, times in Counter(paths).items():
            if times > 1:
                raise ValueError(f"'{path}' is given twice")
            if path in folders:
                raise ValueError(f"'{path}' is a file and a folder")
        return files

    @field_validator("options")
    @classmethod
    def _options_are_the_sandboxs_alone(cls, options: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in options:
            if name in _NO_OPTIONS:
                raise ValueError(f"'{name}' is not among a sandbox's options; {_NO_OPTIONS[name]}")
        return options

    @property
    def task_sha256(self) -> str:
        """SHA-256 of the task's content, whatever file and form it was written in."""
        content = {
            "id": self.id,
            "domain": self.domain,
            "instruction": self.instruction,
            "files": {path: hashlib.sha256(self.files[path]).hexdigest() for path in sorted(self.files)},
            "setup": list(self.setup),
            "servers": list(self.servers),
            "actions": [action.text for action in self.actions],
            "turns": self.turns,
            "options": {name: self.options[name] for name in sorted(self.options)},
        }
        return hashlib.sha256(canonical_json(content).encode()).hexdigest()

    def sandbox_options(self) -> dict[str, JsonValue]:
        """What ``open_sandbox`` gets besides engine and files; what a task leaves out keeps the sandbox's default."""
        options = dict(self.options)
        if self.setup:
            options["setup"] = list(self.setup)
        if self.servers:
            options["servers"] = list(self.servers)
        return options


def load_tasks(paths: Iterable[Path | str]) -> list[Task]:
    """Read every task of the given YAML files and folders (their ``*.yaml`` and ``*.yml``, in order of name).

    Raises :class:`TaskFileError` for the first thing that is wrong, with file, line and task.
    """
    tasks: list[Task] = []
    first_seen: dict[str, TaskSource] = {}
    given = [Path(path) for path in paths]
    for source in read_sources(given):
        task = source.build(Task)
        if task.id in first_seen:
            earlier = first_seen[task.id]
            raise TaskFileError(
                f"task id '{task.id}' is used twice",
                where=f"{earlier.place} and {source.place}",
                mend="give each task an id of its own",
            )
        first_seen[task.id] = source
        tasks.append(task)
    if not tasks:
        raise InputError(
            "no tasks found",
            where=", ".join(map(str, given)) or "no path given",
            mend="name a YAML file with a task, or a folder that holds some",
        )
    return tasks
