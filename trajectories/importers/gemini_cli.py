"""Gemini CLI's session files: one document, each call with its result beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from trajectories.importers.base import Imported, NoTrajectory, Result, TurnList, UnreadableError, answer, files_named
from trajectories.importers.loss import LossReport
from trajectories.importers.sources import Row, each_row
from trajectories.importers.values import Object, as_object, as_text, instant, objects, plain, shown, sub
from trajectories.model import Action, ErrorKind, JsonValue

sources = files_named("session-*.json", "*.json")

_FIELDS: Final = {"sessionId", "startTime", "lastUpdated", "messages"}
_CALL_FIELDS: Final = {"id", "name", "args", "result", "status", "timestamp"}


def read(source: Path) -> Iterator[Result]:
    """A trajectory a session."""
    return each_row(source, _imported)


def _imported(row: Row) -> Imported | NoTrajectory:
    fields = as_object(row.value, "the session")
    if "messages" not in fields:
        raise UnreadableError("the session has no messages")
    session = _Session()
    session.loss.drop_fields("session", fields, _FIELDS)
    for message in objects(fields.get("messages"), "messages"):
        session.add(message)
    session.loss.infer("domain")
    session.loss.infer("status")
    return Imported(
        domain="swe",
        digest=row.digest,
        source_id=plain(fields.get("sessionId")),
        place=row.place,
        instruction=session.instruction,
        turns=session.turns.turns,
        loss=session.loss,
        started_at=instant(fields.get("startTime")),
        agent="Gemini CLI",
        model=session.model,
    )


class _Session:
    """Reads messages in their order."""

    def __init__(self) -> None:
        self.loss = LossReport()
        self.turns = TurnList(self.loss)
        self.instruction = ""
        self.model: str | None = None

    def add(self, message: Object) -> None:
        kind, text = plain(message.get("type")), self._text(message.get("content"))
        if kind == "user":
            if self.instruction:
                self.loss.skip("user message after the first")
            self.instruction = self.instruction or text
        elif kind == "gemini":
            self.model = self.model or plain(message.get("model")) or None
            self._agent(message, text)
        else:
            self.loss.skip(f"message of the type {kind}")

    def _agent(self, message: Object, text: str) -> None:
        calls = objects(message.get("toolCalls"), "toolCalls")
        thoughts = objects(message.get("thoughts"), "thoughts")
        said = [plain(thought.get(part)) for thought in thoughts for part in ("subject", "description")]
        reasoning = "\n".join(filter(None, [*said, text])) or None
        self.loss.skip("agent message without a call", int(not calls))
        for call in calls:
            self._call(call, reasoning)

    def _call(self, call: Object, reasoning: str | None) -> None:
        self.loss.drop_fields("toolCall", call, _CALL_FIELDS)
        responses = [sub(part, "functionResponse", "response") for part in objects(call.get("result"), "the result")]
        if not responses:
            self.loss.skip("action without an observation")
            return
        name = as_text(call.get("name"), "the name of a call")
        output = "\n".join(map(_output, responses))
        failed = any("error" in response for response in responses) or call.get("status") == "error"
        self.turns.add(
            Action.of({"name": name, "arguments": call.get("args")}, reasoning=reasoning),
            answer(output, error_kind=ErrorKind.TOOL if failed else None, error=output if failed else None),
            started_at=instant(call.get("timestamp")),
        )

    def _text(self, content: JsonValue) -> str:
        if not isinstance(content, list):
            return shown(content)
        texts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        self.loss.drop("content that is no text", sum(not isinstance(text, str) for text in texts))
        return "\n".join(text for text in texts if isinstance(text, str))


def _output(response: Object) -> str:
    """A response's output or error; anything else as JSON."""
    for name in ("output", "error"):
        if name in response:
            return shown(response[name])
    return shown(response)
