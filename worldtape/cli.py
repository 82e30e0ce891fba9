"""The ``worldtape`` command: verbs that map to library functions, and the boundary where errors become lines."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated, NoReturn

import polars as pl
import pyarrow as pa
import typer

from trajectories import DamagedFileError, WorldtapeError
from worldtape import version
from worldtape.console import note, prepare_streams, show_text
from worldtape.verbs import collect, curate, doctor, export, gc, images, import_, inspect, pack, pools, report, train

app = typer.Typer(
    name="worldtape",
    help="Records what real environments do and turns it into training data for language world models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (doctor, collect, import_, curate, report, pools, pack, train, export, inspect, gc):
    app.command(verb.NAME)(verb.run)
app.add_typer(images.app, name="images")


def _show_version(wanted: bool) -> None:
    if wanted:
        show_text(version())
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Both act elsewhere: ``main`` looks for --debug, and --version has left before a missing verb is noticed."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 it failed, 2 the input or the usage is wrong."""
    prepare_streams()
    try:
        app()
    except (WorldtapeError, OSError) as error:
        _leave(error)
    except (pl.exceptions.ComputeError, pa.ArrowInvalid) as error:
        # Readers of Parquet meet damage long after a file was opened, in whatever query comes to it.
        damage = str(error).partition("\n")[0]
        _leave(DamagedFileError(f"the data set cannot be read: {damage}", mend="copy it again from its source"))


def _leave(error: WorldtapeError | OSError) -> NoReturn:
    if "--debug" in sys.argv:
        traceback.print_exc()
    if isinstance(error, WorldtapeError):
        note(f"worldtape: {error}")
        sys.exit(error.exit_code)
    place = f" ({error.filename})" if error.filename else ""
    note(f"worldtape: {error.strerror or error}{place}")
    sys.exit(1)
