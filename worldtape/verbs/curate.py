"""``worldtape curate``: judge every turn, write the sidecar table and the report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from trajectories import JsonValue
from trajectories.plurals import plural
from worldtape.console import note, progress, show_json, show_table
from worldtape.datasets import local_dataset, note_uncommitted
from worldtape.extras import extra
from worldtape.options import Scheduler, Workers, path_here

if TYPE_CHECKING:
    from curation import CurationSummary
    from curation.contamination import ContaminationSummary
    from curation.duplicates import DuplicatesSummary
    from curation.passes import Progress
    from curation.replays import VolatileSummary
    from curation.secrets.table import SecretsSummary
    from trajectories import Dataset

NAME = "curate"

_NUM_NAMED = 5
_NUM_ALWAYS = 3
"""Columns of the benchmarks' table that are shown whatever is in them."""


@extra("curate")
def run(
    dataset: Annotated[str, typer.Argument(help="The data set's folder.")],
    name: Annotated[str, typer.Option(help="Of this curation; a data set may have several.")] = "default",
    profile: Annotated[
        Path | None,
        typer.Option(
            help="TOML file: thresholds, keep ratios, filters, searches and seed (default: the format's own).",
            parser=path_here,
            metavar="PATH",
        ),
    ] = None,
    draw: Annotated[
        Literal["turn", "token"] | None,
        typer.Option(help="What keep ratios are the share of, instead of what the profile says (turns)."),
    ] = None,
    benchmark: Annotated[
        list[Path] | None,
        typer.Option(
            help="Mask what has an item of this benchmark in it: a file or folder (default: none). Repeatable.",
            parser=path_here,
            metavar="PATH",
        ),
    ] = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Begin anew where the name is taken; what stands can be read until then."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Judge every turn: what is known of it, one of seven classes, whether it stays in the loss; and a report.

    Looks for secrets, duplicates and what benchmarks were given, measures, filters and draws. The text is never
    rewritten: all of it is tables, DATASET/curation/NAME.

    Example: worldtape curate data --benchmark terminal_test.jsonl --workers 8
    """
    from curation import CurationProfile, Draw, curate, write_report

    opened = local_dataset(dataset)
    chosen = CurationProfile.from_toml(profile) if profile else CurationProfile()
    if draw is not None:
        chosen = chosen.model_copy(update={"draw": Draw(draw)})
    note_uncommitted(NAME, opened)
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
    for path in benchmark or ():
        _note_unread(path)
    found = _Found.of(opened, summary)
    if as_json:
        show_json(_as_json(summary, page, found))
        return
    _show(summary)
    if found.secrets is not None:
        _show_secrets(found.secrets)
    if found.duplicates is not None:
        _show_duplicates(found.duplicates)
    if found.contamination is not None:
        _show_contamination(found.contamination)
    if found.volatile is not None:
        note(f"curate: {plural(found.volatile.num_turns_with_spans, 'turn')} with volatile spans, which leave the loss")
    note(f"curate: the report is {page}")


@contextmanager
def _shown(stage: str) -> Iterator[Progress]:
    """How far a stage is, in megabytes of text."""
    with progress(f"curate, {stage}", "MB", "MB") as report:

        def in_megabytes(done: int, total: int) -> None:
            report(-(-done // 10**6), -(-total // 10**6))

        yield in_megabytes


class _Found(NamedTuple):
    """What the searches of a curation came to; None for one that was not made."""

    secrets: SecretsSummary | None
    duplicates: DuplicatesSummary | None
    contamination: ContaminationSummary | None
    volatile: VolatileSummary | None

    @classmethod
    def of(cls, dataset: Dataset, summary: CurationSummary) -> _Found:
        from curation.contamination import open_contamination
        from curation.duplicates import open_duplicates
        from curation.replays import open_volatile
        from curation.secrets.table import open_secrets

        name, made = summary.sidecar.name, summary.searches
        return cls(
            open_secrets(dataset, name).summary() if "secrets" in made else None,
            open_duplicates(dataset, name).summary() if "duplicates" in made else None,
            open_contamination(dataset, name).summary() if "contamination" in made else None,
            open_volatile(dataset, name).summary() if "volatile" in made else None,
        )


def _note_unread(benchmark: Path) -> None:
    """Tell what of a benchmark's folder was not looked for."""
    from curation.contamination import unread_files

    unread = unread_files(benchmark)
    if unread:
        names = ", ".join(unread[:_NUM_NAMED])
        more = f" and {len(unread) - _NUM_NAMED} more" if len(unread) > _NUM_NAMED else ""
        told = f"{plural(len(unread), 'file')} of {benchmark} not read (links, no text, or not UTF-8)"
        note(f"curate: {told}: {names}{more}")


def _as_json(summary: CurationSummary, page: Path, found: _Found) -> dict[str, JsonValue]:
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
        **{name: None if one is None else one.model_dump(mode="json") for name, one in found._asdict().items()},
    }


def _show(summary: CurationSummary) -> None:
    from curation.reasons import MEANINGS

    rows = [
        (kind, count.num_turns, f"{count.num_turns / max(1, summary.num_turns):.1%}", count.num_kept)
        for kind, count in summary.classes.items()
    ]
    title = f"{plural(summary.num_turns, 'turn')}, {summary.num_kept:,} in the loss"
    show_table(
        title,
        ("class", "turns", "share", "kept"),
        rows,
    )
    reasons = [(reason, count, MEANINGS[reason]) for reason, count in summary.reasons.items()]
    show_table("Why turns are in the loss, or are not", ("reason", "turns", "which means"), reasons)


def _show_secrets(found: SecretsSummary) -> None:
    rows = [
        (kind, facts.num_findings, facts.num_before_turns, facts.num_turns, facts.num_trajectories)
        for kind, facts in found.kinds.items()
    ]
    if rows:
        title = (
            "Secrets and personal data, found by a rule: packing and exports put placeholders in their place, and in "
            "every other place of the same value"
        )
        show_table(title, ("kind", "found", "in the task or system text", "in turns", "in trajectories"), rows)


def _show_duplicates(found: DuplicatesSummary) -> None:
    rows = [
        (scope, counts.num_texts, counts.num_clusters, counts.num_exact, counts.num_near)
        for scope, counts in (("turns", found.turns), ("trajectories", found.trajectories))
    ]
    show_table("Duplicates", ("of", "looked at", "clusters", "exact copies of the survivor", "near copies"), rows)


def _show_contamination(found: ContaminationSummary) -> None:
    rows = [
        (source, facts.num_items, found.items_found.get(source, 0), facts.num_too_short, facts.num_only_common)
        for source, facts in found.sources.items()
    ]
    columns = ("benchmark", "items", "of them found", "too short", "only boilerplate")
    shown = [place for place in range(len(columns)) if place < _NUM_ALWAYS or any(row[place] for row in rows)]
    show_table(
        f"Contamination: {plural(found.num_trajectories, 'trajectory', 'trajectories')} touched, "
        f"{plural(found.num_turns, 'turn')} in them",
        [columns[place] for place in shown],
        [[row[place] for place in shown] for row in rows],
    )
    num_lost = sum(facts.num_too_short + facts.num_only_common for facts in found.sources.values())
    if num_lost:
        note(
            f"curate: {plural(num_lost, 'item')} cannot be found: for short ones give a smaller "
            f"[contamination] ngram_words in the profile (now {found.settings.ngram_words}), for those that are only "
            f"boilerplate a larger common_items (now {found.settings.common_items})"
        )
