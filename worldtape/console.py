"""What the command line shows: progress with rate and time left on stderr, results as tables or JSON on stdout."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import TextIOWrapper
from typing import NoReturn, Protocol, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from trajectories import JsonValue
from trajectories.plurals import named

_PLAIN_LINE_EVERY_S = 5.0
_PLAIN_WIDTH = 200
_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]")
"""What a terminal obeys instead of showing it: control characters, and those that turn the direction of writing."""


class Report(Protocol):
    """How long work tells how far it is; ``detail`` is what else a reader wants to see of it."""

    def __call__(self, done: int, total: int | None, detail: str = "") -> None: ...


@contextmanager
def progress(verb: str, unit: str, units: str | None = None, *, headings: Sequence[str] = ()) -> Iterator[Report]:
    """A live bar in a terminal; elsewhere a plain line every five seconds and one at the end.

    Args:
        unit: what one of what is done is called; ``units`` several, if that is no ``s`` at the end.
        headings: come before the first report: work that is refused beforehand is never announced.
    """
    with _live_bar(verb, unit, units) if sys.stderr.isatty() else _plain_lines(verb, unit, units) as bar:
        waiting = list(headings)

        def report(done: int, total: int | None, detail: str = "") -> None:
            while waiting:
                note(f"{verb}: {waiting.pop(0)}")
            bar(done, total, detail)

        yield report


@contextmanager
def _plain_lines(verb: str, unit: str, units: str | None) -> Iterator[Report]:
    lines = _PlainLines(verb, unit, units)
    yield lines
    lines.finish()


@contextmanager
def _live_bar(verb: str, unit: str, units: str | None) -> Iterator[Report]:
    # Names are no markup: a path may well have [brackets] in it.
    names = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[detail]}", markup=False)
    columns: list[ProgressColumn] = [names[0], BarColumn(), MofNCompleteColumn(), _Unit(unit, units)]
    columns += [_Rate(), TimeRemainingColumn(), names[1]]
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(harmless(verb), total=None, detail="")

        def report(done: int, total: int | None, detail: str = "") -> None:
            bar.update(task, completed=done, total=total, detail=harmless(detail))

        yield report


class _Unit(ProgressColumn):
    def __init__(self, unit: str, units: str | None) -> None:
        super().__init__()
        self._unit, self._units = unit, units

    def render(self, task: Task) -> Text:
        return Text(named(int(task.completed if task.total is None else task.total), self._unit, self._units))


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


@dataclass
class _PlainLines:
    verb: str
    unit: str
    units: str | None
    printed: float = field(default_factory=lambda: time.monotonic())
    first: tuple[int, float] | None = None
    """What was done by when, at the first report: a resumed job does not begin at 0."""
    last: tuple[int, int | None, str] | None = None
    shown: tuple[int, int | None, str] | None = None

    def __call__(self, done: int, total: int | None, detail: str = "") -> None:
        self.first = self.first or (done, time.monotonic())
        self.last = (done, total, detail)
        if time.monotonic() - self.printed >= _PLAIN_LINE_EVERY_S:
            self._print(done, total, detail)

    def finish(self) -> None:
        if self.last is not None and self.last != self.shown:
            self._print(*self.last)

    def _print(self, done: int, total: int | None, detail: str) -> None:
        assert self.first is not None
        self.printed, self.shown = time.monotonic(), (done, total, detail)
        done_before, began = self.first
        unit = named(done if total is None else total, self.unit, self.units)
        words = [f"{done}{'' if total is None else f'/{total}'} {unit}"]
        if done > done_before and self.printed > began:
            rate = (done - done_before) / (self.printed - began)
            words.append(f"{rate:.1f}/s")
            words += [f"{(total - done) / rate:.0f} s left"] if total is not None and done < total else []
        note(f"{self.verb}: {', '.join([*words, detail] if detail else words)}")


def prepare_streams() -> None:
    """Have stdout and stderr take whatever is written: where they are closed, and where they are not Unicode's."""
    sys.stdout = sys.stdout or _nowhere()  # None where the caller has closed it
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # it stays open as long as the program


def note(line: str) -> None:
    """One line for the person, on stderr, so that stdout stays what was asked for."""
    print(harmless(line), file=sys.stderr, flush=True)  # noqa: T201


def harmless(text: str) -> str:
    """A text with what a terminal would obey shown as ``\\x1b``: recorded texts and names may be hostile."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


@contextmanager
def _for_a_reader() -> Iterator[None]:
    """Output to stdout; leaves quietly where the reader has seen enough (``worldtape inspect … | head``)."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


class _Stdout(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to ``_for_a_reader``; rich itself would exit with 1."""
        raise BrokenPipeError


def _stdout() -> _Stdout:
    """Where tables go; a file or a pipe has no width to fit into."""
    return _Stdout(width=None if sys.stdout.isatty() else _PLAIN_WIDTH)


def show_json(value: object) -> None:
    """The machine's form of a report: one JSON document on stdout. What JSON cannot say becomes text."""
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, indent=2)
    with _for_a_reader():
        print(text)  # noqa: T201


def _plain(value: object) -> JsonValue:
    """JSON's own types: instants in ISO form, ``Infinity`` and ``NaN`` as strings."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def show_text(text: str) -> None:
    """A text for a person, as it is but for control characters."""
    with _for_a_reader():
        print(harmless(text))  # noqa: T201


def show_facts(title: str, facts: Mapping[str, object]) -> None:
    """Names and values, one a line."""
    table = Table(title=_text(title, style="italic"), title_justify="left", show_header=False, box=None)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(_text(name), _text(str(value)))
    with _for_a_reader():
        _stdout().print(table)


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Rows under column names; whole numbers with separators, numbers to the right."""
    cells = [list(row) for row in rows]
    table = Table(box=None, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = bool(cells) and all(isinstance(row[index], int | float) for row in cells)
        table.add_column(_text(column), justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*(_text(_shown(value)) for value in row))
    with _for_a_reader():
        console = _stdout()
        console.print(_text(title, style="italic"))
        console.print(table)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _text(text: str, style: str = "") -> Text:
    """A text as it is: of a plain string rich obeys what stands in brackets."""
    return Text(harmless(text), style=style)
