"""Puts typed placeholders where secrets and personal data were, in what is packed or published, not in the store."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from curation.secrets.detector import RULES, SCREEN_COLUMNS, find
from curation.secrets.finding import PERSONAL, Finding
from curation.secrets.known_values import SHORTEST, KnownValues
from curation.secrets.offset_map import OffsetMap
from curation.secrets.plausible import is_random, is_unmistakable, is_uuid

_BLANKS = re.compile(r"\s|\\[nrt]")
_LINE_ENDS = re.compile(r"[\r\n]|\\[nrt]")
_COOKIES = re.compile(r"(?:\A|; ?)[\w.-]{1,64}=([^\s;]*)")
_SHORTEST_RANDOM = 16


def _before_number(kind: str) -> str:
    """What a placeholder of a kind begins with."""
    return f"[{'personal' if kind in PERSONAL else 'secret'}:{kind}:"


_BEFORE_NUMBERS = "".join(f"{_before_number(kind)}\n" for kind in sorted({rule.kind for rule in RULES}))
"""What each placeholder begins with, on a line of its own."""
_PLACEHOLDER = re.compile(r"\[(?:secret|personal):[a-z0-9-]{1,40}:[0-9]{1,9}\]")
_NUMBERED = re.compile(r"(.*:)?[0-9]*\]?", re.DOTALL)


class Placeholders:
    """The placeholders of one trajectory: the same value has the same one throughout, such as ``[secret:aws-key:1]``.

    Numbers count the values of a kind in the order they were met. A secret is known from then on, and found again where
    nothing beside it tells what it is: one that a machine drew anywhere, another one that is unmistakable
    (`curation.secrets.plausible.is_unmistakable`) where it stands whole.
    """

    def __init__(self) -> None:
        self._placeholders: dict[str, str] = {}
        self._random = KnownValues(shortest=_SHORTEST_RANDOM, whole=False)
        self._unmistakable = KnownValues(shortest=SHORTEST, whole=True)
        self._counts: dict[str, int] = {}
        self._taken: set[str] = set()
        """Placeholders that stood in the texts before: another value has another one."""

    def stand_for(self, kind: str, value: str) -> str:
        """The placeholder of a value; blanks and line ends in it, and how they are escaped, make no difference.

        Nor does the name of a cookie, and what says how long it is good, where there is no other.
        """
        secrets = _session_values(value) if kind == "cookie" else []
        key = _BLANKS.sub("", secrets[0] if len(secrets) == 1 else value)
        if key not in self._placeholders:
            self._placeholders[key] = self._next(kind)
            if kind not in PERSONAL:
                for secret in secrets or [_LINE_ENDS.sub("", value)]:
                    if not _is_of_a_placeholder(secret):
                        self._know(kind, secret.encode("utf-8", "surrogatepass"))
        return self._placeholders[key]

    def _know(self, kind: str, secret: bytes) -> None:
        """Find a secret again, where that takes nothing else with it."""
        if is_random(secret):
            self._random.add(secret, kind)
        elif is_unmistakable(secret):
            self._unmistakable.add(secret, kind)

    def _next(self, kind: str) -> str:
        """The next placeholder of a kind that no text has."""
        while True:
            self._counts[kind] = number = self._counts.get(kind, 0) + 1
            placeholder = f"{_before_number(kind)}{number}]"
            if placeholder not in self._taken:
                return placeholder

    def learn(self, text: str, *, columns: int | None) -> None:
        """Have a placeholder for each secret that shows in a text what it is; those that stand there are taken."""
        self._taken.update(_PLACEHOLDER.findall(text))
        for finding in find(text, columns=columns):
            self.stand_for(finding.kind, text[finding.start : finding.end])

    def known(self, text: str) -> list[Finding]:
        """Where the secrets met so far stand in a text, outside placeholders, whatever is around them."""
        return [*self._random.find(text), *self._unmistakable.find(text)]


def redact(text: str, placeholders: Placeholders, *, columns: int | None = SCREEN_COLUMNS) -> tuple[str, list[Finding]]:
    """The text with placeholders, and what they stand for, at its place in the text as it was given.

    All outside the findings stays as it is, and redacting the result again changes nothing: it goes on until nothing
    is found, for a value may come to light only when the one that covered it is gone. It ends, for no finding touches a
    placeholder: each time less of the text is outside placeholders.
    """
    findings: list[Finding] = []
    origins = OffsetMap()
    while found := _found(text, placeholders, columns):
        named = [placeholders.stand_for(finding.kind, text[finding.start : finding.end]) for finding in found]
        findings += (
            finding._replace(start=origins.origin(finding.start), end=origins.origin(finding.end)) for finding in found
        )
        spans = [(finding.start, finding.end) for finding in found]
        text = _replaced(text, spans, named)
        origins = origins.then(spans, list(map(len, named)))
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


def _session_values(cookies: str) -> list[str]:
    """The values in the text of a header, each of which opens a session without the others."""
    return [value for value in _COOKIES.findall(cookies) if _is_drawn(value.encode("utf-8", "surrogatepass"))]


def _is_drawn(value: bytes) -> bool:
    return is_random(value) or is_uuid(value)


def _is_of_a_placeholder(value: str) -> bool:
    """Whether a placeholder can have this in it: once known, it would be found in what stands for a secret."""
    numbered = _NUMBERED.fullmatch(value)
    return value in _BEFORE_NUMBERS or (numbered is not None and f"{numbered[1] or ''}\n" in _BEFORE_NUMBERS)
