"""``worldtape export``: a data set's trajectories in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from trajectories import Dataset
from trajectories.exporters import export_atif
from worldtape.console import note, plural, show_json

NAME = "export"


def run(
    dataset: Annotated[str, typer.Argument(help="The data set's folder or URL.")],
    folder: Annotated[Path, typer.Argument(help="Where the files go: one a trajectory.")],
    to: Annotated[Literal["atif"], typer.Option("--to", help="The format.")] = "atif",
    run: Annotated[str | None, typer.Option("--run", help="Only the trajectories of this run.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write every trajectory as a file of another format; what that format has no place for goes into its extra fields.

    Example: worldtape export data exported/ --to atif
    """
    count = export_atif(Dataset(dataset), folder, run=run)
    if as_json:
        show_json({"format": to, "folder": str(folder), "trajectories": count})
    else:
        note(f"export: {plural(count, 'file')} of {to} in {folder}")
