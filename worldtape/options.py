"""Options that several verbs have."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import typer

from trajectories import InputError
from trajectories.urls import local_path, shown_url

Engine = Annotated[Literal["auto", "docker", "bubblewrap"], typer.Option(help="What the sandboxes run under.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of a Dask scheduler (default: this machine).")]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Processes on this machine (default: its cores, or just this one where little is to be done).",
    ),
]

_NUM_NAMED = 20


def path_here(text: str) -> Path:
    """A path as the user gives it; as a parser of the command line, for what only a local file or folder can be.

    Raises:
        InputError: it is a URL of elsewhere, which would be read and written as a folder named ``https:``.
    """
    path = local_path(text)
    if path is None:
        raise InputError("this has to be a local file or folder", where=shown_url(text), mend="give a path")
    return path


def check_known(what: str, word: str, known: Iterable[str]) -> None:
    """Raises ``InputError`` for a word that is none of the known; it names the nearest, and all."""
    names = list(known)
    if word not in names:
        close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
        near = f"did you mean '{close[0]}'? " if close else ""
        more = f" and {len(names) - _NUM_NAMED} more" if len(names) > _NUM_NAMED else ""
        known_ones = f"known are: {', '.join(names[:_NUM_NAMED])}{more}"
        raise InputError(f"there is no {what} '{word}'", mend=f"{near}{known_ones}")
