"""From a plan to turns: the screen after each, and proof that each action was seen on it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import zip_longest
from typing import Final

from trajectories.importers.asciicast.entries import Plan, PlannedTurn, without_paste_marks
from trajectories.importers.asciicast.reader import CastReader
from trajectories.importers.base import NO_TIME
from trajectories.importers.lazy_sequence import LazySequence
from trajectories.importers.spooled_turns import SpooledTurns
from trajectories.model import Action, Observation, Turn
from trajectories.recording import EventSpool, RawEvent
from trajectories.renderers import Screen

RENDERER: Final = "terminal-screen@1"
_SPACE: Final = re.compile(r"\s+")
_OUR_MARKER: Final = "turn "
_DISTINCTIVE: Final = 4
"""Prompts of so many characters hardly stand at the beginning of a line of output by chance; a sole ``$`` does."""


class CastTurns(LazySequence[Turn]):
    """The turns of a recording. Iterating reads the file again and gives each turn with its raw events.

    The events of a turn are there until the next one is taken. A turn got by its number has none.
    """

    def __init__(self, reader: CastReader, plan: Plan, turns: Sequence[Turn]) -> None:
        self._reader, self._plan, self._turns = reader, plan, turns

    def __len__(self) -> int:
        return len(self._turns)

    def at(self, place: int) -> Turn:
        return self._turns[place]

    def __iter__(self) -> Iterator[Turn]:
        begins = [planned.begin_event for planned in self._plan.turns]
        events = _kept_events(self._reader, self._plan)
        number, event = next(events, (0, None))
        while event is not None and begins and number < begins[0]:
            number, event = next(events, (0, None))
        for turn, end in zip_longest(self._turns, begins[1:]):
            spool = EventSpool()
            while event is not None and (end is None or number < end):
                spool.append(event)
                number, event = next(events, (0, None))
            yield replace(turn, observation=replace(turn.observation, raw=spool))
            spool.close()


@dataclass(slots=True)
class PlayedCast:
    """A recording that was played through: what was seen before the first turn, and the turns."""

    initial: Observation
    turns: CastTurns
    num_unaligned: int = 0
    """Turns from the first on whose action was not seen on the screen; they are left out."""


def play(reader: CastReader, plan: Plan) -> PlayedCast:
    """Show the recording on a screen and take a picture after each turn.

    The plan is cut where an action was not on the screen as it was entered: what came after cannot be trusted.
    """
    player = _Player(reader)
    try:
        player.play(plan)
    finally:
        player.close()
    num_planned = len(plan.turns)
    del plan.turns[len(player.turns) :]
    return PlayedCast(player.initial, CastTurns(reader, plan, player.turns), num_planned - len(player.turns))


@dataclass(slots=True)
class _OpenTurn:
    """A turn while it is played."""

    planned: PlannedTurn
    began: float
    durations: list[float] = field(default_factory=list)

    def note(self, number: int, last_output: float) -> None:
        """Entry after entry is answered by what was put out before the next one began."""
        entries = self.planned.entries
        while len(self.durations) + 1 < len(entries) and number >= entries[len(self.durations) + 1].begin_event:
            self.end_entry(last_output)

    def end_entry(self, last_output: float) -> None:
        entered = self.planned.entries[len(self.durations)].enter_seconds
        self.durations.append(round(max(0.0, last_output - entered), 3))

    def action(self, last_output: float) -> Action:
        entries = self.planned.entries
        while len(self.durations) < len(entries):
            self.end_entry(last_output)
        return Action.keys(*((entry.keystrokes, took) for entry, took in zip(entries, self.durations, strict=True)))


class _Player:
    """A screen that is shown a recording, and takes pictures of it."""

    def __init__(self, reader: CastReader) -> None:
        self._reader = reader
        self._screen = Screen(reader.header.rows, reader.header.columns)
        self._num_bytes = 0
        self._last_output = 0.0
        self.turns = SpooledTurns()
        self.initial = Observation(text="", renderer=RENDERER)
        self._state: str | None = None

    def close(self) -> None:
        self._screen.close()

    def play(self, plan: Plan) -> None:
        before = EventSpool()
        coming = list(reversed(plan.turns))
        current: _OpenTurn | None = None
        for number, event in _kept_events(self._reader, plan):
            while coming and number >= coming[-1].begin_event:
                if not self._end_turn(current, before):
                    plan.end_event = current.planned.begin_event if current else number
                    return
                current = _OpenTurn(coming.pop(), event.seconds)
            if current is None:
                before.append(event)
            else:
                current.note(number, self._last_output)
            if current is None or number != current.planned.command.enter_event:
                self._take(event)
            elif not self._take_enter(event, current.planned.command.keystrokes):
                plan.end_event = current.planned.begin_event
                return
        if not self._end_turn(current, before) and current is not None:
            plan.end_event = current.planned.begin_event

    def _take(self, event: RawEvent) -> None:
        """Show an event, as a replay does: one by one."""
        if event.kind == "o":
            data = event.data.encode()
            self._last_output = event.seconds
            self._num_bytes += len(data)
            self._screen.feed(data)
        elif event.kind == "r":
            columns, rows = map(int, event.data.split("x"))
            self._screen.resize(rows, columns)

    def _take_enter(self, event: RawEvent, keystrokes: str) -> bool:
        """Take the event that ends an entered line; whether the screen shows that line, before or after it."""
        sought = _squashed(without_paste_marks(keystrokes).rstrip().rpartition("\n")[2])
        seen = sought in _squashed(self._screen.text())
        self._take(event)
        return seen or sought in _squashed(self._screen.text())

    def _end_turn(self, current: _OpenTurn | None, before: EventSpool) -> bool:
        """Take a picture, as the initial observation where there is no turn yet.

        Not where it shows that more was entered than was planned: it is the answer to something else.
        """
        text = self._screen.text()
        if current is not None and _shows_another_command(text, current.planned):
            return False
        began = current.began if current else 0.0
        observation = Observation(
            text=text,
            renderer=RENDERER,
            raw=None if current else before,
            exit_code=current.planned.command.exit_code if current else None,
            bytes_total=self._num_bytes,
            state=hashlib.sha256(text.encode()).hexdigest()[:16],
            settle_s=round(max(0.0, self._last_output - began), 6),
        )
        self._num_bytes = 0
        if current is None:
            self.initial, self._state = observation, observation.state
            return True
        turn = Turn(
            number=len(self.turns) + 1,
            action=current.action(self._last_output),
            observation=observation,
            started_at=(self._reader.header.started_at or NO_TIME) + timedelta(seconds=began),
            duration_s=observation.settle_s,
            state_before=self._state,
            is_noop=observation.state == self._state,
        )
        self._state = observation.state
        self.turns.append(turn)
        return True


def _kept_events(reader: CastReader, plan: Plan) -> Iterator[tuple[int, RawEvent]]:
    """The events that belong to the initial observation or a turn, with their numbers.

    Left out are keys that are not to be kept, and markers of the recording that look like ours.
    """
    spans = sorted(plan.hidden, reverse=True)
    hidden_to = -1
    for number, event in enumerate(reader):
        if plan.end_event is not None and number >= plan.end_event:
            return
        while spans and spans[-1][0] <= number:
            hidden_to = max(hidden_to, spans.pop()[1])
        if not (event.kind == "i" and number <= hidden_to) and not (
            event.kind == "m" and event.data.startswith(_OUR_MARKER)
        ):
            yield number, event


def _shows_another_command(text: str, planned: PlannedTurn) -> bool:
    """Whether another command stands below a turn's own, at the same prompt: pasted, for instance."""
    command = planned.command
    prompt = command.prompt.strip()
    if len(prompt) < _DISTINCTIVE or command is not planned.entries[-1]:
        return False
    first_line = without_paste_marks(command.keystrokes).split("\n")[0]
    entered = f"{prompt} {first_line}".strip()
    rows = [row.strip() for row in text.split("\n")]
    if entered not in rows:
        return False
    below = rows[len(rows) - rows[::-1].index(entered) :]
    return any(row.startswith(prompt) and row != prompt for row in below)


def _squashed(text: str) -> str:
    return _SPACE.sub("", text)
