"""What was entered at the terminal, as far as the output alone shows: lines that came to rest before they ended.

A program's line is written and ended at one go. A line that somebody types on stands still between two events: first
after the prompt, then after each key. The log keeps those rests, and the lines that have any; ``prompts`` judges them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from trajectories.importers.asciicast.grid import Grid, Row

_MOST_RESTS: Final = 64
_RESTS_KEPT: Final = 8
_LONGEST_LINE: Final = 10_000
_SHELL_MARK: Final = re.compile(r"(?:133|633);([A-D])(?:;(-?\d{1,9}))?")
_TITLE: Final = re.compile(r"[02];(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rest:
    """The line stood still with ``length`` characters before the cursor, after event number ``event``."""

    length: int
    event: int
    seconds: float
    pieces_after: int
    """How many times the line stood still again before it ended."""
    in_editor: bool = False
    """A line editor was waiting that tells pasted text from typed."""
    marked: bool = False
    """The shell said that its prompt ends here (OSC 133;B)."""


@dataclass(slots=True)
class LoggedLine:
    """A line that stood still at least once before it ended."""

    text: str
    rests: list[Rest]
    """The first few at which the line began as it does now."""
    num_stands: int
    """How many times it stood still, also with what was deleted since."""
    ended_event: int
    ended_seconds: float
    alternate: bool
    """It was on the screen of a full-screen program."""
    is_open: bool = False
    """The recording ends on it."""
    edited: bool = False
    """A line editor gave it away: the terminal left the mode for pasting as it ended."""
    ran: bool = False
    """The shell said that a command begins (OSC 133;C)."""
    title: str = ""
    """The window's title that was set as it ended."""
    exit_code: int | None = None


@dataclass(slots=True)
class _Stand:
    """A rest while its line still changes."""

    text: str
    tail: str
    event: int
    seconds: float
    in_editor: bool
    marked: bool


class LineLog:
    """Follows a terminal's output event by event.

    Args:
        grid: the terminal, which the caller feeds.
        on_line: called with each line of interest as it ends; what follows at once may still complete it.
    """

    def __init__(self, grid: Grid, on_line: Callable[[LoggedLine], None]) -> None:
        self._grid, self._on_line = grid, on_line
        self._event, self._seconds = -1, 0.0
        self._latest: LoggedLine | None = None
        self._running: LoggedLine | None = None
        self._marked: tuple[Row, int] | None = None
        grid.on_line_end.append(self._line_ends)
        grid.on_command.append(self._command)

    def begin(self, event: int, seconds: float) -> None:
        """An output event is about to be shown."""
        self._event, self._seconds = event, seconds
        if self._latest is not None and event > self._latest.ended_event + 1:
            self._latest = None

    def end(self) -> None:
        """It has been."""
        latest = self._latest
        if latest is not None and latest.rests[0].in_editor and not self._grid.brackets_paste:
            latest.edited = True
        self._note_rest()

    def open_line(self) -> LoggedLine | None:
        """The line that the cursor is on, where it has stood still."""
        row, before, after = self._grid.line()
        return self._logged(row, before + after, is_open=True)

    def _note_rest(self) -> None:
        if self._grid.at_line_start:
            return
        row, before, after = self._grid.line()
        stands = cast("list[_Stand]", row.notes)
        if len(stands) >= _MOST_RESTS or len(before) > _LONGEST_LINE:
            return
        marked = self._marked == (row, len(before))
        in_editor = self._grid.brackets_paste
        if stands and stands[-1].text == before:
            stand = stands[-1]
            stand.event, stand.seconds, stand.tail = self._event, self._seconds, after.strip()
            stand.in_editor, stand.marked = stand.in_editor or in_editor, stand.marked or marked
        else:
            stands.append(_Stand(before, after.strip(), self._event, self._seconds, in_editor, marked))

    def _line_ends(self) -> None:
        if not self._grid.first_row().notes:
            return
        row, before, after = self._grid.line()
        line = self._logged(row, before + after)
        row.notes = []
        if line is not None:
            self._latest = line
            line.edited = line.rests[0].in_editor and not self._grid.brackets_paste
            self._on_line(line)

    def _logged(self, row: Row, text: str, *, is_open: bool = False) -> LoggedLine | None:
        stands = cast("list[_Stand]", row.notes)
        if not stands or len(text) > _LONGEST_LINE:
            return None
        text = text.rstrip()
        # What stood behind the cursor from the first to the last is no input, but a prompt at the right edge.
        if stands[0].tail == stands[-1].tail:
            text = text.removesuffix(stands[0].tail).rstrip()
        rests = [
            Rest(len(stand.text), stand.event, stand.seconds, len(stands) - number, stand.in_editor, stand.marked)
            for number, stand in enumerate(stands, 1)
            if stand.text.rstrip() == text[: len(stand.text)].rstrip()
        ]
        if not rests:
            return None
        return LoggedLine(
            text, rests[:_RESTS_KEPT], len(stands), self._event, self._seconds, self._grid.is_alternate, is_open
        )

    def _command(self, text: str) -> None:
        mark = _SHELL_MARK.match(text)
        if mark is None:
            title = _TITLE.fullmatch(text)
            if title is not None and self._latest is not None and not self._latest.title:
                self._latest.title = title[1]
        elif mark[1] == "B":
            row, before, _ = self._grid.line()
            self._marked = (row, len(before))
        elif mark[1] == "C" and self._latest is not None:
            self._latest.ran = True
            self._running = self._latest
        elif mark[1] == "D" and self._running is not None:
            self._running.exit_code = int(mark[2]) if mark[2] else None
            self._running = None
