"""The steps of an ATIF trajectory: which of them are turns, and what the agent did in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from trajectories.importers.agent import AgentCalls
from trajectories.importers.atif_kept import EXPORTED, KEPT_OF_STEP, KeptTurn
from trajectories.importers.contents import Content, all_of, content_of, joined_text
from trajectories.importers.loss import LossReport, whole
from trajectories.importers.problems import UnreadableError
from trajectories.importers.terminus import COMMAND, COMPLETE_CALL, TERMINAL_CALL, all_keystrokes, written_keys
from trajectories.importers.turn_list import TurnList
from trajectories.importers.values import Object, as_object, as_text, instant, objects, plain, sub
from trajectories.importers.written_calls import said_around, without_thought, written_call
from trajectories.model import Action, JsonValue, Turn

_PARTS: Final = whole("type", "text")
_STEP: Final = whole(
    *("step_id", "timestamp", "source", "reasoning_content", "is_copied_context"),
    message=_PARTS,
    tool_calls=whole("tool_call_id", "function_name", "arguments"),
    observation=whole(results=whole("source_call_id", "subagent_trajectory_ref", content=_PARTS)),
    extra={EXPORTED: KEPT_OF_STEP},
)
_FENCED: Final = re.compile(r"```(?:bash|sh|shell)[ \t]*\n(.*?)\n?```", re.DOTALL)
_Call = tuple[str, Action]
"""A call's id, and the call."""


