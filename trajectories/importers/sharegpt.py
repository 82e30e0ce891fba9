"""ShareGPT's conversations (``from``, ``value``), with calls and observations as LLaMA-Factory and Hermes have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from trajectories.importers.base import Imported, NoTrajectory, Result
from trajectories.importers.file_names import files_named
from trajectories.importers.messages import imported
from trajectories.importers.problems import UnreadableError
from trajectories.importers.sources import Row, each_row
from trajectories.importers.values import Object, arguments, as_object, as_text, objects

sources = files_named("*.jsonl", "*.json", "*.parquet")

_ROLES: Final[Mapping[str, str]] = {
    "human": "user",
    **dict.fromkeys(("gpt", "chatgpt", "bard", "bing", "model", "ai"), "assistant"),
}
"""Who speaks → the role of a message; others have a role's name already."""


def read(source: Path) -> Iterator[Result]:
    """A conversation a row."""
    return each_row(source, _imported)


def _imported(row: Row) -> Imported | NoTrajectory:
    fields = as_object(row.value, "the row")
    name = "conversations" if "conversations" in fields else "conversation"
    if name not in fields:
        mend = "import it as messages" if "messages" in fields else None
        raise UnreadableError("the row has no conversations", mend=mend)
    messages = list(map(_message, objects(arguments(fields[name]), name)))
    if system := as_text(fields.get("system"), "system"):
        messages.insert(0, {"role": "system", "content": system})
    others = {key: value for key, value in fields.items() if key not in (name, "system")}
    return imported(replace(row, value={**others, "messages": messages}))


def _message(item: Object) -> Object:
    if "from" not in item:
        return item
    speaker = as_text(item["from"], "who speaks")
    rest = {key: value for key, value in item.items() if key not in ("from", "value")}
    return {**rest, "role": _ROLES.get(speaker, speaker), "content": item.get("value")}
