"""The report's two files: ``report.html``, one self-contained page, and ``report.json``, the same figures."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from curation.report import figures
from curation.report.facts import Report, gather
from curation.sidecar import Sidecar
from trajectories.dataset import Dataset
from trajectories.files import written_whole

_VISIBLE: dict[int, int] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}
"""Pictures for control characters; a replacement for those that turn the direction of writing."""


def write_report(dataset: Dataset, sidecar: Sidecar) -> Path:
    """Write the report of a curation beside its sidecar; returns the page's path. The same data give the same bytes.

    Raises:
        InputError: the sidecar is not whole.
    """
    report = gather(dataset, sidecar)
    page = sidecar.folder / "report.html"
    for path, text in (
        (sidecar.folder / "report.json", report.model_dump_json(indent=2) + "\n"),
        (page, render(report)),
    ):
        with written_whole(path) as file:
            file.write(text.encode())
    return page


def render(report: Report) -> str:
    """The page. What was recorded is escaped, and the page forbids itself all scripts and every connection."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # here, for only a report needs it
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("curation.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(count=_count, share=_share, visible=_visible, tally=_tally, instant=_instant)
    # What stands in the plots is escaped by their maker.
    plots = {
        "class_shares": Markup(figures.class_shares(report)),
        "distributions": Markup(figures.distributions(report)),
    }
    return environment.get_template("page.html.j2").render(report=report, **plots)


def _count(number: int) -> str:
    return f"{number:,}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def _tally(counts: dict[str, int]) -> str:
    """``20 × completed, 1 × failed``, or a dash. A line breaks between the names, and not before them."""
    return ", ".join(f"{number:,}\u00a0×\u00a0{name}" for name, number in counts.items()) or "–"


def _instant(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y, %H:%M}"


def _visible(text: str) -> str:
    """A recorded text with its control characters made visible."""
    return text.translate(_VISIBLE)
