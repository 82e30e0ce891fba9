"""``worldtape import``: other people's trajectories, with a report of what was lost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trajectories import Dataset, JsonValue
from trajectories.importers import FORMATS, ImportReport, import_trajectories
from worldtape.console import note, progress, show_facts, show_json, show_table

NAME = "import"


def run(
    source_format: Annotated[str, typer.Argument(metavar="FORMAT", help=f"One of: {', '.join(FORMATS)}.")],
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files, or folders to look for files in.")],
    dataset: Annotated[Path, typer.Option(help="The data set's folder.")],
    run: Annotated[str | None, typer.Option(help="What to call it (default: import-FORMAT).")] = None,
    domain: Annotated[str | None, typer.Option(help="Their domain, where the importer would choose wrong.")] = None,
    licence: Annotated[str, typer.Option(help="Of the files; every trajectory's row names it.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Import nothing if anything cannot be read.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Import trajectories of another format, whole or not at all, and report what was lost.

    Importing the same files again writes nothing new.

    Example: worldtape import atif runs/ --dataset data --licence Apache-2.0
    """
    with progress("import", "trajectories") as report_progress:
        report = import_trajectories(
            Dataset(str(dataset)),
            source_format,
            paths,
            run=run,
            domain=domain,
            licence=licence,
            strict=strict,
            progress=report_progress,
        )
    _show(report, as_json=as_json)


def _show(report: ImportReport, *, as_json: bool) -> None:
    facts = report.as_json()
    if as_json:
        show_json(facts)
        return
    counts = ("sources", "trajectories", "turns", "already_there", "unreadable")
    show_facts(f"Imported as the run '{report.run}'", {name.replace("_", " "): facts[name] for name in counts})
    rows = _loss_rows(report.loss.as_json())
    if rows:
        show_table("What was lost, and what was decided", ("what", "kind", "count"), rows)
    for problem in report.problems:
        note(f"import: not imported: {problem}")
    if report.num_problems > len(report.problems):
        note(f"import: and {report.num_problems - len(report.problems)} more")


def _loss_rows(loss: dict[str, JsonValue]) -> list[tuple[str, str, object]]:
    return [
        (part.replace("_", " "), kind, count)
        for part, counts in loss.items()
        if isinstance(counts, dict)
        for kind, count in counts.items()
    ]
