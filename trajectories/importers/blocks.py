"""Blocks of Anthropic's messages: what a content is made of that is more than a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trajectories.importers.contents import Content, content_of
from trajectories.importers.loss import LossReport, Shape, whole
from trajectories.importers.turn_list import answer
from trajectories.importers.values import Object, plain
from trajectories.model import ErrorKind, JsonValue, Observation

_TEXT: Final = whole("type", "text")
BLOCKS: Final[Mapping[str, Shape]] = {
    "tool_use": whole("type", "id", "name", "input"),
    "tool_result": whole("type", "tool_use_id", "is_error", content=_TEXT),
    "thinking": whole("type", "thinking"),
}
"""Type of a block that is no text → what is used of it."""


def drop_unknown_of_block(where: str, block: JsonValue, loss: LossReport) -> None:
    """Note what a block holds that is not used."""
    kind = plain(block.get("type")) if isinstance(block, Mapping) else ""
    loss.drop_unknown(where, block, BLOCKS.get(kind, _TEXT))


def tool_result(block: Object, loss: LossReport) -> Observation:
    """What a ``tool_result`` tells."""
    # A tool that has nothing to say has a result without a content.
    told = content_of(block["content"], loss) if "content" in block else Content("")
    failed = block.get("is_error") is True
    return answer(
        told.text,
        truncated=told.is_cut,
        error_kind=ErrorKind.TOOL if failed else None,
        error=told.text if failed else None,
    )
