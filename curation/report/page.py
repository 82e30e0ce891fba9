"""The report's two files: ``report.html``, one self-contained page, and ``report.json``, the same figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from curation.report import wording
from curation.report.facts import Report, gather
from curation.report.packed import Packed, remember_packed, remembered_packed
from curation.sidecar import Sidecar
from trajectories.dataset import Dataset
from trajectories.files import written_whole
from trajectories.plurals import named, plural

if TYPE_CHECKING:
    from jinja2 import Environment

NAME = "report"

_FILTERS = ("count", "share", "percent", "points", "more", "tally", "instant", "decimal", "setting")


class _Section(NamedTuple):
    id: str
    title: str


class _Measure(NamedTuple):
    """What shares are of: its title, and the two of `Amounts` that make a share."""

    title: str
    all: str
    kept: str


_MEASURES = (
    _Measure("turns", "num_turns", "num_kept"),
    _Measure("characters", "code_points", "code_points_kept"),
    _Measure("tokens", "num_tokens", "num_tokens_kept"),
)


def write_report(dataset: Dataset, sidecar: Sidecar, packed: Packed | None = None) -> Path:
    """Write the report of a curation beside its sidecar; returns the page's path. The same data give the same bytes.

    Args:
        packed: what packing came to, where that was just now. It is kept, and told again by every report of the same
            judgements.

    Raises:
        InputError: the sidecar is not whole.
        DamagedFileError: a part cannot be read.
        StorageError: the disk is full or fails.
    """
    if packed is not None:
        remember_packed(sidecar, packed)
    report = gather(dataset, sidecar, remembered_packed(sidecar))
    return write_both(sidecar.folder / NAME, report.model_dump_json(indent=2), render(report))


def write_both(path: Path, figures: str, page: str) -> Path:
    """Write a page and the JSON of its figures, ``path`` with their suffixes; returns the page's."""
    html = path.with_suffix(".html")
    for target, text in ((path.with_suffix(".json"), figures + "\n"), (html, page)):
        with written_whole(target) as file:
            file.write(text.encode())
    return html


def render(report: Report) -> str:
    """The page. What was recorded is escaped, and the page forbids itself all scripts and every connection."""
    from markupsafe import Markup  # here, for only a report needs it

    from curation.report import figures

    # What stands in the plots is escaped by their maker.
    plots = {
        "yields": Markup(figures.yields(report)),
        "class_shares": Markup(figures.class_shares(report)),
        "distributions": Markup(figures.distributions(report)),
    }
    measures = [measure for measure in _MEASURES if getattr(report.total, measure.all) is not None]
    return rendered("page.html.j2", report=report, sections=_sections(report), measures=measures, **plots)


def rendered(template: str, **given: Any) -> str:
    """A page of this package: all strings are escaped, and their control characters made visible."""
    return _environment().get_template(template).render(**given).lstrip()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # here, for only a report needs it

    environment = Environment(
        loader=PackageLoader("curation.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalised,
    )
    environment.filters.update({name: getattr(wording, name) for name in _FILTERS}, plural=plural, named=named)
    return environment


def _finalised(value: object) -> object:
    return wording.visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _sections(report: Report) -> list[_Section]:
    """The sections that the page of a report has, in their order."""
    titles: Mapping[str, str | None] = {
        "recorded": "recorded",
        "yields": "yields",
        "classes": "classes",
        "realised": "kept shares",
        "reasons": "reasons",
        "secrets": None if report.secrets is None else "secrets",
        "duplicates": None if report.duplicates is None else "duplicates",
        "contamination": None if report.contamination is None else "contamination",
        "volatile": None if report.volatile is None else "volatile spans",
        "statistics": "statistics",
        "examples": "examples",
    }
    return [_Section(name, title) for name, title in titles.items() if title is not None]
