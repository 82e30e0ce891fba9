"""Contents: what was said or answered, as text, and whether any text of it is left.

What is no text is left out and counted. An answer of which no text is left then (an image alone, or null where its
format has a text) is not silence: the environment has answered more than is kept, and so its observation is marked as
cut. Silence is an empty text, or a list of no parts; a call without an answer of any kind is no turn.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final, NamedTuple

from trajectories.importers.images import without_images
from trajectories.importers.loss import LossReport
from trajectories.importers.values import plain, shown
from trajectories.model import JsonValue


class Content(NamedTuple):
    """The text of a content."""

    text: str
    is_cut: bool = False
    """Whether there was something, and no text of it is left."""


NOT_KEPT: Final = Content("", is_cut=True)
"""An answer that is no text."""


def content_of(content: JsonValue, loss: LossReport, elsewhere: Container[str] = ()) -> Content:
    """The text of a content: a string, or strings and parts with a text each, on lines of their own. Nothing for None.

    A part without a text is noted, unless its type is one that is taken ``elsewhere``; what is no content at all is
    shown as JSON, and that is noted.
    """
    if not isinstance(content, list):
        loss.infer("content that is no text shown as JSON", int(not isinstance(content, str | None)))
        return shown_content(content, loss)
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
    others = [part for part, text in zip(content, texts, strict=True) if not isinstance(text, str)]
    kinds = (plain(part.get("type")) if isinstance(part, Mapping) else "" for part in others)
    num_lost = sum(kind not in elsewhere for kind in kinds)
    loss.drop("content that is no text", num_lost)
    told = [shown_content(text, loss) for text in texts if isinstance(text, str)]
    return all_of([*told, *[NOT_KEPT] * num_lost])


def joined_text(content: JsonValue, loss: LossReport) -> str:
    """The text of a content that is no answer, so that it does not matter whether it is cut."""
    return content_of(content, loss).text


def shown_content(value: JsonValue, loss: LossReport) -> Content:
    """A text as it is, and all else as JSON, without the images in it; None is an answer that was not kept."""
    left, num_images = without_images(value)
    loss.drop("content that is no text", num_images)
    text = shown(left) if left or not num_images else ""
    return Content(text, is_cut=value is None or (num_images > 0 and not text.strip()))


def all_of(contents: Sequence[Content]) -> Content:
    """Contents as one, on lines of their own."""
    text = "\n".join(content.text for content in contents if not content.is_cut)
    return Content(text, is_cut=not text.strip() and any(content.is_cut for content in contents))
