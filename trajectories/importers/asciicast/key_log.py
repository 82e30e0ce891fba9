"""What was entered, from recorded input: keys, of which the terminal's own replies are none.

Where a line was only typed and deleted, its keys say what it is. Where it was completed, fetched from the history or
edited in its middle, only the screen knows: the line at the cursor as it ended, from where the cursor stood when the
first key came.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Final

from trajectories.importers.asciicast.entries import (
    PASTE_BEGINS,
    PASTE_ENDS,
    Entry,
    EntryKind,
    continues,
    line_entry,
    without_paste_marks,
)
from trajectories.importers.asciicast.grid import Grid

_REPLY: Final = re.compile(
    r"\x1b\[[?>=][\d;]*c"  # device attributes
    r"|\x1b\[\d+;(?:[1-9]|\d\d+)R(?<!\[1;[2-8]R)|\x1b\[\?[\d;]*[Ru]|\x1b\[0n"  # position, keyboard flags, status
    r"|\x1b\[\??[\d;]*\$y|\x1b\[\d+(?:;\d+){2,}t|\x1b\[[IO]"  # modes, sizes, focus
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^X][^\x1b]*\x1b\\"  # colours, strings
)
_KEY: Final = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f]+)|(?P<enter>\r\n?|\n)|(?P<delete>[\x7f\b])|(?P<kill>\x15)|(?P<word>\x17)"
    r"|(?P<stop>[\x03\x04\x1a\x1c])|(?P<redraw>\x0c)|(?P<pasted>\x1b\[20[01]~)"
    r"|(?P<edit>\x1b(?:\[[<-?]?[\d;]*[ -/]*[@-~]|O[@-~]|[^\x1b])?|[\x00-\x1f])"
)
_LAST_WORD: Final = re.compile(r"\S*\s*\Z")
_SPACE: Final = re.compile(r"\s+")


@dataclass(slots=True)
class _Typing:
    """Keys since the last Enter."""

    begin_event: int
    anchor: str
    """The line before the cursor as the first key came: the prompt, if it was drawn by then."""
    tail: str
    """What stood behind the cursor then: a prompt at the right edge."""
    end_event: int
    """Where the last key came."""
    keys: str = ""
    text: str = ""
    is_exact: bool = True
    """Nothing but typing and deleting at the end: ``text`` is the line."""
    paste_at: int | None = None
    """Where in ``text`` what is being pasted begins: until it has ended, a newline in it is no Enter."""

    def take(self, kind: str, key: str) -> None:
        self.keys += key
        if kind == "pasted":
            self._paste(begins=key == PASTE_BEGINS)
        elif kind in ("delete", "word") and self.text.endswith(PASTE_ENDS):
            self.is_exact = False
        elif kind == "text":
            self.text += key
        elif kind == "delete":
            self.text = self.text[:-1]
        elif kind == "kill":
            self.text = ""
        elif kind == "word":
            self.text = _LAST_WORD.sub("", self.text)
        elif kind == "edit":
            self.is_exact = False

    def _paste(self, *, begins: bool) -> None:
        """Take a mark of a paste; the marks stay around one of several lines, which would not be one line without."""
        if begins:
            self.paste_at = len(self.text)
        elif self.paste_at is not None:
            typed, pasted = self.text[: self.paste_at], self.text[self.paste_at :]
            self.text = f"{typed}{PASTE_BEGINS}{pasted}{PASTE_ENDS}" if "\n" in pasted else self.text
            self.paste_at = None

    @property
    def has_content(self) -> bool:
        """Whether it is more than an empty line."""
        return bool(without_paste_marks(self.text).strip()) or not self.is_exact

    def is_shown_in(self, line: str) -> bool:
        """Whether ``line`` can be the line as it was entered, or the last one of what was pasted."""
        last = without_paste_marks(self.text).rpartition("\n")[2]
        return not self.is_exact or _squashed(last) in _squashed(line)

    def line_in(self, shown: str) -> str | None:
        """The line that was entered, as the program saw it; None where ``shown`` no longer begins with the prompt."""
        if self.is_exact:
            return self.text
        if not shown.startswith(self.anchor.rstrip()):
            return None
        return shown[len(self.anchor) :].removesuffix(self.tail).rstrip()


class KeyLog:
    """Follows a recording's input and output event by event.

    Args:
        grid: the terminal, which the caller feeds.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        grid.on_line_end.append(self._line_ends)
        self.num_replies = 0
        self.num_lines = 0
        """Lines that were entered with some text, or some key that fetches one."""
        self._num_seen = 0
        self._typing: _Typing | None = None
        self._entered: deque[_Typing] = deque()
        self._entries: list[Entry] = []
        self._event, self._seconds = 0, 0.0

    def begin(self, event: int, seconds: float) -> None:
        """An event, of output or input, is about to come."""
        self._event, self._seconds = event, seconds

    def input(self, event: int, data: str) -> None:
        """Take an input event in."""
        keys, num_replies = _REPLY.subn("", data)
        self.num_replies += num_replies
        for key in _KEY.finditer(keys):
            if self._grid.is_alternate:
                self._keys_entry(event, key[0])
            else:
                self._key(event, str(key.lastgroup), key[0])

    def entries(self) -> list[Entry]:
        """All that was entered, in order; what was typed and not entered is unfinished."""
        return self._entries + [
            Entry(EntryKind.UNFINISHED, typing.keys, typing.begin_event, self._event, self._seconds)
            for typing in self._unanswered()
        ]

    def unshown(self) -> list[tuple[int, int]]:
        """First and last event of what was typed and has never been shown as an entered line."""
        return [(typing.begin_event, typing.end_event) for typing in self._unanswered() if typing.has_content]

    def _unanswered(self) -> list[_Typing]:
        return [*self._entered, *([self._typing] if self._typing else [])]

    def score(self) -> float:
        """The share of the entered lines that the screen showed; one that a later line has passed by counts half."""
        num_hidden = self.num_lines - self._num_seen
        num_lost = sum(typing.has_content for typing in self._entered)
        return self._num_seen / (self._num_seen + num_hidden / 2 + num_lost) if self._num_seen else 0.0

    def _key(self, event: int, kind: str, key: str) -> None:
        if self._typing is None:
            _, before, after = self._grid.line()
            self._typing = _Typing(event, before, after.strip(), event)
        typing = self._typing
        typing.end_event = event
        if typing.paste_at is not None and kind == "enter":
            typing.take("text", "\n")
        elif kind == "enter":
            self._entered.append(typing)
            self._typing = None
        elif kind == "stop":
            typing.keys += key
            self._add(EntryKind.KEYS, _as_typed(typing.keys), typing)
            self._typing = None
        else:
            typing.take(kind, key)

    def _keys_entry(self, event: int, key: str) -> None:
        """One more key at a full-screen program."""
        last = self._last
        if last is not None and last.kind is EntryKind.KEYS and not self._entered:
            last.keystrokes += _as_typed(key)
            last.enter_event, last.enter_seconds = event, self._seconds
        else:
            self._entries.append(Entry(EntryKind.KEYS, _as_typed(key), event, event, self._seconds))

    def _line_ends(self) -> None:
        if not self._entered:
            return
        _, before, after = self._grid.line()
        line = (before + after).rstrip()
        shows = [typing.is_shown_in(line) for typing in self._entered]
        if True not in shows:
            return
        # What is not shown was entered in secret (a password, whose Enter is not echoed either) once a later line is.
        for _ in range(shows.index(True)):
            self._pass_over(self._entered.popleft())
        self._take(self._entered.popleft(), line)

    def _pass_over(self, typing: _Typing) -> None:
        self.num_lines += typing.has_content
        kind = EntryKind.HIDDEN if typing.has_content else EntryKind.BLANK
        self._entries.append(Entry(kind, "\n", typing.begin_event, typing.end_event, self._seconds))

    def _take(self, typing: _Typing, line: str) -> None:
        self.num_lines += typing.has_content
        self._num_seen += typing.has_content
        text = typing.line_in(line)
        if text is None:
            self._add(EntryKind.KEYS, f"{_as_typed(typing.keys)}\n", typing)
        elif continues(self._last, typing.anchor) and self._last is not None:
            self._last.continue_with(text, self._event, self._seconds)
        else:
            self._entries.append(line_entry(text, typing.begin_event, self._event, self._seconds, typing.anchor))

    @property
    def _last(self) -> Entry | None:
        return self._entries[-1] if self._entries else None

    def _add(self, kind: EntryKind, keystrokes: str, typing: _Typing) -> None:
        self._entries.append(Entry(kind, keystrokes, typing.begin_event, self._event, self._seconds))


def _squashed(text: str) -> str:
    return _SPACE.sub("", text)


def _as_typed(keys: str) -> str:
    """Keys as a terminal action spells them: Enter is a newline."""
    return keys.replace("\r\n", "\n").replace("\r", "\n")
