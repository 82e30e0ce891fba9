"""Options that several verbs have."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

Engine = Annotated[Literal["auto", "docker", "bubblewrap"], typer.Option(help="What the sandboxes run under.")]
Scheduler = Annotated[str | None, typer.Option(help="Address of a Dask scheduler (default: this machine).")]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes on this machine (default: its cores).")]
