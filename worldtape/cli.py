"""The ``worldtape`` command: verbs that map to library functions, and the boundary where errors become lines."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Mapping
from typing import Annotated, Final, NoReturn

import polars as pl
import pyarrow as pa
import typer
from typer.exceptions import TyperException

from trajectories import DamagedFileError, StorageError, WorldtapeError
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


_MENDS: Final[Mapping[int | None, str]] = {
    errno.EROFS: "it is mounted for reading only: work on a copy elsewhere",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "work as a user who may do this, or on a copy of your own"),
}


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
        code = app(prog_name="worldtape", standalone_mode=False)
    except TyperException as error:
        _leave_usage(error)
    except (WorldtapeError, OSError) as error:
        _leave(error)
    except (pl.exceptions.ComputeError, pa.ArrowInvalid) as error:
        # Readers of Parquet meet damage long after a file was opened, in whatever query comes to it.
        damage = str(error).partition("\n")[0]
        _leave(DamagedFileError(f"the data set cannot be read: {damage}", mend="copy it again from its source"))
    sys.exit(code if isinstance(code, int) else 0)


def _leave_usage(error: TyperException) -> NoReturn:
    """Where no verb was given, the message is the help."""
    said = error.format_message().replace("Value error, ", "")  # what the validator calls it
    if "\n" not in said:
        context: typer.Context | None = getattr(error, "ctx", None)
        command = context.command_path if context else "worldtape"
        said = f"worldtape: {said[:1].lower()}{said[1:].rstrip('.')}; see: {command} --help"
    note(said)
    sys.exit(error.exit_code)


def _leave(error: WorldtapeError | OSError) -> NoReturn:
    if "--debug" in sys.argv:
        traceback.print_exc()
    if isinstance(error, OSError):
        error = _as_ours(error)
    elif isinstance(error, StorageError) and error.mend is None and isinstance(error.__cause__, OSError):
        error = StorageError(error.what, where=error.where, mend=_MENDS.get(error.__cause__.errno))
    note(f"worldtape: {error}")
    sys.exit(error.exit_code)


def _as_ours(error: OSError) -> StorageError:
    where = None if error.filename is None else str(error.filename)
    return StorageError(error.strerror or str(error), where=where, mend=_MENDS.get(error.errno))
