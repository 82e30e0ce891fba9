"""Claude Code's session files: a line a message, tool calls and their results as blocks of messages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from trajectories.importers.agent import AgentCalls
from trajectories.importers.base import Imported, Result
from trajectories.importers.blocks import drop_unknown_of_block, tool_result
from trajectories.importers.file_names import files_named, unpacked_stem
from trajectories.importers.known import KnownKeys
from trajectories.importers.loss import LossReport, whole
from trajectories.importers.pairing import Call, Pairing
from trajectories.importers.problems import UnreadableError
from trajectories.importers.sources import one_session, read_rows
from trajectories.importers.turn_list import TurnList
from trajectories.importers.values import Object, as_object, as_text, instant, objects, plain, shown
from trajectories.model import JsonValue

sources = files_named("*.jsonl")

_NOT_SAID_BY_A_PERSON: Final = (
    "<command-",
    "<local-command-",
    "<bash-",
    "<system-reminder>",
    "Caveat: The messages below",
)
_LINE: Final = whole(
    *("type", "timestamp", "sessionId", "uuid", "isSidechain", "isMeta", "version", "parentUuid"),
    message=whole("type", "role", "model", "content"),
)


def read(source: Path) -> Iterator[Result]:
    """The one trajectory that a session is. Lines that cannot be read are problems, and the rest counts."""
    return one_session(source, read_rows(source), _Session(), line="a line")


class _Session:
    """Reads lines in their order."""

    def __init__(self) -> None:
        self.num_read = 0
        self._loss = LossReport()
        self._turns = TurnList(self._loss)
        self._pairing = Pairing(self._turns, self._loss)
        self._seen = KnownKeys()
        """The uuids of the lines: some lines are short, and a session may have millions."""
        self._instruction = self._session_id = ""
        self._later_ids: set[str] = set()
        self._foreign_ids: set[str] = set()
        self._model: str | None = None
        self._version = ""
        self._started_at: datetime | None = None
        self._calls = AgentCalls(self._loss)

    def add(self, line: Object) -> None:
        """Raises ``UnreadableError`` for what is no line of a session."""
        kind = as_text(line.get("type"), "the type of a line")
        self._loss.drop_unknown("line", line, _LINE)
        if kind not in ("user", "assistant"):
            if not kind:
                raise UnreadableError("the line has no type")
            self._loss.skip(f"line of the type {kind}")
            self._was_seen(line)
            return
        message = as_object(line.get("message"), "the message of a line")
        content = message.get("content")
        if content is None:
            raise UnreadableError("a message has no content")
        blocks: list[Object] = [{"type": "text", "text": content}]
        if not isinstance(content, str):
            blocks = objects(content, "the content of a message")
        for block in blocks:
            drop_unknown_of_block("block", block, self._loss)
        if self._is_passed_over(line) or self._is_of_another_session(line):
            return
        self._note(line, message)
        time = instant(line.get("timestamp"))
        if kind == "assistant":
            self._agent(blocks, time)
        else:
            self._user(blocks, time, is_meta=line.get("isMeta") is True)

    def imported(self, source: Path, digest: str) -> Imported:
        self._pairing.finish()
        self._loss.infer("domain")
        self._loss.infer("status")
        return Imported(
            domain="swe",
            digest=digest,
            source_id=self._session_id or unpacked_stem(source.name),
            place=str(source),
            instruction=self._instruction,
            turns=self._turns.turns,
            loss=self._loss,
            started_at=self._started_at,
            agent="Claude Code",
            model=self._model,
            versions={"Claude Code": self._version} if self._version else {},
        )

    def _is_passed_over(self, line: Object) -> bool:
        """A line that was there before (a resumed session repeats them), or is a subagent's."""
        repeated, sidechain = self._was_seen(line), line.get("isSidechain") is True
        self._loss.skip("line repeated", int(repeated))
        self._loss.skip("line of a subagent", int(sidechain and not repeated))
        return repeated or sidechain

    def _was_seen(self, line: Object) -> bool:
        """Whether a line was there before; from now on it was."""
        uuid = _key(line.get("uuid"))
        return bool(uuid) and self._seen.add(uuid) is not None

    def _note(self, line: Object, message: Object) -> None:
        self.num_read += 1
        self._version = self._version or plain(line.get("version"))
        self._model = self._model or plain(message.get("model")) or None
        self._started_at = self._started_at or instant(line.get("timestamp"))

    def _is_of_another_session(self, line: Object) -> bool:
        """A session that is resumed may go on under another id: its first line then follows one of the old id.

        Raises ``UnreadableError`` for the first line of a session that does not.
        """
        session_id = plain(line.get("sessionId"))
        self._session_id = self._session_id or session_id
        if not session_id or session_id in {self._session_id, *self._later_ids}:
            return False
        if session_id in self._foreign_ids:
            self._loss.skip("line of another session")
            return True
        if _key(line.get("parentUuid")) in self._seen:
            self._loss.infer("session that goes on under another id")
            self._later_ids.add(session_id)
            return False
        self._foreign_ids.add(session_id)
        raise UnreadableError(
            f"the session {session_id} begins in the file of {self._session_id}", mend="give it a file of its own"
        )

    def _agent(self, blocks: list[Object], time: datetime | None) -> None:
        calls: list[Call] = []
        for block in blocks:
            kind = plain(block.get("type"))
            if kind in ("text", "thinking"):
                self._calls.say(shown(block.get(kind)))
            elif kind == "tool_use":
                name = as_text(block.get("name"), "the name of a call")
                action = self._calls.action(name, block.get("input"))
                calls.append(Call(plain(block.get("id")), action, time))
            else:
                self._loss.skip(f"block of the type {kind}")
        self._pairing.call(calls)
        self._loss.skip("agent message without a call", int(not calls))

    def _user(self, blocks: list[Object], time: datetime | None, *, is_meta: bool) -> None:
        for block in blocks:
            kind = plain(block.get("type"))
            if kind == "tool_result":
                self._pairing.answer(plain(block.get("tool_use_id")), tool_result(block, self._loss), time)
            elif kind != "text":
                self._loss.drop("content that is no text")
            else:
                self._person(shown(block.get("text")), is_meta=is_meta)

    def _person(self, text: str, *, is_meta: bool) -> None:
        if is_meta or text.startswith(_NOT_SAID_BY_A_PERSON):
            self._loss.skip("message of the harness")
        elif self._instruction:
            self._loss.skip("user message after the first")
        else:
            self._instruction = text


def _key(uuid: JsonValue) -> bytes:
    return plain(uuid).encode(errors="surrogatepass")
