"""OpenHands' conversations since version 1: a folder of event files, or the events as JSON lines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from trajectories.importers.agent import AgentCalls
from trajectories.importers.base import Imported, Result
from trajectories.importers.contents import content_of, joined_text
from trajectories.importers.file_names import files_named, is_named, unpacked_stem
from trajectories.importers.known import KnownKeys
from trajectories.importers.loss import LossReport, Shape, whole
from trajectories.importers.pairing import Call, Pairing
from trajectories.importers.problems import ContradictionError, Problem, UnreadableError
from trajectories.importers.sources import Row, one_session, read_document, read_rows
from trajectories.importers.tools import action_space, domain_of, tool_objects
from trajectories.importers.turn_list import TurnList, answer
from trajectories.importers.values import (
    Object,
    arguments,
    as_text,
    instant,
    int32,
    objects,
    plain,
    shown,
    sub,
)
from trajectories.model import ErrorKind, JsonValue, Observation, SystemPrompt, canonical_json

_EVENT_FILE: Final = "event-*.json"
_NUMBERED: Final = re.compile(r"event-\d+-", re.IGNORECASE)
_NOT_THE_AGENTS: Final = frozenset({"summary", "kind"})
"""Arguments of a call that are meant for this harness alone."""
_ANSWERS: Final = frozenset({"ObservationEvent", "AgentErrorEvent", "UserRejectObservation"})
_EVENT: Final = whole("id", "timestamp", "kind", "source")
_CALLED: Final = whole("tool_name", "tool_call_id", "action_id")
_PARTS: Final = whole("type", "text")
_PROMPTS: Final = ("SystemPromptEvent", "SystemPromptUpdateEvent")
_PROMPT: Final[Shape] = _EVENT | whole("tools", system_prompt=_PARTS)
_OBSERVED: Final = whole("kind", "is_error", "exit_code", "timeout", content=_PARTS, output=_PARTS, text=_PARTS)
_FIELDS: Final[Mapping[str, Shape]] = {
    "ActionEvent": _EVENT
    | whole("tool_name", "tool_call_id", "action")
    | whole(
        thought=_PARTS,
        reasoning_content=_PARTS,
        thinking_blocks=whole("type", "thinking"),
        tool_call=whole("id", "name", "arguments"),
    ),
    "ObservationEvent": _EVENT | _CALLED | whole(observation=_OBSERVED),
    "AgentErrorEvent": _EVENT | _CALLED | whole("error"),
    "UserRejectObservation": _EVENT | _CALLED | whole("rejection_reason"),
    "MessageEvent": _EVENT | whole(llm_message=whole("role", content=_PARTS)),
    **dict.fromkeys(_PROMPTS, _PROMPT),
}
"""Kind of an event → what is used of it."""
_line_files = files_named("*.jsonl")


def sources(folder: Path) -> Iterable[Path]:
    """Conversations (folders that hold ``events``), and files of JSON lines."""
    event_files = (path for path in folder.rglob("*") if is_named(path, _EVENT_FILE) and _NUMBERED.match(path.name))
    folders = {path.parent.parent if path.parent.name == "events" else path.parent for path in event_files}
    return sorted(folders | set(_line_files(folder)))


def read(source: Path) -> Iterator[Result]:
    """The one trajectory that a source is. Events that cannot be read are problems, and the rest counts."""
    rows = _folder_rows(source) if source.is_dir() else read_rows(source)
    return one_session(source, rows, _Conversation(), line="an event")


def _folder_rows(folder: Path) -> Iterator[Row | Problem]:
    events = folder / "events" if (folder / "events").is_dir() else folder
    for path in sorted(path for path in events.glob("*") if is_named(path, _EVENT_FILE)):
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
        self._agent = AgentCalls(self._loss)
        self._ids_by_call: dict[str, str] = {}
        """``tool_call_id`` → id of the action that waits, for answers that name only the former."""
        self._known = KnownKeys()
        """The actions, by their ids."""
        self._started_at: datetime | None = None
        self._model: str | None = None

    def add(self, event: Object) -> None:
        kind = as_text(event.get("kind"), "the kind of an event")
        if not kind:
            raise UnreadableError("an event has no kind", mend="events of version 0 are the format openhands-v0")
        self.num_read += 1
        self._loss.drop_unknown("event", event, _FIELDS.get(kind, _EVENT))
        self._started_at = self._started_at or instant(event.get("timestamp"))
        if kind == "ActionEvent":
            self._action(event)
        elif kind in _ANSWERS:
            self._answer(kind, event)
        elif kind == "MessageEvent":
            self._message(event)
        elif kind in _PROMPTS:
            self._prompt(event)
        else:
            self._loss.skip(f"{kind} of the harness")

    def imported(self, source: Path, digest: str) -> Imported:
        self._pairing.finish()
        self._loss.infer("status")
        return Imported(
            domain=domain_of(self._agent.names, self._loss) if self._agent.names else "swe",
            digest=digest,
            source_id=source.name if source.is_dir() else unpacked_stem(source.name),
            place=str(source),
            instruction=self._instruction,
            turns=self._turns.turns,
            loss=self._loss,
            started_at=self._started_at,
            prompt=SystemPrompt(task_description=self._system, action_space=action_space(self._tools)),
            tools=self._tools,
            agent="OpenHands",
        )

    def _prompt(self, event: Object) -> None:
        """The first text is the prompt's. Later ones may add tools and take some away: it has all that it ever had."""
        text = joined_text(sub(event, "system_prompt").get("text"), self._loss)
        self._loss.skip("later system prompt", int(bool(self._system)))
        self._system = self._system or text
        for tool in tool_objects(event.get("tools"), self._loss):
            if tool not in self._tools:
                self._tools.append(tool)

    def _message(self, event: Object) -> None:
        if event.get("source") == "user" and not self._instruction:
            self._instruction = joined_text(sub(event, "llm_message").get("content"), self._loss)
        else:
            self._loss.skip(f"message of the {plain(event.get('source')) or 'agent'}")

    def _action(self, event: Object) -> None:
        name, event_id = as_text(event.get("tool_name"), "the name of a tool"), plain(event.get("id"))
        if self._is_repeated(event_id, event):
            self._loss.skip("action repeated")
            return
        call_id = plain(event.get("tool_call_id"))
        if call_id:
            self._ids_by_call[call_id] = event_id
        action = self._agent.action(name, _arguments(event, self._loss), *_thoughts(event, self._loss))
        self._pairing.call([Call(event_id, action, instant(event.get("timestamp")))])

    def _is_repeated(self, event_id: str, event: Object) -> bool:
        """Whether the action was there before. Raises ``ContradictionError`` where its id was another's."""
        content = hashlib.sha256(_encoded(canonical_json(event))).digest()
        known = self._known.add(_encoded(event_id), content) if event_id else None
        if known not in (None, content):
            raise ContradictionError(
                f"two actions have the id {event_id}", mend="give each conversation a folder, or file, of its own"
            )
        return known is not None

    def _answer(self, kind: str, event: Object) -> None:
        call_id = plain(event.get("tool_call_id"))
        id_by_call = self._ids_by_call.pop(call_id, call_id)
        action_id = plain(event.get("action_id")) or id_by_call
        observation = _observation(event, self._loss) if kind == "ObservationEvent" else _refusal(event)
        tool = plain(event.get("tool_name"))
        self._pairing.answer(action_id, observation, instant(event.get("timestamp")), tool=tool)


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _thoughts(event: Object, loss: LossReport) -> list[str]:
    """What the agent thought and said before it acted, each once."""
    blocks = event.get("thinking_blocks")
    thinking = [plain(block.get("thinking")) for block in objects(blocks, "thinking_blocks")]
    loss.drop("thinking that is hidden", sum(not text for text in thinking))
    return [joined_text(event.get("reasoning_content"), loss), *thinking, joined_text(event.get("thought"), loss)]


