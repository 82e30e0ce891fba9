"""Finds what was entered in a recording: from the keys where they were recorded, else from the prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from trajectories.importers.asciicast.entries import Entry, EntryKind, Plan, continues, line_entry, make_plan
from trajectories.importers.asciicast.grid import Grid
from trajectories.importers.asciicast.key_log import KeyLog
from trajectories.importers.asciicast.line_log import LineLog, LoggedLine, Rest
from trajectories.importers.asciicast.prompts import (
    Judgement,
    families,
    is_continuation_prompt,
    is_of_interest,
    judge,
    prompt_of,
    recording_score,
    without_continuation_prompt,
)
from trajectories.importers.asciicast.reader import CastReader

_MOST_LINES: Final = 50_000
_INTERRUPTED: Final = "^C"
"""How a terminal shows the key that gives up a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segmentation:
    """What a recording's events say about who typed what."""

    plan: Plan
    score: float
    """How sure it is, from 0 (or nothing was entered) to 1."""
    from_keys: bool
    num_replies: int = 0
    """Answers of the terminal itself among the recorded input."""
    num_doubtful: int = 0
    """Lines that look typed and do not count as entered."""
    num_full_screen: int = 0
    """How often a full-screen program was shown whose keys were not recorded."""
    num_unjudged: int = 0
    """Lines beyond those that are kept in memory to be judged."""


@dataclass(slots=True)
class _Lines:
    """The lines of interest of a recording, up to a number that memory has room for."""

    kept: list[LoggedLine] = field(default_factory=list)
    num_beyond: int = 0

    def add(self, line: LoggedLine) -> None:
        # What completes a line (its title, the shell's mark) comes a moment later: the choice waits for the next one.
        if self.kept and not is_of_interest(self.kept[-1]):
            self.kept.pop()
        if len(self.kept) < _MOST_LINES:
            self.kept.append(line)
        else:
            self.num_beyond += 1


def segment(reader: CastReader) -> Segmentation:
    """Read a recording through once and plan its turns."""
    grid = Grid(reader.header.rows, reader.header.columns)
    lines = _Lines()
    log, keys = LineLog(grid, lines.add), KeyLog(grid)
    for number, event in enumerate(reader):
        keys.begin(number, event.seconds)
        if event.kind == "o":
            log.begin(number, event.seconds)
            grid.feed(event.data)
            log.end()
        elif event.kind == "i":
            keys.input(number, event.data)
        elif event.kind == "r":
            columns, rows = map(int, event.data.split("x"))
            grid.resize(rows, columns)
    found = _from_keys(keys) if keys.num_lines else _from_prompts(log, lines, keys.num_replies, grid.num_alternate)
    found.plan.hidden.extend(keys.unshown())
    return found


def _from_keys(keys: KeyLog) -> Segmentation:
    plan = make_plan(keys.entries())
    return Segmentation(plan=plan, score=keys.score(), from_keys=True, num_replies=keys.num_replies)


def _from_prompts(log: LineLog, lines: _Lines, num_replies: int, num_full_screen: int) -> Segmentation:
    last = log.open_line()
    if last is not None:
        lines.add(last)
    shown = [line for line in lines.kept if not line.alternate] or lines.kept
    reading = _Reading(judge(shown))
    return Segmentation(
        plan=make_plan(reading.entries),
        score=recording_score(reading.judgements),
        from_keys=False,
        num_replies=num_replies,
        num_doubtful=sum(judgement.is_doubtful for judgement in reading.judgements),
        num_full_screen=num_full_screen,
        num_unjudged=lines.num_beyond,
    )


class _Reading:
    """Commands with the lines that continue them, and what else was entered at the same prompts."""

    def __init__(self, judgements: Sequence[Judgement]) -> None:
        self._known = {key for each in judgements if each.is_entered for key in families(each.prompt)}
        self.entries: list[Entry] = []
        self.judgements: list[Judgement] = []
        """Those of lines that stand for themselves: they continue no command."""
        for judgement in judgements:
            self._read(judgement)

    def _read(self, judgement: Judgement) -> None:
        line, last = judgement.line, self.entries[-1] if self.entries else None
        if line.is_open:
            self._read_open(line)
            return
        asked = without_continuation_prompt(line.text)
        cue = line.text[: len(line.text) - len(asked)]
        stood_at_cue = any(prompt_of(line, rest).strip() == cue.strip() for rest in line.rests)
        if last is not None and continues(last, cue) and (stood_at_cue if cue else not judgement.is_entered):
            # Without a prompt of its own, the line may stand below the text of the first (fish does that; but it has
            # no here-documents, whose blanks are their own).
            is_below = not cue and "<<" not in last.keystrokes
            behind = asked.removeprefix(" " * len(last.prompt)) if is_below else asked
            last.continue_with(behind, line.ended_event, line.ended_seconds)
            return
        self.judgements.append(judgement)
        if line.text.endswith(_INTERRUPTED):
            self._read_interrupted(line)
        elif judgement.is_entered:
            begin = judgement.rest.event + 1
            entry = line_entry(judgement.command, begin, line.ended_event, line.ended_seconds, judgement.prompt)
            entry.exit_code = line.exit_code
            self.entries.append(entry)
        elif not is_continuation_prompt(line.text):
            self._read_empty_or_untold(line)

    def _read_interrupted(self, line: LoggedLine) -> None:
        """What was typed at a known prompt and given up: no command, but keys."""
        rest = self._at_known_prompt(line)
        if rest is not None:
            keys = f"{line.text[rest.length :].removesuffix(_INTERRUPTED)}\x03"
            self.entries.append(Entry(EntryKind.KEYS, keys, rest.event + 1, line.ended_event, line.ended_seconds))

    def _read_empty_or_untold(self, line: LoggedLine) -> None:
        """What was entered at a known prompt: nothing, or what cannot be told."""
        rest = self._at_known_prompt(line)
        if rest is None:
            return
        entry = line_entry("", rest.event + 1, line.ended_event, line.ended_seconds, line.text)
        if line.text[rest.length :].strip():
            entry.kind = EntryKind.UNTOLD
        self.entries.append(entry)

    def _at_known_prompt(self, line: LoggedLine) -> Rest | None:
        """The last place in a line at which the terminal stood still behind a known prompt."""
        known = (rest for rest in reversed(line.rests) if families(prompt_of(line, rest)) & self._known)
        return next(known, None)

    def _read_open(self, line: LoggedLine) -> None:
        """What stands typed at a known prompt when the recording ends."""
        for rest in line.rests:
            typed = line.text[rest.length :]
            if typed.strip() and families(prompt_of(line, rest)) & self._known:
                begin, event = rest.event + 1, line.ended_event
                self.entries.append(Entry(EntryKind.UNFINISHED, typed, begin, event, line.ended_seconds))
                return
