"""Values of tables as JSON has them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time

from trajectories.importers.base import UnreadableError
from trajectories.importers.values import Object
from trajectories.model import JsonValue


def plain_row(row: Mapping[str, object]) -> Object:
    """Days and times become ISO 8601, bytes text, and all else that JSON does not have as Python shows it.

    Raises ``UnreadableError`` for bytes that are not UTF-8.
    """
    return {name: _plain(value, name) for name, value in row.items()}


def _plain(value: object, name: str) -> JsonValue:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, name) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, name) for item in value]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise UnreadableError(f"'{name}' is not UTF-8: {error}") from error
    return str(value)
