"""Codex's rollout files: a line an item of the Responses API, among lines about the session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trajectories.importers.base import Imported, Result
from trajectories.importers.file_names import files_named, unpacked_stem
from trajectories.importers.loss import whole
from trajectories.importers.problems import ContradictionError, UnreadableError
from trajectories.importers.responses import Items
from trajectories.importers.sources import one_session, read_rows
from trajectories.importers.values import Object, as_text, instant, objects, plain, shown, sub
from trajectories.model import SystemPrompt, canonical_json

sources = files_named("*.jsonl")

_LINE: Final = whole("timestamp", "type", "payload")
_META: Final = whole("id", "timestamp", "instructions", "base_instructions", "cli_version")
_CONTEXT: Final = whole("model")
_NOT_SAID_BY_A_PERSON: Final = ("<environment_context>", "<user_instructions>", "# AGENTS.md")


def read(source: Path) -> Iterator[Result]:
    """The one trajectory that a rollout is. Lines that cannot be read are problems, and the rest counts."""
    return one_session(source, read_rows(source), _Rollout(), line="a line")


class _Rollout:
    """Reads lines in their order."""

    def __init__(self) -> None:
        self.num_read = 0
        self._items = Items()
        self._meta: Object = {}
        self._model = ""

    def add(self, line: Object) -> None:
        """Raises ``UnreadableError`` for what is no line of a rollout."""
        kind = as_text(line.get("type"), "the type of a line")
        if not kind:
            raise UnreadableError("the line has no type")
        payload, loss = sub(line, "payload"), self._items.loss
        if "payload" in line:
            loss.drop_unknown("line", line, _LINE)
        if kind == "session_meta":
            loss.drop_unknown("session_meta", payload, _META)
            self._begin(payload)
        elif kind == "turn_context":
            loss.drop_unknown("turn_context", payload, _CONTEXT)
            self._model = self._model or plain(payload.get("model"))
        elif kind == "response_item":
            self._item(payload, line)
        elif "payload" in line:
            loss.drop_unknown(kind, payload, whole("type"))
            loss.skip(f"line of the type {kind}")
        else:
            # Rollouts of 2025's first half have the items without an envelope.
            self._item(line, line)

    def _begin(self, meta: Object) -> None:
        """A fork begins with its own line about the session, and repeats that of the session which it names there."""
        first, other = plain(self._meta.get("id")), plain(meta.get("id"))
        if not self._meta:
            self._meta = meta
        elif other == first:
            self._items.loss.skip("session_meta repeated")
        elif other and canonical_json(other) in canonical_json(self._meta):
            self._items.loss.infer("turns of the session that this one was forked from")
        else:
            raise ContradictionError(
                f"the sessions {first} and {other} are in one file", mend="give each a file of its own"
            )

    def imported(self, source: Path, digest: str) -> Imported:
        turns, items = self._items.finish(), self._items
        items.loss.infer("domain")
        items.loss.infer("status")
        instructions = shown(self._meta.get("instructions") or self._meta.get("base_instructions"))
        return Imported(
            domain="swe",
            digest=digest,
            source_id=plain(self._meta.get("id")) or unpacked_stem(source.name),
            place=str(source),
            instruction=items.instruction,
            turns=turns,
            loss=items.loss,
            started_at=instant(self._meta.get("timestamp")),
            prompt=SystemPrompt(task_description=instructions or items.system),
            agent="Codex",
            model=self._model or None,
            versions={"codex": version} if (version := plain(self._meta.get("cli_version"))) else {},
        )

    def _item(self, item: Object, line: Object) -> None:
        self.num_read += 1
        if item.get("role") == "user" and _is_of_the_harness(item):
            self._items.pass_over(item, "message of the harness")
        else:
            self._items.add(item, line.get("timestamp"))


def _is_of_the_harness(item: Object) -> bool:
    content = item.get("content")
    first = objects(content, "the content of a message")[0].get("text") if isinstance(content, list) and content else ""
    return plain(first).startswith(_NOT_SAID_BY_A_PERSON)
