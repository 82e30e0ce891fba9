"""The ``worldtape`` command: verbs that map to library functions, and the boundary where errors become lines."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import typer

from trajectories import WorldtapeError
from worldtape import version
from worldtape.console import note, show_text
from worldtape.verbs import collect, curate, doctor, gc, images, inspect, pack, train

app = typer.Typer(
    name="worldtape",
    help="Records what real environments do and turns it into training data for language world models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (doctor, collect, curate, pack, train, inspect, gc):
    app.command(verb.NAME)(verb.run)
app.add_typer(images.app, name="images")


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 (main reads it)
    show_version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    if show_version:
        show_text(version())
        raise typer.Exit


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 it failed, 2 the input or the usage is wrong."""
    try:
        app()
    except BrokenPipeError:
        # Whoever read our output has seen enough (``worldtape inspect … | head``).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (WorldtapeError, OSError) as error:
        if "--debug" in sys.argv:
            traceback.print_exc()
        note(f"worldtape: {error}")
        sys.exit(error.exit_code if isinstance(error, WorldtapeError) else 1)
