"""OpenHands' event stream up to version 0: lists of events, or the rows of an evaluation with their history."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from trajectories.importers.agent import AgentCalls
from trajectories.importers.base import Imported, NoTrajectory, Result
from trajectories.importers.contents import shown_content
from trajectories.importers.file_names import files_named, unpacked_stem
from trajectories.importers.loss import LossReport, Shape, whole
from trajectories.importers.pairing import Call, Pairing
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.sources import Layout, Row, built, read_document, read_rows
from trajectories.importers.tools import domain_of
from trajectories.importers.turn_list import TurnList, answer
from trajectories.importers.values import Object, as_list, as_object, as_text, instant, int32, plain, shown, sub
from trajectories.model import ErrorKind, JsonValue, Observation, SystemPrompt

sources = files_named("*.json", "*.jsonl")

_NO_ACTION: Final = frozenset(
    {"message", "finish", "null", "recall", "system", "change_agent_state", "think", "reject", "delegate"}
    | {"condensation", "condensation_request", "task_tracking", "add_task", "modify_task", "pause", "resume", "start"}
)
"""Actions that never reach an environment."""
_NO_ANSWER: Final = frozenset(
    {"agent_state_changed", "null", "recall", "think", "condense", "delegate", "user_rejected"}
)
_HARNESS_FIELDS: Final = frozenset(
    {"thought", "impl_source", "translated_ipython_code", "blocking", "hidden", "confirmation_state", "is_confirmed"}
    | {"keep_prompt", "action_risk", "security_risk", "kernel_init_code", "cwd", "include_extra", "is_static"}
)
"""Arguments that are the harness's own, not the agent's."""
_EVENT_FIELDS: Final = frozenset({"id", "timestamp", "source", "message", "cause", "action", "observation", "args"})
_EVENT: Final = whole(
    *("id", "timestamp", "source", "cause", "action", "observation", "args"),
    tool_call_metadata=whole(model_response=whole("model")),
)
_OBSERVED: Final[Shape] = _EVENT | whole("content", "exit_code", extras=whole("exit_code", metadata=whole("exit_code")))
_SAID: Final = {"content", "thought"}
"""Arguments of what is no action that are used."""
_NOT_EXECUTED: Final = re.compile(r"\s*the action has not been executed\b", re.IGNORECASE)
"""What the harness says where its runtime was gone."""
_ROW_FIELDS: Final = frozenset({"history", "instruction", "instance_id", "success", "error", "git_patch"})


def read(source: Path) -> Iterator[Result]:
    """A file that is a list of events is one trajectory; else every row that has a history is."""
    for row in read_rows(source):
        if isinstance(row, Problem):
            yield row
        elif row.layout is Layout.ARRAY and _is_event(row.value):
            # The whole array is one stream: read again, as such.
            yield built(read_document(source), _imported)
            return
        else:
            yield built(row, _imported)


def _is_event(value: JsonValue) -> bool:
    return isinstance(value, Mapping) and ("action" in value or "observation" in value)


def _imported(row: Row) -> Imported | NoTrajectory:
    fields: Object = {"history": row.value} if isinstance(row.value, list) else as_object(row.value, "the row")
    if "history" not in fields:
        raise UnreadableError("the row has no history of events")
    stream = _Stream()
    stream.loss.drop_fields("row", fields, _ROW_FIELDS)
    for event in _events(fields.get("history"), stream.loss):
        stream.add(event)
    stream.pairing.finish()
    outcome = {name: fields[name] for name in ("success", "git_patch") if fields.get(name) is not None}
    if not outcome:
        stream.loss.infer("status")
    return Imported(
        domain=domain_of(stream.agent.names, stream.loss) if stream.agent.names else "swe",
        digest=row.digest,
        source_id=plain(fields.get("instance_id")) or unpacked_stem(Path(row.file).name),
        place=row.place,
        instruction=plain(fields.get("instruction")) or stream.instruction,
        turns=stream.turns.turns,
        loss=stream.loss,
        started_at=stream.started_at,
        outcome=outcome,
        error=shown(fields.get("error")) or None,
        prompt=SystemPrompt(task_description=stream.system),
        agent="OpenHands",
        model=stream.model,
    )


def _events(history: JsonValue, loss: LossReport) -> Iterator[Object]:
    """The events; older evaluations have pairs of an action and its observation instead.

    What is no object is named by its number, and costs itself alone.
    """
    for number, event in enumerate(as_list(history, "the history"), 1):
        for part in event if isinstance(event, list) else [event]:
            if isinstance(part, Mapping):
                yield part
            else:
                loss.skip(f"event {number} of a history, which is no object")


class _Stream:
    """Reads events in their order."""

    def __init__(self) -> None:
        self.loss = LossReport()
        self.turns = TurnList(self.loss)
        self.pairing = Pairing(self.turns, self.loss)
        self.instruction = self.system = ""
        self.agent = AgentCalls(self.loss)
        self.model: str | None = None
        self.started_at: datetime | None = None

    def add(self, event: Object) -> None:
        self.loss.drop_unknown("event", event, _used(event))
        self.started_at = self.started_at or _time(event)
        self.model = self.model or plain(sub(event, "tool_call_metadata", "model_response").get("model")) or None
        if event.get("action") is not None:
            self._action(as_text(event.get("action"), "an action"), event)
        elif event.get("observation") is not None:
            self._observation(as_text(event.get("observation"), "an observation"), event)
        else:
            raise UnreadableError("an event is neither an action nor an observation")

    def _action(self, kind: str, event: Object) -> None:
        # Events before version 0.9 have their arguments beside the kind.
        given = event.get("args")
        given = as_object(given, "args") if given is not None else _without(event, _EVENT_FIELDS)
        if kind in _NO_ACTION:
            self.loss.drop_fields("args", given, _SAID)
        if kind == "message" and event.get("source", "user") == "user" and not self.instruction:
            self.instruction = shown(given.get("content"))
        elif kind == "system" and not self.system:
            self.system = shown(given.get("content"))
        elif kind in _NO_ACTION:
            self.loss.skip(f"{kind} of the {plain(event.get('source')) or 'agent'}")
            if kind == "think":
                self.agent.say(plain(given.get("thought")))
        else:
            self.loss.drop_fields("args", given, given.keys() - _HARNESS_FIELDS | {"thought"})
            arguments = {name: value for name, value in given.items() if name not in _HARNESS_FIELDS}
            action = self.agent.action(kind, arguments, plain(given.get("thought")))
            self.pairing.call([Call(plain(event.get("id")), action, _time(event))])

    def _observation(self, kind: str, event: Object) -> None:
        if kind in _NO_ANSWER:
            self.loss.skip(f"{kind} of the harness")
        else:
            self.pairing.answer(_cause(event), _answer(kind, event, self.loss), _time(event))


def _used(event: Object) -> Shape:
    """What is used of an event; of an old action all that lies beside its kind: these are its arguments."""
    if event.get("action") is None:
        return _OBSERVED
    return _EVENT if event.get("args") is not None else _EVENT | whole(*(event.keys() - _EVENT_FIELDS))


def _cause(event: Object) -> str:
    return plain(event.get("cause"))


def _answer(kind: str, event: Object, loss: LossReport) -> Observation:
    extras = sub(event, "extras")
    codes = (sub(extras, "metadata").get("exit_code"), extras.get("exit_code"), event.get("exit_code"))
    as_text(event.get("content"), "the content of an observation")
    told = shown_content(event.get("content"), loss)
    is_error = kind == "error"
    # The world's, if its words do not say that the call was refused.
    kind_of_error = ErrorKind.ENVIRONMENT if _NOT_EXECUTED.match(told.text) else ErrorKind.TOOL
    return answer(
        told.text,
        truncated=told.is_cut,
        exit_code=next((code for code in map(int32, codes) if code is not None), None),
        error_kind=kind_of_error if is_error else None,
        error=told.text if is_error else None,
    )


def _time(event: Object) -> datetime | None:
    return instant(event.get("timestamp"))


def _without(event: Object, names: frozenset[str]) -> Object:
    return {name: value for name, value in event.items() if name not in names}
