"""The plots of a report, as SVG to stand inside a page: no font, no script, no date, the same bytes for the same facts.

Colours are written as stand-ins and replaced by the page's own CSS variables, so that a plot follows light and dark.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from curation.classes import CLASSES
from curation.report.facts import Report
from curation.report.histograms import Histogram
from curation.report.wording import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

_INK, _SOFT, _PAPER, _ACCENT = "#010101", "#020202", "#030303", "#040404"
_CLASS_COLOURS = [f"#0c0c0{place}" for place in range(len(CLASSES))]
_DOMAIN_COLOURS = [f"#0d0d0{place}" for place in range(8)]
_VARIABLES = {
    _INK: "ink",
    _SOFT: "soft",
    _PAPER: "paper",
    _ACCENT: "accent",
    **{colour: f"class-{name}" for colour, name in zip(_CLASS_COLOURS, CLASSES, strict=True)},
    **{colour: f"domain-{place}" for place, colour in enumerate(_DOMAIN_COLOURS)},
}
"""The CSS variable each stand-in colour is replaced by."""

_STYLE: dict[RcKeyType, str | float | bool] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "worldtape",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
}
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_IDENTIFIER = re.compile(r'(?<= id=")|(?<=url\(#)|(?<=href="#)')
"""Where an identifier begins. Two plots have the same ones, and a page may have each once."""
_LABELLED_SHARE = 0.06
_WIDTH_INCHES = 9.2
_ROW_INCHES = 0.42


def yields(report: Report) -> str:
    """Two bars a stage that masks something: the share of the turns that is left, and of the code points."""
    first, *others = report.stages
    left = [first]
    left += (stage for before, stage in pairwise(report.stages) if stage.num_turns < before.num_turns)
    if left[-1] is not others[-1]:
        left.append(others[-1])
    measures = (
        (_ACCENT, [stage.num_turns / (first.num_turns or 1) for stage in left]),
        (_SOFT, [stage.code_points / (first.code_points or 1) for stage in left]),
    )

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for place, (colour, shares) in enumerate(measures):
            rows = [row + 0.4 * place - 0.2 for row in range(len(left))]
            axes.barh(rows, shares, height=0.36, color=colour)
            for row, share in zip(rows, shares, strict=True):
                axes.text(share + 0.005, row, f"{share:.1%}", ha="left", va="center", fontsize=8.5, color=_INK)
        _tidy_rows(axes, [stage.title for stage in left])
        axes.set_xlim(0, 1.07)
        axes.set_xticks([share / 5 for share in range(6)])

    return _drawn("yields", "What each stage leaves", 0.52 * len(left) + 0.5, draw)


def class_shares(report: Report) -> str:
    """A bar a domain, cut by class, and one of all of them."""
    domains = [facts.domain for facts in report.dataset.domains]
    bars = {domain: [facts.num_turns_of(domain) for facts in report.classes] for domain in domains}
    if len(domains) > 1:
        bars["all"] = [facts.total.num_turns for facts in report.classes]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for row, counts in enumerate(bars.values()):
            _stacked_bar(axes, row, counts)
        _tidy_rows(axes, list(bars))

    return _drawn("classes", "Class shares by domain", _ROW_INCHES * len(bars) + 0.5, draw)


def _tidy_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Rows from top to bottom, and shares of 100 % across."""
    axes.set_yticks(range(len(labels)), [visible(label) for label in labels])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _stacked_bar(axes: Axes, row: int, counts: Sequence[int]) -> None:
    left, total = 0.0, sum(counts) or 1
    for place, count in enumerate(counts):
        share = count / total
        axes.barh(row, share, left=left, height=0.68, color=_CLASS_COLOURS[place], edgecolor=_PAPER, linewidth=1)
        if share >= _LABELLED_SHARE:
            axes.text(left + share / 2, row, f"{share:.0%}", ha="center", va="center", fontsize=9, color=_PAPER)
        left += share


def distributions(report: Report) -> str:
    """The four statistics side by side, a line a domain, as shares of the domain's turns."""
    domains = [facts.domain for facts in report.dataset.domains]

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, len(report.statistics))
        for axes, histogram in zip(panels, report.statistics, strict=True):
            _steps(axes, histogram, domains)
        panels[0].set_ylabel("share of turns")

    return _drawn("distributions", "Distributions of the statistics", 2.3, draw)


def _steps(axes: Axes, histogram: Histogram, domains: Sequence[str]) -> None:
    for place, domain in enumerate(domains):
        counts = histogram.by_domain.get(domain, [])
        shares = [count / (sum(counts) or 1) for count in counts]
        if shares:
            again, place_of_colour = divmod(place, len(_DOMAIN_COLOURS))
            colour = _DOMAIN_COLOURS[place_of_colour]
            axes.stairs(shares, histogram.edges, color=colour, linewidth=1.4, linestyle="--" if again else "-")
            axes.stairs(shares, histogram.edges, color=colour, fill=True, alpha=0.14)
    axes.set_title(histogram.name, fontsize=10, loc="left")
    axes.set_xlim(histogram.edges[0], histogram.edges[-1])
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.locator_params(nbins=4)


def _drawn(name: str, title: str, height: float, draw: Callable[[Figure], None]) -> str:
    """The SVG element of what ``draw`` puts on a figure ``height`` inches high, its stand-in colours replaced.

    Args:
        name: of this figure on its page; its identifiers begin with it.
    """
    import matplotlib as mpl  # here, for it is slow to load
    from matplotlib.figure import Figure

    written = io.StringIO()
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH_INCHES, height), layout="constrained")
        draw(figure)
        figure.savefig(
            written, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Title": title}
        )
    svg = written.getvalue()
    svg = _METADATA.sub("", svg[svg.index("<svg") :], count=1)
    svg = _IDENTIFIER.sub(f"{name}-", svg)
    for stand_in, variable in _VARIABLES.items():
        svg = svg.replace(stand_in, f"var(--{variable})")
    return svg
