"""``worldtape report``: write the report of a curation, and compare it with another's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trajectories import JsonValue
from trajectories.plurals import plural
from worldtape.console import note, show_json, show_table
from worldtape.datasets import local_dataset, note_unjudged
from worldtape.extras import extra

if TYPE_CHECKING:
    from curation.report import Comparison, Report
    from curation.report.comparing import Shares

NAME = "report"

_Row = tuple[object, ...]


@extra("curate")
def run(
    dataset: Annotated[str, typer.Argument(help="The data set's folder.")],
    name: Annotated[str, typer.Option(help="Of the curation.")] = "default",
    against: Annotated[
        str | None,
        typer.Option(
            help="Also compare it with this: another curation's name, a report.json, or another data set's folder."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write the report of a curation anew: a page to read, and the same figures as JSON.

    With --against, also what differs from another: settings, shares, reasons, findings, and, where both are curations
    of one data set, what became of each turn.

    Example: worldtape report data --name strict --against default
    """
    from curation import open_sidecar, write_report
    from curation.report import find_report, read_report, write_comparison

    opened = local_dataset(dataset)
    sidecar = open_sidecar(opened, name)
    with opened.naming_damage():
        other = None if against is None else find_report(opened, name, against)
        page = write_report(opened, sidecar)
        report = read_report(page.with_name("report.json"))
        compared = None if other is None else write_comparison(sidecar, other)
    if as_json:
        show_json(_as_json(report, page, compared))
        return
    _show(report)
    note_unjudged(NAME, opened, report.num_parts_unjudged)
    note(f"report: the report is {page}")
    if compared is not None:
        _show_comparison(compared[1])
        note(f"report: the comparison is {compared[0]}")


def _as_json(report: Report, page: Path, compared: tuple[Path, Comparison] | None) -> dict[str, JsonValue]:
    return {
        "report": str(page),
        "parts_unjudged": report.num_parts_unjudged,
        "turns": report.total.num_turns,
        "kept": report.total.num_kept,
        "classes": {
            str(facts.name): {"turns": facts.total.num_turns, "kept": facts.total.num_kept} for facts in report.classes
        },
        "reasons": {str(facts.name): facts.num_turns for facts in report.reasons},
        "comparison": None if compared is None else {"page": str(compared[0]), **compared[1].model_dump(mode="json")},
    }


def _show(report: Report) -> None:
    total = report.total
    rows = [
        (
            facts.name,
            facts.total.num_turns,
            _share(facts.total.num_turns, total.num_turns),
            facts.total.num_kept,
            _share(facts.total.num_kept, facts.total.num_turns),
            _share(facts.total.code_points_kept, facts.total.code_points),
        )
        for facts in report.classes
    ]
    show_table(
        f"{plural(total.num_turns, 'turn')}, {total.num_kept:,} in the loss",
        ("class", "turns", "share", "kept", "kept of them", "of their text"),
        rows,
    )
    reasons = [(facts.name, facts.num_turns, facts.meaning) for facts in report.reasons]
    show_table("Why turns are in the loss, or are not", ("reason", "turns", "which means"), reasons)


def _show_comparison(compared: Comparison) -> None:
    show_table(
        f"Against '{compared.other.curation}' of {compared.other.dataset}",
        ("share", "theirs", "ours", "difference"),
        _compared_rows(compared),
    )
    changes = compared.changes
    if changes is not None:
        note(
            f"report: of {plural(changes.total.num_turns, 'turn')}, "
            f"{changes.total.num_fate_changed:,} changed their fate and {changes.total.num_class_changed:,} their class"
        )


def _compared_rows(compared: Comparison) -> Iterator[_Row]:
    yield _compared("turns in the loss", compared.total.kept_turns)
    yield _compared("text in the loss", compared.total.kept_code_points)
    for of_class in compared.classes:
        yield _compared(str(of_class.name), of_class.share)
        yield _compared(f"{of_class.name}, kept", of_class.total.kept_turns)
    for reason in compared.reasons:
        yield _compared(reason.name.replace("_", " "), reason.share)


def _compared(what: str, shares: Shares) -> _Row:
    theirs, ours = ("–" if value is None else f"{value:.1%}" for value in (shares.other, shares.this))
    return what, theirs, ours, "–" if shares.points is None else f"{shares.points:+.1f} pp"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"
