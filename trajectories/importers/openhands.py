"""OpenHands' conversations since version 1: a folder of event files, or the events as JSON lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from trajectories.importers.base import Imported, Problem, Result, TurnList, UnreadableError, answer
from trajectories.importers.loss import LossReport
from trajectories.importers.pairing import Call, Pairing
from trajectories.importers.sources import Row, one_session, read_document, read_rows
from trajectories.importers.tools import HARNESS_CALLS, action_space, domain_of, tool_objects
from trajectories.importers.values import Object, arguments, as_text, instant, int32, plain, shown, sub
from trajectories.model import Action, ErrorKind, JsonValue, Observation, SystemPrompt

_EVENT_FILE: Final = re.compile(r"event-\d+-.*\.json")
_NOT_THE_AGENTS: Final = frozenset({"security_risk", "summary", "kind"})
"""Arguments of a call that are meant for the harness."""
_ANSWERS: Final = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})


def sources(folder: Path) -> Iterable[Path]:
    """Conversations (folders that hold ``events``), and files of JSON lines."""
    folders = {path.parent.parent if path.parent.name == "events" else path.parent for path in _event_files(folder)}
    return sorted(folders | set(folder.rglob("*.jsonl")))


def read(source: Path) -> Iterator[Result]:
    """The one trajectory that a source is. Events that cannot be read are problems, and the rest counts."""
    rows = _folder_rows(source) if source.is_dir() else read_rows(source)
    return one_session(source, rows, _Conversation(), line="an event")


def _event_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("event-*.json") if _EVENT_FILE.fullmatch(path.name))


def _folder_rows(folder: Path) -> Iterator[Row | Problem]:
    events = folder / "events" if (folder / "events").is_dir() else folder
    for path in sorted(events.glob("event-*.json")):
        try:
            yield read_document(path)
        except UnreadableError as error:
            yield Problem(str(path), None, error.what)


class _Conversation:
    """Reads events in their order."""

    def __init__(self) -> None:
        self.num_read = 0
        self._loss = LossReport()
        self._turns = TurnList(self._loss)
        self._pairing = Pairing(self._turns, self._loss)
        self._instruction = self._system = ""
        self._tools: list[Object] = []
        self._tool_names: list[str] = []
        self._ids_by_call: dict[str, str] = {}
        """``tool_call_id`` → id of the action, for answers that name only the former."""
        self._not_turns: set[str] = set()
        self._started_at: datetime | None = None
        self._model: str | None = None

    def add(self, event: Object) -> None:
        kind = as_text(event.get("kind"), "the kind of an event")
        if not kind:
            raise UnreadableError("an event has no kind", mend="events of version 0 are the format openhands-v0")
        self.num_read += 1
        self._started_at = self._started_at or instant(event.get("timestamp"))
        if kind == "ActionEvent":
            self._action(event)
        elif kind in _ANSWERS:
            self._answer(kind, event)
        elif kind == "MessageEvent":
            self._message(event)
        elif kind == "SystemPromptEvent" and not self._system:
            self._system = _text(sub(event, "system_prompt").get("text"), self._loss)
            self._tools = tool_objects(event.get("tools"), self._loss)
        else:
            self._loss.skip(f"{kind} of the harness")

    def imported(self, source: Path, digest: str) -> Imported:
        self._pairing.finish()
        self._loss.infer("status")
        return Imported(
            domain=domain_of(self._tool_names, self._loss) if self._tool_names else "swe",
            digest=digest,
            source_id=source.name if source.is_dir() else source.stem,
            place=str(source),
            instruction=self._instruction,
            turns=self._turns.turns,
            loss=self._loss,
            started_at=self._started_at,
            prompt=SystemPrompt(task_description=self._system, action_space=action_space(self._tools)),
            tools=self._tools,
            agent="OpenHands",
        )

    def _message(self, event: Object) -> None:
        if event.get("source") == "user" and not self._instruction:
            self._instruction = _text(sub(event, "llm_message").get("content"), self._loss)
        else:
            self._loss.skip(f"message of the {plain(event.get('source')) or 'agent'}")

    def _action(self, event: Object) -> None:
        name, event_id = as_text(event.get("tool_name"), "the name of a tool"), plain(event.get("id"))
        call_id = plain(event.get("tool_call_id"))
        if name in HARNESS_CALLS:
            self._loss.skip(f"call of {name}")
            self._not_turns |= {event_id, call_id} - {""}
            return
        self._tool_names.append(name)
        if call_id:
            self._ids_by_call[call_id] = event_id
        thoughts = (event.get("reasoning_content"), event.get("thought"))
        reasoning = "\n".join(filter(None, (_text(thought, self._loss) for thought in thoughts))) or None
        action = Action.of({"name": name, "arguments": _arguments(event)}, reasoning=reasoning)
        self._pairing.call([Call(event_id, action, instant(event.get("timestamp")))])

    def _answer(self, kind: str, event: Object) -> None:
        call_id = plain(event.get("tool_call_id"))
        action_id = plain(event.get("action_id")) or self._ids_by_call.get(call_id, call_id)
        if {action_id, call_id} & self._not_turns:
            self._loss.skip("answer to a call of the harness")
            return
        observation = _observation(event, self._loss) if kind == "ObservationEvent" else _refusal(event)
        self._pairing.answer(action_id, observation, instant(event.get("timestamp")))


def _arguments(event: Object) -> JsonValue:
    """What the agent asked for: the call as it was made, else the action that the harness made of it."""
    made = arguments(sub(event, "tool_call").get("arguments"))
    given = made if isinstance(made, Mapping) and made else sub(event, "action")
    return {name: value for name, value in given.items() if name not in _NOT_THE_AGENTS}


def _observation(event: Object, loss: LossReport) -> Observation:
    given = sub(event, "observation")
    text = _text(given.get("content", given.get("output", given.get("text"))), loss)
    exit_code = int32(given.get("exit_code"))
    failed = given.get("is_error") is True
    # Where a command was not run at all there is no exit code: it was refused.
    kind = ErrorKind.TOOL if exit_code is not None or "exit_code" not in given else ErrorKind.AGENT
    return answer(
        text,
        exit_code=exit_code,
        timed_out=given.get("timeout") is True,
        error_kind=kind if failed else None,
        error=text if failed else None,
    )


def _refusal(event: Object) -> Observation:
    """The harness, or the user, did not let the call through."""
    text = shown(event.get("error")) or shown(event.get("rejection_reason"))
    return answer(text, error_kind=ErrorKind.AGENT, error=text)


def _text(content: JsonValue, loss: LossReport) -> str:
    if not isinstance(content, list):
        return shown(content)
    texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    loss.drop("content that is no text", len(content) - sum(isinstance(text, str) for text in texts))
    return "\n".join(text for text in texts if isinstance(text, str))
