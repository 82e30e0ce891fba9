"""What goes in and out of a terminal, kept as raw events, and the screen that they make."""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass
from typing import Final

from trajectories import EventSpool, RawEvent
from trajectories.renderers.terminal_screen import Screen

_UNSHOWN_CHARACTERS: Final = 2**18
_OTHER_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SCROLL_REGION: Final = re.compile(r"\x1b\[[\d;]*r")


@dataclass(frozen=True, slots=True, kw_only=True)
class TapedTurn:
    """One turn's part of a tape: the screen at its end and all that led to it."""

    text: str
    state: str
    """A short hash of ``text``."""
    events: EventSpool
    bytes_total: int
    """True size of the output in bytes, also where ``truncated`` says that ``events`` hold less."""
    truncated: bool


class Tape:
    """The recording of one terminal session, cut into turns. Its time begins with its first event.

    Args:
        rows, columns: size of the screen.
        capture_bytes: output kept as raw events, a turn. What goes beyond is counted, and shown on the screen; the
            turn's last event then draws the screen anew, so that a replay still ends with the same picture.

    The screen is fed exactly the characters that the events hold: replaying them gives the same text.
    """

    def __init__(self, *, rows: int, columns: int, capture_bytes: int) -> None:
        self.rows = rows
        self._capture_bytes = capture_bytes
        self._screen = Screen(rows, columns)
        self._unshown: list[str] = []
        self._unshown_size = 0
        self._whole_screen_scrolls = True
        self._began: float | None = None
        self._begin_turn()

    def _begin_turn(self) -> None:
        self._events = EventSpool()
        self._bytes_total = 0
        self._truncated = False

    def output(self, text: str) -> None:
        """Bytes that are not UTF-8 come as lone surrogates (``surrogateescape``)."""
        self._bytes_total += len(text.encode("utf-8", "surrogateescape"))
        self._truncated = self._truncated or self._bytes_total > self._capture_bytes
        if not self._truncated:
            self._record("o", text)
        self._unshown.append(text)
        self._unshown_size += len(text)
        if self._unshown_size >= _UNSHOWN_CHARACTERS:
            self._show()

    def input(self, text: str) -> None:
        self._record("i", text)

    def cut(self) -> TapedTurn:
        """End the turn. The next one begins at once: whatever comes from now on belongs to it.

        The caller closes the turn's events.
        """
        self._show()
        if self._truncated:
            self._redraw()
        text = self._screen.text()
        state = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        turn = TapedTurn(
            text=text,
            state=state,
            events=self._events,
            bytes_total=self._bytes_total,
            truncated=self._truncated,
        )
        self._begin_turn()
        return turn

    def close(self) -> None:
        self._events.close()
        self._screen.close()

    def _record(self, kind: str, data: str) -> None:
        now = time.monotonic()
        if self._began is None:
            self._began = now
        self._events.append(RawEvent(now - self._began, kind, data))

    def _show(self) -> None:
        """Bring the screen up to date: late and in large pieces, because only the last screenful of it is seen."""
        text = "".join(self._unshown)
        self._unshown.clear()
        self._unshown_size = 0
        if "\x1b" in text and _SCROLL_REGION.search(text):
            self._whole_screen_scrolls = False
        shown = without_lines_scrolled_away(text, self.rows) if self._whole_screen_scrolls else text
        self._screen.feed(shown.encode("utf-8", "surrogateescape"))

    def _redraw(self) -> None:
        """Draw the screen anew in the recording too, from nothing: it lacks what led to the present picture."""
        picture = b"\x1bc" + self._screen.formatted()
        self._screen.feed(picture)
        self._record("o", picture.decode("utf-8", "surrogateescape"))


def without_lines_scrolled_away(text: str, rows: int) -> str:
    """``text`` less those of its lines that have no part in what a screen of ``rows`` rows shows after it.

    Only plain lines are left out: printable characters, tabs and CR LF. After twice as many of them as there are rows,
    each row was begun on an empty line, whatever was there before. That does not hold where only a part of the screen
    scrolls (DECSTBM): the caller sees to it. An emulator is some fifty times slower with lines than this is.
    """
    first = text.find("\r\n") + 2
    end = kept_from = text.rfind("\r\n") + 2
    for _ in range(2 * rows):
        kept_from = text.rfind("\r\n", first, kept_from - 2) + 2
        if kept_from < first + 2:
            return text
    return text[:first] + text[kept_from:] if _is_plain_lines(text[first:end]) else text


def _is_plain_lines(text: str) -> bool:
    num_lines = text.count("\r\n")
    return text.count("\n") == num_lines == text.count("\r") and _OTHER_CONTROL.search(text) is None
