"""``worldtape export``: a data set's trajectories in another format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from trajectories import JsonValue
from trajectories.exporters import export_atif
from trajectories.plurals import plural
from worldtape.console import note, show_json
from worldtape.datasets import reading
from worldtape.extras import extra
from worldtape.options import check_known, path_here

NAME = "export"


def run(
    dataset: Annotated[str, typer.Argument(help="The data set's folder or URL.")],
    folder: Annotated[
        Path,
        typer.Argument(help="Where the files go: one a trajectory, in the place of its like.", parser=path_here),
    ],
    to: Annotated[Literal["atif"], typer.Option("--to", help="The format.")] = "atif",
    run: Annotated[str | None, typer.Option("--run", help="Only those of this run (default: of all).")] = None,
    with_secrets: Annotated[
        bool, typer.Option("--with-secrets", help="Leave found secrets and personal data in; else placeholders stand.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write every trajectory as a file of another format; what that format has no place for goes into its extra fields.

    Secrets and personal data are replaced by placeholders, as they are when the data set is packed.

    Example: worldtape export data exported/ --to atif
    """
    redactions: Counter[str] = Counter()
    revise = None if with_secrets else _without_secrets(redactions)
    with reading(dataset) as opened:
        if run is not None:
            check_known("run", run, sorted({part.run for part in opened.trajectory_parts()}))
        exported = export_atif(opened, folder, run=run, revise=revise)
    counts = dict(sorted(redactions.items()))
    if as_json:
        show_json(
            {
                "format": to,
                "folder": str(folder),
                "trajectories": exported.num_trajectories,
                "no_place": exported.no_place,
                "redactions": counts,
            }
        )
        return
    note(f"export: {plural(exported.num_trajectories, 'file')} of {to} in {folder}")
    if exported.no_place:
        kinds = ", ".join(plural(number, kind) for kind, number in exported.no_place.items())
        note(f"export: {to} has no place for {kinds}, which stay in the data set")
    if counts:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in counts.items())
        note(f"export: placeholders stand for secrets and personal data: {kinds}")


@extra("curate")
def _without_secrets(redactions: Counter[str]) -> Callable[[dict[str, JsonValue], str], JsonValue]:
    """Makes placeholders of what is found in a document, and counts it."""
    from curation.secrets import redact_document, screen_columns

    def revise(document: dict[str, JsonValue], domain: str) -> JsonValue:
        revised, counts = redact_document(document, columns=screen_columns(domain))
        redactions.update(counts)
        return revised

    return revise
