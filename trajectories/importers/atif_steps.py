"""The steps of an ATIF trajectory: which of them are turns, and what the agent did in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from trajectories.importers.base import TurnList, UnreadableError, answer
from trajectories.importers.json_text import DECODER
from trajectories.importers.loss import LossReport
from trajectories.importers.tools import HARNESS_CALLS
from trajectories.importers.values import Object, as_text, instant, int32, objects, plain, seconds, sub
from trajectories.importers.written_calls import written_call
from trajectories.model import Action, ErrorKind, JsonValue, Observation, Turn

EXPORTED: Final = "worldtape"
"""The key of ``extra`` under which our own export keeps what ATIF has no field for."""

_STEP_FIELDS: Final = {
    "step_id",
    "timestamp",
    "source",
    "message",
    "reasoning_content",
    "tool_calls",
    "observation",
    "model_name",
    "is_copied_context",
}
TERMINAL_CALL: Final = "bash_command"
"""Terminus' tool: keys for a terminal, and how long to wait."""
COMPLETE_CALL: Final = "mark_task_complete"
"""Its other one, which sends no keys."""
_INT64: Final = 2**63
_Call = tuple[str, Object]
"""The id of a call, and ``{"name", "arguments"}``."""


class Steps:
    """Reads steps in their order; the results are what an imported trajectory is made of."""

    def __init__(self, loss: LossReport, *, agent: str = "") -> None:
        self._loss = loss
        self._is_terminus = agent.startswith("terminus")
        self._turns = TurnList(loss)
        self.instruction = self.system = ""
        self.tool_names: list[str] = []
        self.started_at: datetime | None = None
        self._begun = False
        """Whether a step of the user or the agent has been read: system steps after it are events, no prompt."""

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
        if step.get("is_copied_context") is True:
            self._loss.skip("step copied from an earlier context")
            return
        self._loss.drop_fields("step", {**step, "extra": _foreign_extra(step)}, _STEP_FIELDS)
        self.started_at = self.started_at or instant(step.get("timestamp"))
        results = objects(sub(step, "observation").get("results"), "the results of an observation")
        if source == "agent":
            self._agent(step, results)
        else:
            self._other(source, step)
            self._loss.skip(f"observation of a {source} step", len(results))
        self._begun = self._begun or source != "system"

    def _other(self, source: str, step: Object) -> None:
        text = self._text(step.get("message"), "a message")
        if source == "user" and not self.instruction:
            self.instruction = text
        elif source == "system" and not self._begun and not self.system:
            self.system = text
        else:
            self._loss.skip("user message after the first" if source == "user" else "system event")

    def _agent(self, step: Object, results: list[Object]) -> None:
        message = self._text(step.get("message"), "a message")
        calls = self._calls(step)
        if calls or step.get("tool_calls"):
            self._answer_calls(step, calls, results, _reasoning(step, message))
        elif results:
            action = self._said_action(message, step)
            if action is None:
                self._loss.skip("message that acts on nothing, and its answer")
            else:
                self._add(action, self._joined(results), step)
        else:
            self._loss.skip("agent message without a call")

    def _calls(self, step: Object) -> list[_Call]:
        calls: list[_Call] = []
        for call in objects(step.get("tool_calls"), "tool_calls"):
            name = as_text(call.get("function_name"), "the function_name of a call")
            if name in HARNESS_CALLS and not sub(step, "extra", EXPORTED):
                self._loss.skip(f"call of {name}")
                continue
            self.tool_names.append(name)
            calls.append((plain(call.get("tool_call_id")), {"name": name, "arguments": call.get("arguments")}))
        return calls

    def _answer_calls(self, step: Object, calls: list[_Call], results: list[Object], reasoning: str | None) -> None:
        """One turn for each call that a result names; results that name none answer the calls that are left."""
        nameless = [result for result in results if not plain(result.get("source_call_id"))]
        for result in results:
            if name := plain(result.get("source_call_id")):
                call = next((call for call in calls if call[0] == name), None)
                if call is None:
                    self._loss.skip("observation without its action")
                    continue
                calls.remove(call)
                self._add(_action_of([call], reasoning), self._joined([result]), step)
        if calls and nameless:
            self._answer_in_order(step, calls, nameless, reasoning)
        else:
            self._loss.skip("observation without its action", len(nameless))
            self._loss.skip("action without an observation", len(calls))

    def _answer_in_order(self, step: Object, calls: list[_Call], results: list[Object], reasoning: str | None) -> None:
        """As many results as calls answer one each; else together they answer all of them, as one action."""
        self._loss.infer("answer joined to its call by order")
        if len(calls) == len(results):
            for call, result in zip(calls, results, strict=True):
                self._add(_action_of([call], reasoning), self._joined([result]), step)
        else:
            self._add(_action_of(calls, reasoning), self._joined(results), step)

    def _said_action(self, message: str, step: Object) -> Action | None:
        """The action of an agent that calls no tools: a written call, Terminus' keys in JSON, or the whole message.

        None where the harness refused it (Terminus acts on nothing but keys) or answered it by itself.
        """
        thought = plain(step.get("reasoning_content"))
        if sub(step, "extra", EXPORTED):
            return Action(message, message, thought or None)
        if (call := written_call(message)) is not None:
            if call.name in HARNESS_CALLS:
                return None
            self.tool_names.append(call.name)
            reasoning = "\n".join(filter(None, (thought, call.said))) or None
            return Action.of({"name": call.name, "arguments": call.arguments}, reasoning=reasoning)
        said = _terminus_message(message)
        keys = _all_keystrokes(said.get("commands"))
        if keys is not None:
            self.tool_names.append(TERMINAL_CALL)
            reasons = (thought, plain(said.get("analysis")), plain(said.get("plan")))
            return Action.of(keys, reasoning="\n".join(filter(None, reasons)) or None)
        if self._is_terminus and "<commands>" not in message:
            return None
        self._loss.infer("action is the agent's whole message")
        return Action(message, message, thought or None)

    def _add(self, action: Action, text: str | None, step: Object) -> None:
        if text is None:
            self._loss.skip("observation without content")
            return
        kept = sub(step, "extra", EXPORTED)
        self._turns.add(
            _kept_action(action, kept),
            _kept_observation(text, kept),
            started_at=instant(step.get("timestamp")),
            duration_s=seconds(kept.get("duration_s")),
        )

    def _joined(self, results: list[Object]) -> str | None:
        """The text of results; None where none has any."""
        for result in results:
            self._loss.drop(
                "reference to a subagent", len(objects(result.get("subagent_trajectory_ref"), "references"))
            )
        contents = [result.get("content") for result in results if result.get("content") is not None]
        return "\n".join(self._text(content, "the content of a result") for content in contents) if contents else None

    def _text(self, content: JsonValue, what: str) -> str:
        if not isinstance(content, list):
            return as_text(content, what)
        texts = [part.get("text") for part in objects(content, what)]
        self._loss.drop("content that is no text", sum(not isinstance(text, str) for text in texts))
        return "\n".join(text for text in texts if isinstance(text, str))


