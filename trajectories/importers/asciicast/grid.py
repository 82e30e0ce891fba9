"""A light terminal that knows where its cursor is and which rows are one line: what tells typing from output.

``Screen`` renders what was seen, but a question about its cursor takes a tenth of a millisecond, too long for one after
every event. This one answers from Python lists. It draws no observation: colours, character sets and scrollback do not
matter to it, and a sequence that it does not know changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from unicodedata import category, east_asian_width

_TOKEN: Final = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|(?P<newline>\r\n)"
    r"|\x1b\[(?P<private>[<-?]?)(?P<numbers>[0-9;:]*)(?P<between>[ -/]*)(?P<csi>[@-~])"
    r"|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b(?P<escape>[ -/]*[0-OQ-WYZ\\`-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
    r"|\x1b"
)
_UNFINISHED: Final = re.compile(r"\x1b(?:\[[<-?]?[0-9;:]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)\Z")
_COLOURS: Final = re.compile(r"\x1b\[[0-9;:]*m")
_LONGEST_HELD: Final = 2**16
_LARGEST_NUMBER: Final = 10_000


class Row:
    """One row. ``wrapped`` says that it goes on with the line of the row above.

    ``notes`` are what the reader keeps about a line that somebody types, at its first row.
    """

    __slots__ = ("cells", "notes", "wrapped")

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.wrapped = False
        self.notes: list[object] = []


class Grid:
    """A terminal of ``rows`` × ``columns``."""

    def __init__(self, rows: int, columns: int) -> None:
        self.on_line_end: list[Callable[[], None]] = []
        """Called before the cursor leaves its line downwards (not where a long line wraps)."""
        self.on_command: list[Callable[[str], None]] = []
        """Called with the text of each operating system command (OSC), such as ``133;A``."""
        self._held = ""
        self._fills_row = False
        self.brackets_paste = False
        """Whether a line editor waits for input that tells pasted text from typed (mode 2004)."""
        self.is_alternate = False
        """Whether the screen of full-screen programs is shown."""
        self.num_alternate = 0
        """How many times it was turned to."""
        self._other: list[Row] = []
        self._resize(rows, columns)

    def _resize(self, rows: int, columns: int) -> None:
        self._num_rows, self._columns = rows, columns
        self._rows = [Row() for _ in range(rows)]
        self._row = self._column = 0
        self._top, self._bottom = 0, rows - 1
        self._saved = (0, 0)
        self._wraps = True

    def resize(self, rows: int, columns: int) -> None:
        """Change the size; rows at the top go first, as on a terminal, and what no longer fits is cut off."""
        kept, row, column = self._rows, self._row, self._column
        scrolled = max(0, row - rows + 1)
        self._resize(rows, columns)
        kept = kept[scrolled : scrolled + rows]
        self._rows[: len(kept)] = kept
        for each in kept:
            del each.cells[columns:]
        self._row, self._column = row - scrolled, min(column, columns - 1)

    def feed(self, text: str) -> None:
        """Take output in; an unfinished sequence at the end waits for the next call."""
        text = _COLOURS.sub("", self._held + text)
        unfinished = _UNFINISHED.search(text, max(0, len(text) - _LONGEST_HELD))
        end = unfinished.start() if unfinished else len(text)
        self._held = text[end:]
        self._fills_row = False
        for token in _TOKEN.finditer(text, 0, end):
            kind = token.lastgroup
            if kind == "text":
                self._print(token[0])
            elif kind == "newline":
                self._column = 0
                self._line_feed()
            elif kind == "control":
                self._control(token[0])
            elif kind == "csi":
                self._csi(token)
            elif kind == "osc":
                for tell in self.on_command:
                    tell(token["osc"])
            elif kind == "escape":
                self._escape(token["escape"])

    def line(self) -> tuple[Row, str, str]:
        """The line at the cursor, over all its rows: its first row, the text before the cursor, the text after it."""
        first = last = self._row
        while first > 0 and self._rows[first].wrapped:
            first -= 1
        while last + 1 < self._num_rows and self._rows[last + 1].wrapped:
            last += 1
        here = self._rows[self._row].cells
        above = "".join("".join(row.cells) for row in self._rows[first : self._row])
        below = "".join("".join(row.cells) for row in self._rows[self._row + 1 : last + 1])
        before = "".join(here[: self._column]) + " " * (self._column - len(here))
        return self._rows[first], above + before, "".join(here[self._column :]) + below

    @property
    def at_line_start(self) -> bool:
        return self._column == 0 and not self._rows[self._row].wrapped

    def first_row(self) -> Row:
        """The first row of the line at the cursor."""
        number = self._row
        while number > 0 and self._rows[number].wrapped:
            number -= 1
        return self._rows[number]

    def _print(self, text: str) -> None:
        if not text.isascii():
            for character in text:
                self._print_wide(character)
            return
        while text:
            room = self._columns - self._column
            if room <= 0:
                if not self._wraps:
                    self._column, text = self._columns - 1, text[-1]
                else:
                    self._wrap()
                room = self._columns - self._column
            piece, text = text[:room], text[room:]
            self._put(list(piece))

    def _print_wide(self, character: str) -> None:
        """One character outside ASCII: none, one or two cells wide."""
        if category(character) in {"Mn", "Me", "Cf"}:
            cells = self._rows[self._row].cells
            if cells and 0 < self._column <= len(cells):
                cells[self._column - 1] += character
            return
        cells = [character, ""] if east_asian_width(character) in "WF" else [character]
        if self._column + len(cells) > self._columns:
            if self._wraps:
                self._wrap()
            else:
                self._column = max(0, self._columns - len(cells))
        self._put(cells)

    def _put(self, cells: list[str]) -> None:
        row, begin = self._rows[self._row].cells, self._column
        end = begin + len(cells)
        if len(row) < begin:
            row.extend(" " * (begin - len(row)))
        elif begin < len(row) and row[begin] == "" and begin > 0:
            row[begin - 1] = " "  # half of a wide character is none
        if end < len(row) and row[end] == "":
            row[end] = " "
        row[begin:end] = cells
        self._column = end
        self._fills_row = end >= self._columns

    def _wrap(self) -> None:
        self._move_down()
        self._column = 0
        self._rows[self._row].wrapped = True

    def _line_feed(self) -> None:
        if self._goes_on_below():
            self._move_down()
            self._rows[self._row].wrapped = True
            return
        for tell in self.on_line_end:
            tell()
        self._move_down()
        row = self._rows[self._row]
        row.wrapped = False
        if not row.cells:
            row.notes = []

    def _goes_on_below(self) -> bool:
        """Whether a line feed only moves the cursor inside a line that fills its row.

        A line editor (fish's, say) may go over the right edge like that: it sends the feed with the row's last letter,
        and again whenever it draws the line anew.
        """
        cells = self._rows[self._row].cells
        if len(cells) < self._columns or cells[-1] == " ":
            return False
        below = self._rows[self._row + 1] if self._row + 1 < self._num_rows else None
        return (below is not None and below.wrapped) or (self._fills_row and bool(self.first_row().notes))

    def _move_down(self) -> None:
        if self._row == self._bottom:
            del self._rows[self._top]
            self._rows.insert(self._bottom, Row())
        elif self._row < self._num_rows - 1:
            self._row += 1

    def _scroll(self, top: int, count: int) -> None:
        """Move the rows from ``top`` to the bottom of the region up by ``count`` (down where it is negative)."""
        height = self._bottom - top + 1
        if height <= 0:
            return
        region = self._rows[top : self._bottom + 1]
        blank = [Row() for _ in range(min(abs(count), height))]
        region = region[len(blank) :] + blank if count > 0 else blank + region[: height - len(blank)]
        self._rows[top : self._bottom + 1] = region

    def _control(self, character: str) -> None:
        if character in "\n\x0b\x0c":
            self._line_feed()
        elif character == "\r":
            self._column = 0
        elif character == "\b":
            self._column = max(0, min(self._column, self._columns - 1) - 1)
        elif character == "\t":
            self._column = min(self._columns - 1, self._column // 8 * 8 + 8)

    def _escape(self, sequence: str) -> None:
        if sequence == "7":
            self._saved = (self._row, self._column)
        elif sequence == "8":
            self._move(*self._saved)
        elif sequence == "D":
            self._move_down()
        elif sequence == "E":
            self._column = 0
            self._move_down()
        elif sequence == "M":
            if self._row == self._top:
                self._scroll(self._top, -1)
            else:
                self._row = max(0, self._row - 1)
        elif sequence == "c":
            self.brackets_paste = False
            self._resize(self._num_rows, self._columns)

    def _csi(self, token: re.Match[str]) -> None:
        numbers = [min(int(number or 0), _LARGEST_NUMBER) for number in re.split("[;:]", token["numbers"])]
        final = token["csi"]
        if token["between"]:
            return
        if token["private"] == "?" and final in "hl":
            for mode in numbers:
                self._set_mode(mode, final == "h")
        elif not token["private"]:
            self._move_cursor(final, numbers) or self._erase(final, numbers) or self._region(final, numbers)

    def _set_mode(self, mode: int, on: bool) -> None:
        if mode == 2004:
            self.brackets_paste = on
        elif mode == 7:
            self._wraps = on
        elif mode in {47, 1047, 1049} and on != self.is_alternate:
            self.is_alternate = on
            self.num_alternate += on
            shown = self._rows
            self._rows = self._other if self._other and not on else [Row() for _ in range(self._num_rows)]
            self._rows = (self._rows + [Row() for _ in range(self._num_rows)])[: self._num_rows]
            self._other = shown if on else []
            if mode == 1049 and on:
                self._saved = (self._row, self._column)
            elif mode == 1049:
                self._move(*self._saved)

    def _move(self, row: int, column: int) -> None:
        self._row = max(0, min(row, self._num_rows - 1))
        self._column = max(0, min(column, self._columns - 1))

    def _move_cursor(self, final: str, numbers: list[int]) -> bool:
        count = max(1, numbers[0])
        row, column = self._row, min(self._column, self._columns - 1)
        second = max(1, numbers[1]) if len(numbers) > 1 else 1
        targets = {
            "A": (row - count, column),
            "B": (row + count, column),
            "C": (row, column + count),
            "D": (row, column - count),
            "E": (row + count, 0),
            "F": (row - count, 0),
            "G": (row, count - 1),
            "`": (row, count - 1),
            "d": (count - 1, column),
            "H": (count - 1, second - 1),
            "f": (count - 1, second - 1),
            "u": self._saved,
        }
        if final not in targets:
            return False
        self._move(*targets[final])
        return True

    def _erase(self, final: str, numbers: list[int]) -> bool:
        cells, column, count = self._rows[self._row].cells, min(self._column, self._columns - 1), max(1, numbers[0])
        if final == "J":
            self._erase_display(numbers[0])
        elif final == "K":
            self._erase_line(numbers[0])
        elif final == "P":
            del cells[column : column + count]
        elif final == "X":
            cells[column : column + count] = " " * min(count, max(0, len(cells) - column))
        elif final == "@" and column < len(cells):
            cells[column:column] = " " * count
            del cells[self._columns :]
        else:
            return False
        return True

    def _erase_line(self, part: int) -> None:
        cells, column = self._rows[self._row].cells, min(self._column, self._columns - 1)
        if part == 0:
            del cells[column:]
        elif part == 1:
            cells[: column + 1] = " " * (column + 1)
        else:
            cells.clear()

    def _erase_display(self, part: int) -> None:
        if part == 0:
            self._erase_line(0)
            for row in self._rows[self._row + 1 :]:
                row.cells.clear()
                row.wrapped = False
        elif part == 1:
            for row in self._rows[: self._row]:
                row.cells.clear()
            self._erase_line(1)
        elif part == 2:
            self._rows = [Row() for _ in range(self._num_rows)]

    def _region(self, final: str, numbers: list[int]) -> bool:
        """Scrolling, inserted and deleted rows, the scrolling region, and the cursor's place saved."""
        count = max(1, numbers[0])
        inside = self._top <= self._row <= self._bottom
        if final == "S":
            self._scroll(self._top, count)
        elif final == "T":
            self._scroll(self._top, -count)
        elif final == "L" and inside:
            self._scroll(self._row, -count)
        elif final == "M" and inside:
            self._scroll(self._row, count)
        elif final == "s":
            self._saved = (self._row, self._column)
        elif final == "r":
            top, bottom = count - 1, (numbers[1] if len(numbers) > 1 and numbers[1] else self._num_rows) - 1
            if 0 <= top < bottom < self._num_rows:
                self._top, self._bottom, self._row, self._column = top, bottom, 0, 0
        else:
            return False
        return True
