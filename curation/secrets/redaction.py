"""Puts typed placeholders where secrets and personal data were, in what is packed or published, not in the store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import attrgetter

from curation.secrets.detector import SCREEN_COLUMNS, find
from curation.secrets.edits import Edits
from curation.secrets.finding import PERSONAL, Finding
from curation.secrets.plausible import is_random

_KNOWN = "known value"
_LINE_ENDS = re.compile(r"\s|\\[nrt]")


class Placeholders:
    """The placeholders of one trajectory: the same value has the same one throughout, such as ``[secret:aws-key:1]``.

    Numbers count the values of a kind in the order they were met. A secret that a machine drew is known from then on,
    and found again where nothing beside it tells what it is.
    """

    def __init__(self) -> None:
        self._placeholders: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def stand_for(self, kind: str, value: str) -> str:
        """The placeholder of a value; line ends in it, and how they are escaped, make no difference."""
        value = _LINE_ENDS.sub("", value)
        if value not in self._placeholders:
            self._counts[kind] = number = self._counts.get(kind, 0) + 1
            family = "personal" if kind in PERSONAL else "secret"
            self._placeholders[value] = f"[{family}:{kind}:{number}]"
            if family == "secret" and is_random(value.encode("utf-8", "surrogatepass")):
                self._kinds[value] = kind
        return self._placeholders[value]

    def learn(self, text: str, *, columns: int | None) -> None:
        """Have a placeholder for each secret that shows in a text what it is."""
        for finding in find(text, columns=columns):
            self.stand_for(finding.kind, text[finding.start : finding.end])

    def known(self, text: str) -> Iterator[Finding]:
        """Where the secrets met so far stand in a text, whatever is around them."""
        for value, kind in self._kinds.items():
            start = text.find(value)
            while start >= 0:
                yield Finding(kind, start, start + len(value), _KNOWN)
                start = text.find(value, start + len(value))


def redact(text: str, placeholders: Placeholders, *, columns: int | None = SCREEN_COLUMNS) -> tuple[str, list[Finding]]:
    """The text with placeholders, and what they stand for, at its place in the text as it was given.

    All outside the findings stays as it is, and redacting the result again changes nothing: it goes on until nothing
    is found, for a value may come to light only when the one that covered it is gone.
    """
    findings: list[Finding] = []
    edits = Edits()
    while found := _found(text, placeholders, columns):
        named = [placeholders.stand_for(finding.kind, text[finding.start : finding.end]) for finding in found]
        findings += (
            finding._replace(start=edits.origin(finding.start), end=edits.origin(finding.end)) for finding in found
        )
        spans = [(finding.start, finding.end) for finding in found]
        text = _replaced(text, spans, named)
        edits = edits.then(spans, list(map(len, named)))
    return text, sorted(findings, key=attrgetter("start"))


def redact_trajectory(texts: Sequence[str], *, columns: int | None = SCREEN_COLUMNS) -> tuple[list[str], Counter[str]]:
    """The texts of one trajectory with placeholders, and how many values of each kind were replaced.

    A secret that shows what it is in any of the texts is replaced in all of them.
    """
    placeholders = Placeholders()
    for text in texts:
        placeholders.learn(text, columns=columns)
    redacted, counts = [], Counter[str]()
    for text in texts:
        without, findings = redact(text, placeholders, columns=columns)
        redacted.append(without)
        counts.update(finding.kind for finding in findings)
    return redacted, counts


def _found(text: str, placeholders: Placeholders, columns: int | None) -> list[Finding]:
    """What the rules find and, beside it, what is known; in order, without overlap."""
    found: list[Finding] = []
    by_rules = find(text, columns=columns)
    for finding in sorted([*by_rules, *placeholders.known(text)], key=attrgetter("start", "end")):
        if not found or finding.start >= found[-1].end:
            found.append(finding)
    return found


def _replaced(text: str, spans: Sequence[tuple[int, int]], replacements: Sequence[str]) -> str:
    pieces, position = [], 0
    for (start, end), replacement in zip(spans, replacements, strict=True):
        pieces += [text[position:start], replacement]
        position = end
    return "".join([*pieces, text[position:]])
