"""Joining calls to their answers: by id where the ids agree, by order where they cannot, and never by guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from trajectories.importers.agent import AgentCalls
from trajectories.importers.loss import LossReport
from trajectories.importers.problems import UnreadableError
from trajectories.importers.turn_list import TurnList
from trajectories.model import Action, Observation


@dataclass(frozen=True, slots=True)
class Call:
    """An action that waits for its answer; ``call_id`` may be empty, and need not be the only one of its name."""

    call_id: str
    action: Action | None
    """None where the agent's harness answers: neither the call nor its answer is a turn."""
    started_at: datetime | None = None


def is_of(tool: str, action: Action | None) -> bool:
    """Whether an answer that names a tool, or none, can be that of an action (None for a call of the harness)."""
    if action is None:
        return not tool or AgentCalls.is_harness_call(tool)
    called = action.payload.get("name") if isinstance(action.payload, Mapping) else None
    return not tool or not isinstance(called, str) or tool == called


class Pairing:
    """Makes turns of calls and answers in the order of the answers.

    An answer goes to the open call of its id: in the latest message that has one, there the first. Where no open call
    has its id, it goes to the first open call of the latest message that is of the tool it names, if it has no id
    itself or ``by_order`` says that the ids of this source do not agree.
    """

    def __init__(self, turns: TurnList, loss: LossReport, *, by_order: bool = False) -> None:
        self._turns, self._loss, self._by_order = turns, loss, by_order
        self._open: list[list[Call]] = []

    def call(self, calls: Sequence[Call]) -> None:
        """The calls of one message."""
        if calls:
            self._open.append(list(calls))

    def answer(
        self, call_id: str, observation: Observation, ended_at: datetime | None = None, *, tool: str = ""
    ) -> None:
        """An answer, and which tool it says that it is from.

        Raises ``UnreadableError`` where neither an id nor this name joins it to the call whose turn it is.
        """
        call = self._take_by_id(call_id) if call_id else None
        if call is None and (not call_id or self._by_order):
            call = self._take_by_order(tool)
        elif call is not None and not is_of(tool, call.action):
            self._loss.infer("answer joined to its call by id, though it names another tool")
        if call is None:
            self._loss.skip("observation without its action")
        else:
            self._answered(call, observation, ended_at)

    def answer_latest(self, observation: Observation, ended_at: datetime | None = None) -> None:
        """What follows the one call of the latest message, and by the rules of its format can only be its answer."""
        (call,) = self._open.pop()
        self._answered(call, observation, ended_at)

    def finish(self) -> None:
        """Note the calls that nothing answered: without an answer there is no turn."""
        unanswered = (call for calls in self._open for call in calls)
        self._loss.skip("action without an observation", sum(call.action is not None for call in unanswered))
        self._open.clear()

    def _answered(self, call: Call, observation: Observation, ended_at: datetime | None) -> None:
        if call.action is None:
            self._loss.skip("answer to a call of the harness")
        else:
            self._turns.add(call.action, observation, started_at=call.started_at, ended_at=ended_at)

    def _take_by_id(self, call_id: str) -> Call | None:
        for calls in reversed(self._open):
            for call in calls:
                if call.call_id == call_id:
                    return self._take(calls, call)
        return None

    def _take_by_order(self, tool: str) -> Call | None:
        if not self._open:
            return None
        call = next((call for call in self._open[-1] if is_of(tool, call.action)), None)
        if call is None:
            raise UnreadableError(f"an answer of {tool} follows calls of other tools, and no id joins them")
        self._loss.infer("answer joined to its call by order")
        return self._take(self._open[-1], call)

    def _take(self, calls: list[Call], call: Call) -> Call:
        calls.remove(call)
        if not calls:
            # Looked for from the end, as most answers follow soon: calls that nothing answers stay before them.
            places = range(len(self._open) - 1, -1, -1)
            del self._open[next(place for place in places if self._open[place] is calls)]
        return call
