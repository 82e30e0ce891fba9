"""The table a benchmark prints: what was measured, the figures, the ratio to the table's own reference, the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from worldtape.console import show_table


class Row(NamedTuple):
    """One line; ``figures`` belong to the table's columns."""

    what: str
    figures: Sequence[str]
    ratio: float
    """To the reference, so that more than 1 is better than it."""
    target: str = ""


class Table(NamedTuple):
    """A benchmark's result. ``reference`` names the row whose ratio is 1."""

    title: str
    columns: Sequence[str]
    reference: str
    rows: Sequence[Row]

    def show(self) -> None:
        """Print it."""
        names = ("what", *self.columns, f"× {self.reference}", "target")
        show_table(self.title, names, [(row.what, *row.figures, f"{row.ratio:.2f}", row.target) for row in self.rows])
