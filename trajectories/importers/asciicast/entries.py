"""What was entered, one thing after another, and how entries make turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from trajectories.importers.asciicast.prompts import is_continuation_prompt, is_dialogue_prompt
from trajectories.importers.asciicast.shell_syntax import is_complete

_INTERPRETER_ASKS: Final = "..."
PASTE_BEGINS: Final = "\x1b[200~"
PASTE_ENDS: Final = "\x1b[201~"
"""Between them a newline is no Enter: keystrokes of a paste of several lines have them, as it is no line otherwise."""


def without_paste_marks(keystrokes: str) -> str:
    return keystrokes.replace(PASTE_BEGINS, "").replace(PASTE_ENDS, "")


class EntryKind(StrEnum):
    """What an entry is to the program that it was typed at."""

    COMMAND = "command"
    COMMENT = "comment line"
    BLANK = "empty line"
    KEYS = "keys"
    """Keys that no line was ended with: at a full-screen program, or Ctrl-C."""
    HIDDEN = "hidden line"
    """A line that was typed and not shown, such as a password: it is not kept."""
    UNFINISHED = "unfinished line"
    """A command whose end is not in the recording."""
    UNTOLD = "line at a prompt that cannot be told"
    """Something was entered, and what it was is not sure enough: it may have changed anything."""


@dataclass(slots=True)
class Entry:
    """Keys that were sent together; the numbers of the events at which the first came and the last was
    answered."""

    kind: EntryKind
    keystrokes: str
    begin_event: int
    enter_event: int
    enter_seconds: float
    prompt: str = ""
    exit_code: int | None = None

    @property
    def is_unfinished(self) -> bool:
        """Whether the shell would go on reading after this command."""
        if self.kind is not EntryKind.COMMAND or is_dialogue_prompt(self.prompt):
            return False
        return not is_complete(without_paste_marks(self.keystrokes).removesuffix("\n"))

    def continue_with(self, line: str, event: int, seconds: float) -> None:
        """Take another line of the same command."""
        self.keystrokes += f"{line}\n"
        self.enter_event, self.enter_seconds = event, seconds


def line_entry(line: str, begin_event: int, enter_event: int, enter_seconds: float, prompt: str = "") -> Entry:
    """The entry of a line that Enter has ended."""
    text = without_paste_marks(line).strip()
    kind = EntryKind.BLANK if not text else EntryKind.COMMENT if text.startswith("#") else EntryKind.COMMAND
    return Entry(kind, f"{line}\n", begin_event, enter_event, enter_seconds, prompt)


def continues(entry: Entry | None, prompt: str) -> bool:
    """Whether a line entered after ``prompt`` belongs to the command of the entry before it."""
    if entry is None or entry.kind is not EntryKind.COMMAND:
        return False
    asks_for_more = is_continuation_prompt(prompt) and not is_dialogue_prompt(prompt)
    if is_dialogue_prompt(entry.prompt) or prompt.lstrip().startswith(_INTERPRETER_ASKS):
        return asks_for_more
    return (asks_for_more or prompt.strip() != entry.prompt.strip()) and entry.is_unfinished


@dataclass(slots=True)
class PlannedTurn:
    """All that was entered between two observations; ``command`` is the entry that makes it a turn."""

    entries: list[Entry]
    command: Entry

    @property
    def begin_event(self) -> int:
        return self.entries[0].begin_event


@dataclass(slots=True)
class Plan:
    """The turns of a recording, as far as they can be told."""

    turns: list[PlannedTurn] = field(default_factory=list)
    end_event: int | None = None
    """The first event that belongs to no turn any more; None where all do."""
    hidden: list[tuple[int, int]] = field(default_factory=list)
    """First and last event of each line whose keys are not to be kept."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Kind of entry → how many of it lie after the last command, or were hidden."""


def make_plan(entries: Sequence[Entry]) -> Plan:
    """Comments and empty lines are entered on the way to the next command, so they are part of its action.

    What follows the last command stands outside. A command without an end, or one that cannot be told, ends the plan
    before it: what is seen afterwards is no answer to what was entered before.
    """
    plan = Plan()
    lead: list[Entry] = []
    for number, entry in enumerate(entries):
        if entry.kind is EntryKind.HIDDEN:
            plan.hidden.append((entry.begin_event, entry.enter_event))
            plan.left_out[entry.kind] += 1
        elif entry.kind in (EntryKind.UNFINISHED, EntryKind.UNTOLD) or entry.is_unfinished:
            _leave_out(plan, [*lead, entry, *entries[number + 1 :]])
            return plan
        elif entry.kind is EntryKind.COMMAND:
            plan.turns.append(PlannedTurn([*lead, entry], entry))
            lead = []
        elif entry.kind is EntryKind.KEYS and plan.turns and not lead:
            plan.turns[-1].entries.append(entry)
        else:
            lead.append(entry)
    _leave_out(plan, lead)
    return plan


def _leave_out(plan: Plan, rest: Iterable[Entry]) -> None:
    for entry in rest:
        kind = EntryKind.UNFINISHED if entry.is_unfinished else entry.kind
        plan.left_out[kind] += 1
        if plan.end_event is None:
            plan.end_event = entry.begin_event
        if kind is EntryKind.HIDDEN:
            plan.hidden.append((entry.begin_event, entry.enter_event))
