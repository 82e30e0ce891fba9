"""What a rule is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from curation.secrets.boundaries import stands_alone
from curation.secrets.triggers import ByteSet, Trigger


class Rank(IntEnum):
    """How much a rule knows: where two claim the same text the lower rank has it, then the longer claim."""

    STRUCTURE = 0
    """A form that proves itself: a key block, a token that decodes."""
    VENDOR = 1
    """A form of one vendor's."""
    NAMED = 2
    """A value whose name, header or check digits say what it is."""
    LOOSE = 3
    """A value that looks like a secret beside a name that sounds like one."""
    PERSONAL = 4


class Judge(IntEnum):
    """The compiled function of `curation.secrets.judges` that sees a rule's places before the rule does.

    It refuses what the rule would refuse, takes what the rule would take, or leaves it to the rule; so what is found is
    the same with it or without.
    """

    NONE = 0
    ASSIGNMENT = 1
    THEN_VALUE = 2
    USER_INFO = 3
    EMAIL = 4
    IPV4 = 5
    IPV6 = 6
    INTERNATIONAL = 7
    NORTH_AMERICAN = 8
    BRACKETED = 9
    CARD = 10
    CARD_IN_GROUPS = 11
    IBAN = 12
    ASSIGNMENT_OF_WORDS = 13


class Run(NamedTuple):
    """At least so many of these characters."""

    characters: ByteSet
    least: int


class Match(NamedTuple):
    """What a rule took: ``data[start:end]``, in bytes."""

    start: int
    end: int
    rule: Rule
    parts: tuple[tuple[int, int], ...]
    """What is found in it."""


def always(_: re.Match[bytes]) -> bool:
    return True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rule:
    """Where a trigger is met, ``pattern`` is tried there, and ``accepts`` has the last word.

    Every pattern bounds how far it reads, so that a text takes time in proportion to its length.
    """

    name: str
    kind: str
    triggers: tuple[Trigger, ...]
    pattern: re.Pattern[bytes]
    """Its group ``secret`` is what is found; without such a group all is."""
    accepts: Callable[[re.Match[bytes]], bool] = always
    read_on: Callable[[re.Match[bytes]], tuple[int, Sequence[tuple[int, int]]]] | None = None
    """Reads on after the match, where there may be many secrets or none: to where, and what it found, in order."""
    begin: Callable[[bytes, int], int | None] | None = None
    """Tells from where the trigger begins where the pattern does, or None where it cannot match. By default there."""
    alone: bool = False
    """Whether no word may go on into it from before."""
    follows: Run | None = None
    """What is after the trigger wherever the pattern matches; it saves trying the others."""
    judge: Judge = Judge.NONE
    rank: Rank

    def match(self, data: bytes, position: int) -> Match | None:
        """What the rule takes where one of its triggers begins."""
        begin = self.begin(data, position) if self.begin else position
        if begin is None:
            return None
        if self.alone and not stands_alone(data, begin):
            return None
        match = self.pattern.match(data, begin)
        if match is None or not self.accepts(match):
            return None
        if self.read_on:
            end, parts = self.read_on(match)
            return Match(match.start(), end, self, tuple(parts))
        start, end = match.span("secret" if "secret" in self.pattern.groupindex else 0)
        return Match(start, end, self, ((start, end),))


def loose_rule(
    kind: str,
    name: str,
    triggers: Sequence[Trigger],
    pattern: bytes,
    accepts: Callable[[re.Match[bytes]], bool],
    *,
    alone: bool = False,
) -> Rule:
    """A rule for what looks like a secret beside what sounds like one."""
    return Rule(
        name=name,
        kind=kind,
        triggers=tuple(triggers),
        pattern=re.compile(pattern),
        accepts=accepts,
        alone=alone,
        rank=Rank.LOOSE,
    )
