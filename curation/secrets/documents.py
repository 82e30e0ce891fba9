"""Placeholders in the JSON document of a trajectory: what is exported leaves the house, as what is packed does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import cast

from curation.secrets.finding import Finding
from curation.secrets.redaction import Placeholders, redact
from trajectories.model import JsonValue


def redact_document(document: JsonValue, *, columns: int | None) -> tuple[JsonValue, Counter[str]]:
    """The document with placeholders in its strings, and how many values of each kind were replaced.

    The same value has the same placeholder throughout. Names of members stay as they are, and tell what a string is
    that does not show it: the value of ``password``.

    Args:
        columns: of the screen that the texts were shown on, as of `find`.
    """
    placeholders = Placeholders()
    strings = list(_strings(document))
    for text in strings:
        placeholders.learn(text, columns=columns)
    placeholders.learn(_written(document), columns=None)
    counts: Counter[str] = Counter()

    def without(text: str, columns: int | None) -> str:
        new, findings = redact(text, placeholders, columns=columns)
        counts.update(finding.kind for finding in findings)
        return new

    shown = _with_strings(document, iter([without(text, columns) for text in strings]))
    return _without_named(shown, placeholders, counts), counts


def _without_named(document: JsonValue, placeholders: Placeholders, counts: Counter[str]) -> JsonValue:
    """The document with placeholders also for what only the names of its members tell."""
    text = _written(document)
    new, findings = redact(text, placeholders, columns=None)
    with suppress(ValueError):
        revised = cast("JsonValue", json.loads(new))
        counts.update(finding.kind for finding in findings)
        return revised
    # One of them has taken a sign of JSON's own with it: each that has not.
    for finding in reversed(findings):
        with suppress(ValueError):
            text = _replaced(text, finding, placeholders)
            counts[finding.kind] += 1
    return cast("JsonValue", json.loads(text))


def _replaced(text: str, finding: Finding, placeholders: Placeholders) -> str:
    """Raises ``ValueError`` where it is no JSON any more."""
    named = placeholders.stand_for(finding.kind, text[finding.start : finding.end])
    new = f"{text[: finding.start]}{named}{text[finding.end :]}"
    json.loads(new)
    return new


def _written(document: JsonValue) -> str:
    return json.dumps(document, ensure_ascii=False)


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
