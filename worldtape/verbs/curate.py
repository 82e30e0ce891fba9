"""``worldtape curate``: judge every turn, write the sidecar table and the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trajectories import JsonValue
from worldtape.console import note, progress, show_json, show_table
from worldtape.extras import extra
from worldtape.options import Scheduler, Workers

if TYPE_CHECKING:
    from curation import CurationSummary
    from curation.contamination import ContaminationSummary
    from curation.duplicates import DuplicatesSummary

NAME = "curate"


@extra("curate")
def run(
    dataset: Annotated[Path, typer.Argument(help="The data set's folder.")],
    name: Annotated[str, typer.Option(help="Of this curation; a data set may have several.")] = "default",
    profile: Annotated[
        Path | None, typer.Option(help="TOML file with thresholds, keep ratios and seed (default: the format's own).")
    ] = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew where the name is taken.")] = False,
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="Also find exact and near-duplicates of turns and trajectories.")
    ] = False,
    benchmark: Annotated[
        list[Path] | None,
        typer.Option(help="Also find what this benchmark file or folder has in common with the data. May be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Judge every turn: statistics, one of seven classes, its keep ratio, whether it stays in the loss; and a report.

    The text is never rewritten: the judgement is a sidecar table, DATASET/curation/NAME. Duplicates and contamination
    are tables beside it; they say what was found, and mask nothing.

    Example: worldtape curate data --workers 8 --duplicates --benchmark terminal_test.jsonl
    """
    from curation import CurationProfile, curate, passes, write_report
    from curation.contamination import find_contamination
    from curation.duplicates import find_duplicates
    from trajectories import Dataset

    opened = Dataset(str(dataset))
    chosen = CurationProfile.from_toml(profile) if profile else CurationProfile()
    note(f"curate: {dataset} as '{name}'")
    with opened.naming_damage(), progress("curate", "row groups") as report:
        summary = curate(
            opened,
            name=name,
            profile=chosen,
            scheduler=scheduler,
            workers=workers,
            overwrite=overwrite,
            progress=report,
        )
    with opened.naming_damage():
        page = write_report(opened, summary.sidecar)
    spread_over = passes.Workers(scheduler=scheduler, number=workers)
    copies, quotations = None, None
    if duplicates:
        note("curate: looking for duplicates")
        copies = find_duplicates(opened, name=name, workers=spread_over)
    if benchmark:
        note("curate: looking for contamination")
        quotations = find_contamination(opened, benchmark, name=name, workers=spread_over)
    if as_json:
        show_json(_as_json(summary, page, copies, quotations))
        return
    _show(summary)
    if copies is not None:
        _show_duplicates(copies)
    if quotations is not None:
        _show_contamination(quotations)
    note(f"curate: the report is {page}")


def _as_json(
    summary: CurationSummary, page: Path, copies: DuplicatesSummary | None, quotations: ContaminationSummary | None
) -> dict[str, JsonValue]:
    return {
        "sidecar": str(summary.sidecar.folder),
        "report": str(page),
        "turns": summary.num_turns,
        "kept": summary.num_kept,
        "unreadable": summary.num_unreadable,
        "classes": {
            str(kind): {"turns": count.num_turns, "kept": count.num_kept} for kind, count in summary.classes.items()
        },
        "duplicates": None if copies is None else copies.model_dump(mode="json"),
        "contamination": None if quotations is None else quotations.model_dump(mode="json"),
    }


def _show(summary: CurationSummary) -> None:
    rows = [
        (kind, count.num_turns, f"{count.num_turns / max(1, summary.num_turns):.1%}", count.num_kept)
        for kind, count in summary.classes.items()
    ]
    show_table(
        f"{summary.num_turns:,} turns, {summary.num_kept:,} in the loss", ("class", "turns", "share", "kept"), rows
    )
    if summary.num_unreadable:
        note(f"curate: {summary.num_unreadable} turns cannot be read and are masked")


def _show_duplicates(found: DuplicatesSummary) -> None:
    rows = [
        (scope, counts.num_texts, counts.num_clusters, counts.num_exact, counts.num_near)
        for scope, counts in (("turns", found.turns), ("trajectories", found.trajectories))
    ]
    show_table("Duplicates", ("of", "looked at", "clusters", "exact copies", "near copies"), rows)


def _show_contamination(found: ContaminationSummary) -> None:
    rows = [(source, facts.num_items, found.items_found.get(source, 0)) for source, facts in found.sources.items()]
    show_table(
        f"Contamination: {found.num_trajectories:,} trajectories touched, {found.num_turns:,} turns in them",
        ("benchmark", "items", "of them found"),
        rows,
    )