class Steps:
    """Reads steps in their order; the results are what an imported trajectory is made of."""

    def __init__(self, loss: LossReport, *, agent: str = "") -> None:
        self._loss = loss
        self._is_terminus = agent.startswith("terminus")
        self._turns = TurnList(loss)
        self.instruction = self.system = ""
        self._calls_of_agent = AgentCalls(loss)
        self.started_at: datetime | None = None
        self._begun = False
        """Whether a step of the user or the agent has been read: system steps after it are events, no prompt."""

    @property
    def tool_names(self) -> set[str]:
        return self._calls_of_agent.names

    def read(self, steps: Sequence[Object]) -> None:
        """The steps of one file. Raises ``UnreadableError`` for what contradicts itself."""
        last = 0
        for step in steps:
            number = step.get("step_id")
            if isinstance(number, int):
                if number <= last:
                    raise UnreadableError(f"step_id {number} comes after {last}")
                last = number
            self._step(step)

    def finish(self) -> Sequence[Turn]:
        return self._turns.turns

    def _step(self, step: Object) -> None:
        source = as_text(step.get("source"), "the source of a step")
        if source not in ("system", "user", "agent"):
            raise UnreadableError(f"a step's source is {source!r}, and not system, user or agent")
        self._loss.drop_unknown("step", step, _STEP)
        if step.get("is_copied_context") is True:
            self._loss.skip("step copied from an earlier context")
            return
        self._kept = KeptTurn.of(step, self._loss)
        self.started_at = self.started_at or instant(step.get("timestamp"))
        results = objects(sub(step, "observation").get("results"), "the results of an observation")
        if source == "agent":
            self._agent(step, results)
        else:
            self._other(source, step)
            self._loss.skip(f"observation of a {source} step", len(results))
        self._begun = self._begun or source != "system"

    def _other(self, source: str, step: Object) -> None:
        text = joined_text(step.get("message"), self._loss)
        if source == "user" and not self.instruction:
            self.instruction = text
        elif source == "system" and not self._begun and not self.system:
            self.system = text
        else:
            self._loss.skip("user message after the first" if source == "user" else "system event")

    def _agent(self, step: Object, results: list[Object]) -> None:
        message = joined_text(step.get("message"), self._loss)
        thought = plain(step.get("reasoning_content"))
        if step.get("tool_calls"):
            self._answer_calls(step, results, (thought, message))
        elif results:
            action = self._said_action(message, thought)
            if action is None:
                self._loss.skip("message that acts on nothing, and its answer")
            else:
                self._add(action, self._joined(results), step)
        else:
            self._loss.skip("agent message without a call")

    def _answer_calls(self, step: Object, results: list[Object], reasons: Sequence[str]) -> None:
        """One turn for each call that a result names; results that name none answer the calls that are left."""
        calls, of_the_harness = self._calls(step, reasons)
        nameless = [result for result in results if not plain(result.get("source_call_id"))]
        for result in results:
            if name := plain(result.get("source_call_id")):
                call = next((call for call in calls if call[0] == name), None)
                if call is not None:
                    calls.remove(call)
                    self._add(_action_of([call]), self._joined([result]), step)
                elif name in of_the_harness:
                    self._loss.skip("answer to a call of the harness")
                else:
                    self._loss.skip("observation without its action")
        if calls and nameless:
            self._answer_in_order(step, calls, nameless)
        else:
            self._loss.skip("observation without its action", len(nameless))
            self._loss.skip("action without an observation", len(calls))

    def _calls(self, step: Object, reasons: Sequence[str]) -> tuple[list[_Call], set[str]]:
        """The calls that act, and the ids of those that the harness answers."""
        calls: list[_Call] = []
        of_the_harness: set[str] = set()
        for call in objects(step.get("tool_calls"), "tool_calls"):
            name = as_text(call.get("function_name"), "the function_name of a call")
            call_id, action = plain(call.get("tool_call_id")), self._action(name, call.get("arguments"), reasons)
            if action is None:
                of_the_harness.add(call_id)
            else:
                calls.append((call_id, action))
        return calls, of_the_harness

    def _action(self, name: str, arguments: JsonValue, reasons: Sequence[str]) -> Action | None:
        if self._kept.is_ours:
            # What we have recorded or imported has been told apart already.
            self.tool_names.add(name)
            return Action.of({"name": name, "arguments": arguments}, reasoning="\n".join(filter(None, reasons)) or None)
        if name == TERMINAL_CALL:
            self._loss.drop_unknown("arguments", arguments, COMMAND)
        return self._calls_of_agent.action(name, arguments, *reasons)

    def _answer_in_order(self, step: Object, calls: list[_Call], results: list[Object]) -> None:
        """As many results as calls answer one each; else together they answer all of them, as one action."""
        self._loss.infer("answer joined to its call by order")
        if len(calls) == len(results):
            for call, result in zip(calls, results, strict=True):
                self._add(_action_of([call]), self._joined([result]), step)
        else:
            self._add(_action_of(calls), self._joined(results), step)

    def _said_action(self, message: str, thought: str) -> Action | None:
        """The action of an agent that calls no tools: a written call, keys, a fenced command, or the whole message.

        None where the harness refused it (Terminus acts on nothing but keys) or answered it by itself.
        """
        agent = self._calls_of_agent
        if self._kept.is_ours:
            return Action(message, message, thought or None)
        if (call := written_call(message)) is not None:
            return agent.action(call.name, call.arguments, thought, call.said)
        if (written := written_keys(message, self._loss)) is not None:
            agent.names.add(TERMINAL_CALL)
            return Action.of(written.keys, reasoning=agent.reasons(thought, *written.said))
        if self._is_terminus:
            return None
        fenced = list(_FENCED.finditer(message))
        if len(fenced) == 1:
            self._loss.infer("action is the one command in the agent's message")
            command = fenced[0][1]
            return Action(command, command, agent.reasons(thought, said_around(fenced, message)))
        self._loss.infer("action is the agent's whole message")
        said = without_thought(message)
        return Action(said.text, said.text, agent.reasons(thought, said.thought))

    def _add(self, action: Action, told: Content, step: Object) -> None:
        kept = self._kept
        self._turns.add(
            kept.action(action),
            kept.observation(told),
            started_at=instant(step.get("timestamp")),
            duration_s=kept.duration_s,
            is_noop=kept.is_noop,
            state_before=kept.state_before,
            tells_outcome=kept.tells_outcome,
        )

    def _joined(self, results: list[Object]) -> Content:
        """What results tell together."""
        for result in results:
            self._loss.drop(
                "reference to a subagent", len(objects(result.get("subagent_trajectory_ref"), "references"))
            )
        return all_of([content_of(result.get("content"), self._loss) for result in results])


def _action_of(calls: list[_Call]) -> Action:
    """Calls as one action: keys where they all are a terminal's, else one call or a list of them."""
    actions = [action for _, action in calls]
    values = [as_object(action.payload, "a call") for action in actions]
    reasons = dict.fromkeys(filter(None, (action.reasoning for action in actions)))
    reasoning = "\n".join(reasons) or None
    if {call.get("name") for call in values} <= {TERMINAL_CALL, COMPLETE_CALL}:
        keys = all_keystrokes([call.get("arguments") for call in values if call.get("name") == TERMINAL_CALL])
        if keys is not None:
            return Action.of(keys, reasoning=reasoning)
    return actions[0] if len(actions) == 1 else Action.of(values, reasoning=reasoning)
