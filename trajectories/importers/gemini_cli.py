"""Gemini CLI's session files: one document, each call with its result beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trajectories.importers.agent import AgentCalls
from trajectories.importers.base import Imported, NoTrajectory, Result
from trajectories.importers.contents import NOT_KEPT, Content, all_of, joined_text, shown_content
from trajectories.importers.file_names import files_named
from trajectories.importers.loss import LossReport, whole
from trajectories.importers.pairing import is_of
from trajectories.importers.problems import UnreadableError
from trajectories.importers.sources import Row, each_row
from trajectories.importers.turn_list import TurnList, answer
from trajectories.importers.values import Object, as_object, as_text, instant, objects, plain, sub
from trajectories.model import ErrorKind

sources = files_named("*.json")

_FIELDS: Final = {"sessionId", "startTime", "lastUpdated", "messages"}
_RESPONSE: Final = whole("id", "name", "response")
_MESSAGE: Final = whole(
    *("id", "timestamp", "type", "model"),
    content=whole("text"),
    thoughts=whole("subject", "description"),
    toolCalls=whole("id", "name", "args", "status", "timestamp", result=whole(functionResponse=_RESPONSE)),
)


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
        self._calls = AgentCalls(self.loss)
        self.instruction = ""
        self.model: str | None = None

    def add(self, message: Object) -> None:
        self.loss.drop_unknown("message", message, _MESSAGE)
        kind, text = plain(message.get("type")), joined_text(message.get("content"), self.loss)
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
        self.loss.skip("agent message without a call", int(not calls))
        for call in calls:
            self._call(call, [*said, text])

    def _call(self, call: Object, reasons: list[str]) -> None:
        parts = objects(call.get("result"), "the result")
        responses = [sub(part, "functionResponse", "response") for part in parts if "functionResponse" in part]
        action = self._calls.action(as_text(call.get("name"), "the name of a call"), call.get("args"), *reasons)
        if action is None or not parts:
            self.loss.skip("answer to a call of the harness" if action is None else "action without an observation")
            return
        named = [plain(sub(part, "functionResponse").get("name")) for part in parts]
        if not all(is_of(name, action) for name in named):
            self.loss.infer("answer beside its call, though it names another tool")
        num_others = len(parts) - len(responses)
        self.loss.drop("content that is no text", num_others)
        told = [_output(response, self.loss) for response in responses]
        output = all_of([*told, *[NOT_KEPT] * num_others])
        failed = any("error" in response for response in responses) or call.get("status") == "error"
        self.turns.add(
            action,
            answer(
                output.text,
                truncated=output.is_cut,
                error_kind=ErrorKind.TOOL if failed else None,
                error=output.text if failed else None,
            ),
            started_at=instant(call.get("timestamp")),
        )


def _output(response: Object, loss: LossReport) -> Content:
    """A response's output or error; anything else as JSON."""
    for name in ("output", "error"):
        if name in response:
            loss.drop_fields("response", response, {name})
            return shown_content(response[name], loss)
    return shown_content(response, loss)
