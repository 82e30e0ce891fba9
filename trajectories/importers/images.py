"""Images that stand in texts and JSON as base64: they are no text, and nobody is to learn to write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from trajectories.importers.values import plain
from trajectories.model import JsonValue

_URL: Final = r"data:(?:image|audio|video)/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,[A-Za-z0-9+/=_-]*"
_IMAGE: Final = re.compile(
    rf"\s*(?:{_URL}|(?:iVBORw0KGgo|/9j/|R0lGOD[dl]h|UklGR)[A-Za-z0-9+/\r\n]{{48,}}=*)\s*", re.ASCII
)
"""A data URL, or the base64 of a PNG, JPEG, GIF or WebP, which the first letters tell."""
_LINE: Final = re.compile(
    rf"^[ \t]*(?:{_URL}|!\[[^\]\n]*\]\({_URL}\))[ \t\r]*(?:\n|\Z)",
    re.ASCII | re.MULTILINE,
)
"""A line that is nothing but an image, as notebooks write them."""
_IN_BASE64: Final = ";base64,"
_TYPES: Final = frozenset({"image", "image_url", "input_image", "audio", "input_audio"})
_HOLDERS: Final = frozenset({"source", "data", "image_url", "image_urls", "input_audio", "file_id"})


def without_images(value: JsonValue) -> tuple[JsonValue, int]:
    """A JSON value without the images in it, and how many these are; what held nothing else is gone with them.

    Of a text only whole lines are images: within a line one is part of the source of a page. Nobody nests images so
    deep that Python cannot go there: such a value stays as it is.
    """
    try:
        return _without(value)
    except RecursionError:
        return value, 0


def _without(value: JsonValue) -> tuple[JsonValue, int]:
    if isinstance(value, str):
        return _text_without(value)
    if isinstance(value, list):
        found = [_without(item) for item in value]
        return [left for left, count in found if left or not count], sum(count for _, count in found)
    if not isinstance(value, Mapping):
        return value, 0
    if plain(value.get("type")) in _TYPES and not _HOLDERS.isdisjoint(value):
        return None, 1
    named = {name: _without(inner) for name, inner in value.items()}
    kept = {name: left for name, (left, count) in named.items() if left or not count}
    return kept, sum(count for _, count in named.values())


def _text_without(text: str) -> tuple[str, int]:
    if _IMAGE.fullmatch(text):
        return "", 1
    return _LINE.subn("", text) if _IN_BASE64 in text else (text, 0)