def _action_of(calls: list[_Call], reasoning: str | None) -> Action:
    """Calls as one action: keys where they all are a terminal's, else one call or a list of them."""
    values = [call for _, call in calls]
    if {call.get("name") for call in values} <= {TERMINAL_CALL, COMPLETE_CALL}:
        keys = _all_keystrokes([call.get("arguments") for call in values if call.get("name") == TERMINAL_CALL])
        if keys is not None:
            return Action.of(keys, reasoning=reasoning)
    return Action.of(values[0] if len(values) == 1 else values, reasoning=reasoning)


def _terminus_message(text: str) -> Object:
    """The JSON object in a message, which Terminus takes where it has these parts; else an empty one."""
    try:
        value, _ = DECODER.raw_decode(text, max(0, text.find("{")))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) and {"analysis", "plan", "commands"} <= value.keys() else {}


def _all_keystrokes(commands: JsonValue) -> list[Object] | None:
    """The keys of a list of commands; None where it is none."""
    if not isinstance(commands, list):
        return None
    keys = [_keystrokes(command) for command in commands if isinstance(command, Mapping)]
    found = [command for command in keys if command is not None]
    return found if len(found) == len(commands) else None


def _keystrokes(arguments: Object) -> Object | None:
    """``{"keystrokes", "duration"}``; None where the arguments have no keystrokes."""
    keys, duration = arguments.get("keystrokes"), arguments.get("duration", 1.0)
    if not isinstance(keys, str) or seconds(duration) is None:
        return None
    return {"keystrokes": keys, "duration": duration}


def _reasoning(step: Object, message: str) -> str | None:
    return "\n".join(filter(None, (plain(step.get("reasoning_content")), message))) or None


def _foreign_extra(step: Object) -> Object:
    return {name: value for name, value in sub(step, "extra").items() if name != EXPORTED}


def _kept_action(action: Action, kept: Object) -> Action:
    """The action as our own export kept it, where ATIF cannot say it."""
    text = kept.get("action")
    return Action(text, kept.get("payload"), action.reasoning) if isinstance(text, str) else action


def _kept_observation(text: str, kept: Object) -> Observation:
    kind = plain(kept.get("error_kind"))
    observation = answer(
        text,
        exit_code=int32(kept.get("exit_code")),
        timed_out=kept.get("timed_out") is True,
        truncated=kept.get("truncated") is True,
        error_kind=ErrorKind(kind) if kind in set(ErrorKind) else None,
        error=plain(kept.get("error")) or None,
        tree_status=plain(kept.get("tree_status")) or None,
    )
    size = kept.get("bytes_total")
    if not isinstance(size, int) or not observation.bytes_total <= size < _INT64:
        size = observation.bytes_total
    return replace(observation, renderer=plain(kept.get("renderer")) or observation.renderer, bytes_total=size)
