"""``worldtape curate``: judge every turn, write the sidecar table and the report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from trajectories import JsonValue
from worldtape.console import note, progress, show_json, show_table
from worldtape.extras import extra
from worldtape.options import Scheduler, Workers

if TYPE_CHECKING:
    from curation import CurationSummary
    from curation.contamination import ContaminationSummary
    from curation.duplicates import DuplicatesSummary
    from curation.passes import Progress
    from trajectories import Dataset

NAME = "curate"


@extra("curate")
def run(
    dataset: Annotated[Path, typer.Argument(help="The data set's folder.")],
    name: Annotated[str, typer.Option(help="Of this curation; a data set may have several.")] = "default",
    profile: Annotated[
        Path | None,
        typer.Option(
            help="TOML file: thresholds, keep ratios, filters, searches and seed (default: the format's own)."
        ),
    ] = None,
    draw: Annotated[
        Literal["turn", "token"] | None,
        typer.Option(help="What keep ratios are the share of, instead of what the profile says (turns)."),
    ] = None,
    benchmark: Annotated[
        list[Path] | None,
        typer.Option(help="Mask what has an item of this benchmark file or folder in it. May be repeated."),
    ] = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew where the name is taken.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Judge every turn: what is known of it, one of seven classes, whether it stays in the loss; and a report.

    Looks for secrets, duplicates and what benchmarks were given, measures, filters and draws. The text is never
    rewritten: all of it is tables, DATASET/curation/NAME.

    Example: worldtape curate data --benchmark terminal_test.jsonl --workers 8
    """
    from curation import CurationProfile, curate, write_report
    from trajectories import Dataset

    opened = Dataset(str(dataset))
    chosen = CurationProfile.from_toml(profile) if profile else CurationProfile()
    if draw is not None:
        chosen = CurationProfile.model_validate({**chosen.model_dump(), "draw": draw})
    with opened.naming_damage():
        summary = curate(
            opened,
            name=name,
            profile=chosen,
            benchmarks=benchmark or (),
            scheduler=scheduler,
            workers=workers,
            overwrite=overwrite,
            watch=_shown,
        )
        page = write_report(opened, summary.sidecar)
    copies, quotations = _found(opened, summary)
    if as_json:
        show_json(_as_json(summary, page, copies, quotations))
        return
    _show(summary)
    if copies is not None:
        _show_duplicates(copies)
    if quotations is not None:
        _show_contamination(quotations)
    note(f"curate: the report is {page}")


@contextmanager
def _shown(stage: str) -> Iterator[Progress]:
    """How far a stage is, in megabytes of text."""
    with progress(f"curate, {stage}", "MB") as report:

        def in_megabytes(done: int, total: int) -> None:
            report(-(-done // 10**6), -(-total // 10**6))

        yield in_megabytes


def _found(dataset: Dataset, summary: CurationSummary) -> tuple[DuplicatesSummary | None, ContaminationSummary | None]:
    """What the searches of this curation came to; None for one that was not made."""
    from curation.contamination import open_contamination
    from curation.duplicates import open_duplicates

    sidecar = summary.sidecar
    copies, quotations = open_duplicates(dataset, sidecar.name), open_contamination(dataset, sidecar.name)
    return (
        copies.summary() if "duplicates" in summary.searches else None,
        quotations.summary() if "contamination" in summary.searches else None,
    )


def _as_json(
    summary: CurationSummary, page: Path, copies: DuplicatesSummary | None, quotations: ContaminationSummary | None
) -> dict[str, JsonValue]:
    return {
        "sidecar": str(summary.sidecar.folder),
        "report": str(page),
        "turns": summary.num_turns,
        "kept": summary.num_kept,
        "unreadable": summary.num_unreadable,
        "reasons": {str(reason): count for reason, count in summary.reasons.items()},
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
    show_table("Why turns are in the loss, or are not", ("reason", "turns"), summary.reasons.items())


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
