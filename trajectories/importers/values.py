"""Taking what a source should hold out of JSON values: one error for what it does not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from trajectories.importers.json_text import BrokenJson, parse
from trajectories.importers.problems import UnreadableError
from trajectories.model import JsonValue, canonical_json

_LATEST_S: Final = datetime(9000, 1, 1, tzinfo=UTC).timestamp()
_INT32: Final = 2**31
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Object = Mapping[str, JsonValue]


def as_object(value: JsonValue, what: str) -> Object:
    """Raises ``UnreadableError`` where ``value``, which is ``what``, is no JSON object."""
    if not isinstance(value, Mapping):
        raise UnreadableError(f"{what} is not an object, but {_kind(value)}")
    return value


def as_list(value: JsonValue, what: str) -> Sequence[JsonValue]:
    """A list; None is an empty one. Raises ``UnreadableError`` for all else."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise UnreadableError(f"{what} is not a list, but {_kind(value)}")
    return value


def as_text(value: JsonValue, what: str) -> str:
    """A string; None is an empty one. Raises ``UnreadableError`` for all else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnreadableError(f"{what} is not a string, but {_kind(value)}")
    return value


def objects(value: JsonValue, what: str) -> list[Object]:
    """A list of objects."""
    return [as_object(item, f"an element of {what}") for item in as_list(value, what)]


def sub(value: Object, *names: str) -> Object:
    """The object at the end of a path, or an empty one where there is none."""
    for name in names:
        inner = value.get(name)
        value = inner if isinstance(inner, Mapping) else {}
    return value


def plain(value: JsonValue) -> str:
    """A name or number as a string; empty for None, lists and objects."""
    if isinstance(value, str):
        return value
    return canonical_json(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def shown(value: JsonValue) -> str:
    """A text as it is, nothing for None, and JSON for all else."""
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical_json(value)


def int32(value: JsonValue) -> int | None:
    """An exit code or such; None for what is not a whole number of 32 bits."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_INT32 <= value < _INT32 else None


def seconds(value: JsonValue) -> float | None:
    """A duration; None for what is not a finite number ≥ 0 (or is longer than any year)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _LATEST_S and math.isfinite(value) else None


def instant(value: JsonValue) -> datetime | None:
    """A time in ISO 8601, or seconds since 1970; UTC where it has no zone; None for what is neither."""
    if isinstance(value, str):
        return _iso_instant(value)
    since = seconds(value)
    return None if since is None else _EPOCH + timedelta(seconds=since)


def arguments(value: JsonValue) -> JsonValue:
    """A call's arguments: JSON in a string is parsed, a string that is no JSON stays as it is, and is told from others.

    An empty one is no mistake: some APIs write so that there are none.
    """
    if not isinstance(value, str):
        return {} if value is None else value
    try:
        return parse(value)
    except ValueError:
        return BrokenJson(value) if value else value


def _iso_instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _kind(value: JsonValue) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
