"""What lies in a folder and cannot be read: a search by name passes over it in silence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from trajectories.importers.problems import Problem


def unreadable_entries(folder: Path) -> Iterator[Problem]:
    """The folders that may not be listed, links that lead to no file, and what has no end (pipes, devices), in order.

    What is hidden is left out.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Problem(
            str(folder), None, f"the folder cannot be listed: {error.strerror}", "ask for the right to read it"
        )
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from unreadable_entries(Path(entry.path))
        elif reason := _why_unread(entry):
            yield Problem(entry.path, None, *reason)


def _why_unread(entry: os.DirEntry[str]) -> tuple[str, str] | None:
    try:
        if entry.is_dir():
            return "a link to a folder is not followed", "name that folder too"
        if entry.is_file():
            return None
        is_there = Path(entry.path).exists()
    except OSError as error:  # a link to itself
        return f"it cannot be read: {error.strerror}", "check the link"
    if is_there:
        return "this is a pipe or a device", "write what it gives to a file"
    return "the link leads nowhere", "fetch the file that it stands for"
