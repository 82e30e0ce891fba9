"""What the command line shows: progress with rate and time left on stderr, results as tables or JSON on stdout."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from trajectories import JsonValue

_PLAIN_LINE_EVERY_S = 5.0
_PLAIN_WIDTH = 200


class Report(Protocol):
    """How long work tells how far it is; ``detail`` is what else a reader wants to see of it."""

    def __call__(self, done: int, total: int | None, detail: str = "") -> None: ...


@contextmanager
def progress(verb: str, unit: str) -> Iterator[Report]:
    """A live bar in a terminal; elsewhere a plain line every five seconds and one at the end."""
    if sys.stderr.isatty():
        with _live_bar(verb, unit) as report:
            yield report
        return
    lines = _PlainLines(verb, unit)
    yield lines
    lines.finish()


@contextmanager
def _live_bar(verb: str, unit: str) -> Iterator[Report]:
    columns: list[ProgressColumn] = [TextColumn(verb), BarColumn(), MofNCompleteColumn(), TextColumn(unit)]
    columns += [_Rate(), TimeRemainingColumn(), TextColumn("{task.fields[detail]}")]
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(verb, total=None, detail="")

        def report(done: int, total: int | None, detail: str = "") -> None:
            bar.update(task, completed=done, total=total, detail=detail)

        yield report


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


@dataclass
class _PlainLines:
    verb: str
    unit: str
    started: float = field(default_factory=time.monotonic)
    printed: float = field(default_factory=time.monotonic)
    last: tuple[int, int | None, str] | None = None

    def __call__(self, done: int, total: int | None, detail: str = "") -> None:
        self.last = (done, total, detail)
        if time.monotonic() - self.printed >= _PLAIN_LINE_EVERY_S:
            self._print(done, total, detail)

    def finish(self) -> None:
        if self.last is not None:
            self._print(*self.last)

    def _print(self, done: int, total: int | None, detail: str) -> None:
        self.printed = time.monotonic()
        seconds = self.printed - self.started
        rate = done / seconds if seconds > 0 else 0.0
        of = f"/{total}" if total is not None else ""
        left = f", {(total - done) / rate:.0f} s left" if total is not None and rate and done < total else ""
        note(f"{self.verb}: {done}{of} {self.unit}, {rate:.1f}/s{left}{', ' if detail else ''}{detail}")


def note(line: str) -> None:
    """One line for the person, on stderr, so that stdout stays what was asked for."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def show_json(value: JsonValue) -> None:
    """The machine's form of a report: one JSON document on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201


def show_text(text: str) -> None:
    print(text)  # noqa: T201


def show_facts(title: str, facts: Mapping[str, object]) -> None:
    """Names and values, one a line."""
    table = Table(title=title, title_justify="left", show_header=False, box=None)
    for name, value in facts.items():
        table.add_row(name, Text(str(value)))
    Console(soft_wrap=True).print(table)


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows under column names; whole numbers with separators, numbers to the right."""
    cells = [list(row) for row in rows]
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = bool(cells) and all(isinstance(row[index], int | float) for row in cells)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(_shown(value)) for value in row))
    # A file or a pipe has no width to fit into.
    Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH).print(table)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
