"""Small recordings with the awkward features of real ones, made here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from trajectories.importers import Imported, Result
from trajectories.importers.asciicast import read
from trajectories.model import JsonValue


@dataclass
class Session:
    """A terminal session as it is recorded, event by event; time goes on by itself."""

    rows: int = 10
    columns: int = 40
    with_input: bool = False
    prompt: str = "$ "
    header: dict[str, JsonValue] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def event(self, kind: str, data: JsonValue, *, after: float = 0.01) -> Session:
        self.seconds = round(self.seconds + after, 6)
        self.lines.append(json.dumps([self.seconds, kind, data]))
        return self

    def out(self, *pieces: str, after: float = 0.01) -> Session:
        for piece in pieces:
            self.event("o", piece, after=after)
        return self

    def keys(self, keys: str, echo: str | None = None) -> Session:
        """A key, and what the terminal shows for it."""
        if self.with_input:
            self.event("i", keys, after=0.05)
        return self if echo == "" else self.out(keys if echo is None else echo)

    def typed(self, text: str) -> Session:
        for letter in text:
            self.keys(letter)
        return self

    def line(self, text: str, *output: str) -> Session:
        """A line typed letter by letter, Enter, and what it puts out."""
        return self.typed(text).keys("\r", "\r\n").out(*output)

    def command(self, text: str, *output: str) -> Session:
        """A prompt and a line typed at it."""
        return self.out(self.prompt).line(text, *output)

    def text(self) -> str:
        first = {"version": 2, "width": self.columns, "height": self.rows, "timestamp": 1_700_000_000, **self.header}
        return "\n".join([json.dumps(first), *self.lines]) + "\n"

    def imported(self, folder: Path) -> Imported:
        """The one trajectory of the recording, which has no problems."""
        (trajectory,) = self.results(folder)
        assert isinstance(trajectory, Imported)
        return trajectory

    def results(self, folder: Path) -> list[Result]:
        path = folder / "session.cast"
        path.write_text(self.text())
        return list(read(path))


def keystrokes(imported: Imported) -> list[list[str]]:
    """What each turn's action types, entry by entry."""
    return [[entry["keystrokes"] for entry in turn.action.payload] for turn in imported.turns]  # type: ignore[union-attr, index, misc, call-overload]


def lines_of(imported: Imported) -> list[str]:
    """What each turn's action types, as one text."""
    return ["".join(entries) for entries in keystrokes(imported)]
