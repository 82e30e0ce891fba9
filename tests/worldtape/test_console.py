"""Progress with a terminal and without, and tables: names are shown as they are, and never obeyed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count

import pytest

from tests.worldtape.conftest import HOSTILE
from worldtape.console import harmless, progress, show_facts, show_json, show_table

_MARKUP = "runs[/v2]/[bold]c[/bold] :warning: {task.id}.jsonl"
_AT_ONCE = 65_536


@pytest.fixture
def shown_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], str]:
    """What a program writes to stderr where that is a terminal of 200 columns."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")

    def shown(program: Callable[[], None]) -> str:
        ours, its = os.openpty()
        with os.fdopen(its, "w", encoding="utf-8") as terminal, monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", terminal)
            program()
        written = b""
        with os.fdopen(ours, "rb", buffering=0) as screen, suppress(OSError):  # as its end is told
            while some := screen.read(_AT_ONCE):
                written += some
        return written.decode()

    return shown


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock finds it two seconds later."""
    ticks = count(100.0, 2.0)
    monkeypatch.setattr("worldtape.console.time.monotonic", lambda: next(ticks))


@pytest.mark.usefixtures("clock")
def test_there_is_a_line_every_few_seconds_and_one_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("train", "step") as report:
        for step in range(1, 11):
            report(step, 10, f"loss {step}")
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert 3 <= len(lines) < 10
    assert "/10 steps, " in lines[0]
    assert " s left, loss " in lines[0]
    assert lines[-1].startswith("train: 10/10 steps, ")
    assert lines[-1].endswith("/s, loss 10")


@pytest.mark.usefixtures("clock")
def test_what_was_done_before_does_not_count_for_the_rate(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("train", "step") as report:
        report(5001, 6000)
        report(5002, 6000)
    rates = [line.split(", ")[1] for line in capsys.readouterr().err.splitlines() if "/s" in line]
    assert rates
    assert all(float(rate.removesuffix("/s")) < 1 for rate in rates)


@pytest.mark.parametrize(
    ("done", "total", "told"),
    [(1, None, "1 trajectory"), (0, None, "0 trajectories"), (1, 2, "1/2 trajectories"), (1, 1, "1/1 trajectory")],
)
@pytest.mark.parametrize("is_terminal", [False, True])
def test_one_is_not_called_as_several_are(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    done: int,
    total: int | None,
    told: str,
    is_terminal: bool,
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    with progress("import", "trajectory", "trajectories") as report:
        report(done, total)
    unit = told.partition(" ")[2]
    last = [line for line in capsys.readouterr().err.splitlines() if "import" in line][-1]
    assert (f" {unit}" if is_terminal else told) in last
    assert ("trajectory" if unit == "trajectories" else "trajectories") not in last


def test_work_that_reports_nothing_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("curate", "row group"):
        pass
    assert capsys.readouterr() == ("", "")


def test_json_has_no_number_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"r": float("inf"), "loss": [float("nan"), 1.5], "text": "\x1b零"})
    out = capsys.readouterr().out
    assert json.loads(out) == {"r": "Infinity", "loss": ["NaN", 1.5], "text": "\x1b零"}
    assert "\x1b" not in out


def test_a_table_keeps_its_cells_whole_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 150
    show_table("All", ("name", "turns", "kept"), [(long, 1234567, True), ("short", 1, False)])
    show_facts("One", {"name": long})
    out = capsys.readouterr().out
    assert out.count(long) == 2
    assert "1,234,567" in out
    assert "yes" in out


@pytest.mark.parametrize("name", [_MARKUP, HOSTILE])
def test_a_bar_in_a_terminal_shows_names_as_they_are_and_obeys_none(
    shown_in_a_terminal: Callable[[Callable[[], None]], str], name: str
) -> None:
    def program() -> None:
        with progress(f"conformance {name}", "check") as report:
            report(1, 2, name)

    shown = shown_in_a_terminal(program)
    assert any(frame.count(harmless(name)) == 2 for frame in shown.split("\r"))
    assert "\x07" not in shown


@pytest.mark.parametrize("name", [_MARKUP, HOSTILE])
def test_titles_columns_and_cells_show_names_as_they_are_and_obey_none(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    show_table(name, (name, "turns"), [(name, 1)])
    show_facts(name, {name: 1})
    show_facts("Facts", {"name": name})
    out = capsys.readouterr().out
    assert out.count(harmless(name)) == 6
    assert "\x07" not in out
