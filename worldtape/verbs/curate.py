"""``worldtape curate``: judge every turn, write the sidecar table and the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from worldtape.console import note, show_json, show_table
from worldtape.extras import extra

if TYPE_CHECKING:
    from curation import CurationSummary

NAME = "curate"


def run(
    dataset: Annotated[Path, typer.Argument(help="The data set's folder.")],
    name: Annotated[str, typer.Option(help="Of this curation; a data set may have several.")] = "default",
    profile: Annotated[
        Path | None, typer.Option(help="TOML file with thresholds, keep ratios and seed (default: the format's own).")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler (default: this machine).")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes on this machine (default: its cores).")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew where the name is taken.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Judge every turn: statistics, one of seven classes, its keep ratio, whether it stays in the loss; and a report.

    The text is never rewritten: the judgement is a sidecar table, DATASET/curation/NAME.

    Example: worldtape curate data --workers 8
    """
    with extra("curate"):
        from curation import CurationProfile, curate, write_report
        from trajectories import Dataset

    opened = Dataset(str(dataset))
    chosen = CurationProfile.from_toml(profile) if profile else CurationProfile()
    note(f"curate: {dataset} as '{name}'")
    summary = curate(opened, name=name, profile=chosen, scheduler=scheduler, workers=workers, overwrite=overwrite)
    report = write_report(opened, summary.sidecar)
    _show(summary, report, as_json=as_json)


def _show(summary: CurationSummary, report: Path, *, as_json: bool) -> None:
    if as_json:
        show_json(
            {
                "sidecar": str(summary.sidecar.folder),
                "report": str(report),
                "turns": summary.num_turns,
                "kept": summary.num_kept,
                "unreadable": summary.num_unreadable,
                "classes": {
                    str(kind): {"turns": count.num_turns, "kept": count.num_kept}
                    for kind, count in summary.classes.items()
                },
            }
        )
        return
    rows = [
        (kind, count.num_turns, f"{count.num_turns / max(1, summary.num_turns):.1%}", count.num_kept)
        for kind, count in summary.classes.items()
    ]
    show_table(
        f"{summary.num_turns:,} turns, {summary.num_kept:,} in the loss", ("class", "turns", "share", "kept"), rows
    )
    if summary.num_unreadable:
        note(f"curate: {summary.num_unreadable} turns cannot be read and are masked")
    note(f"curate: the report is {report}")