def _arguments(event: Object, loss: LossReport) -> JsonValue:
    """What the agent asked for: the call as it was made, else the action that the harness made of it."""
    made = arguments(sub(event, "tool_call").get("arguments"))
    given = sub(event, "action")
    if isinstance(made, Mapping) and made:
        loss.drop_fields("event.action", given, made.keys() | {"kind"})
        given = made
    loss.drop("argument summary of the harness", int("summary" in given))
    return {name: value for name, value in given.items() if name not in _NOT_THE_AGENTS}


def _observation(event: Object, loss: LossReport) -> Observation:
    given = sub(event, "observation")
    told = content_of(given.get("content", given.get("output", given.get("text"))), loss)
    exit_code = int32(given.get("exit_code"))
    failed = given.get("is_error") is True
    # Where a command was not run at all there is no exit code: it was refused.
    kind = ErrorKind.TOOL if exit_code is not None or "exit_code" not in given else ErrorKind.AGENT
    return answer(
        told.text,
        truncated=told.is_cut,
        exit_code=exit_code,
        timed_out=given.get("timeout") is True,
        error_kind=kind if failed else None,
        error=told.text if failed else None,
    )


def _refusal(event: Object) -> Observation:
    """The harness, or the user, did not let the call through."""
    text = shown(event.get("error")) or shown(event.get("rejection_reason"))
    return answer(text, error_kind=ErrorKind.AGENT, error=text)
