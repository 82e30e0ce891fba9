"""Placeholders in the JSON document of a trajectory: what is exported leaves the house, as what is packed does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, cast

from curation.secrets.redaction import Placeholders, redact
from trajectories.model import JsonValue

_CONTEXT: Final = 8192
"""An object or list whose JSON is no longer than this is read as a whole: its names tell what its strings are."""


def redact_document(document: JsonValue, *, columns: int | None) -> tuple[JsonValue, Counter[str]]:
    """The document with placeholders in its strings, and how many values of each kind were replaced.

    The same value has the same placeholder throughout. Names of members stay as they are, and tell what a string is
    that does not show it: the value of ``password``. Redacting the result again changes nothing.

    Args:
        columns: of the screen that the texts were shown on, as of `find`.
    """
    placeholders = Placeholders()
    for text in _strings(document):
        placeholders.learn(text, columns=columns)
    revision = _Revision(placeholders, columns)
    while (revised := revision.of(document)) != document:
        document = revised
    return document, revision.counts


class _Revision:
    """Puts placeholders into documents, and counts what they stand for."""

    def __init__(self, placeholders: Placeholders, columns: int | None) -> None:
        self._placeholders, self._columns = placeholders, columns
        self.counts: Counter[str] = Counter()

    def of(self, document: JsonValue) -> JsonValue:
        """The document, with placeholders for what its strings show and then for what their names tell."""
        shown = [self._shown(text) for text in _strings(document)]
        return self._named(_with_strings(document, iter(shown)))

    def _shown(self, text: str) -> str:
        new, findings = redact(text, self._placeholders, columns=self._columns)
        self.counts.update(finding.kind for finding in findings)
        return new

    def _named(self, value: JsonValue) -> JsonValue:
        """Of an object or list as a whole, unless its parts would not stay apart; then of each of them."""
        if not isinstance(value, Mapping | list):
            return value
        revised = self._in_context(value)
        if revised is not None:
            return revised
        if isinstance(value, Mapping):
            return {name: self._member(name, member) for name, member in value.items()}
        return [self._named(element) for element in value]

    def _member(self, name: str, member: JsonValue) -> JsonValue:
        if not isinstance(member, str):
            return self._named(member)
        revised = self._in_context({name: member})
        return cast("dict[str, JsonValue]", revised)[name] if revised is not None else member

    def _in_context(self, value: JsonValue) -> JsonValue:
        """What the JSON of a value becomes; None where it is long, or would not be that of the same parts."""
        if _is_long(value) or len(text := json.dumps(value, ensure_ascii=False)) > _CONTEXT:
            return None
        new, findings = redact(text, self._placeholders, columns=None)
        try:
            revised = cast("JsonValue", json.loads(new))
        except ValueError:  # it has taken a sign of JSON's own with it
            return None
        if _outline(revised) != _outline(value):
            return None
        self.counts.update(finding.kind for finding in findings)
        return revised


def _is_long(value: JsonValue) -> bool:
    """Whether the strings of a value are beyond `_CONTEXT` together; what is long itself need not be written for it."""
    room = _CONTEXT
    for text in _strings(value):
        room -= len(text)
        if room < 0:
            return True
    return False


def _outline(value: JsonValue) -> JsonValue:
    """A document without its strings."""
    return _with_strings(value, iter(lambda: "", None))


def _strings(value: JsonValue) -> Iterator[str]:
    """The strings in a document, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _strings(member)
    elif isinstance(value, list | tuple):
        for element in value:
            yield from _strings(element)


def _with_strings(value: JsonValue, strings: Iterator[str]) -> JsonValue:
    """The document with others in the place of its strings, in the order of `_strings`."""
    if isinstance(value, str):
        return next(strings)
    if isinstance(value, Mapping):
        return {name: _with_strings(member, strings) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_with_strings(element, strings) for element in value]
    return value
