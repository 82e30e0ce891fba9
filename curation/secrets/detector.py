"""Finds secrets and personal data in text: triggers by one automaton, then a rule's pattern, then its check."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from curation.secrets.assignment_rules import ASSIGNMENT_RULES
from curation.secrets.credential_rules import CREDENTIAL_RULES
from curation.secrets.finding import Finding
from curation.secrets.personal_rules import PERSONAL_RULES
from curation.secrets.rule import Match, Rule
from curation.secrets.triggers import Automaton, build_automaton
from curation.secrets.vendor_rules import VENDOR_RULES

RULES: tuple[Rule, ...] = (*VENDOR_RULES, *CREDENTIAL_RULES, *ASSIGNMENT_RULES, *PERSONAL_RULES)
SCREEN_COLUMNS = 160
PLACEHOLDER = re.compile(r"\[(?:secret|personal):[\w.-]{1,64}(?::\d{1,9})?\]", re.ASCII)
"""What stands for a secret that was taken out, here or when it was recorded."""

_PLACEHOLDER_BYTES = re.compile(PLACEHOLDER.pattern.encode())


def find(text: str, *, columns: int | None = SCREEN_COLUMNS) -> list[Finding]:
    """The secrets and personal data in a text, in order, without overlap. Takes time in proportion to its length.

    Where rules claim the same characters, the more specific one has them, then the longer claim.

    Args:
        columns: a row of exactly so many code points goes on in the next one, as where a screen has wrapped it; the
            line feed is then part of the finding. None for text that has no screen's rows.
    """
    from curation.secrets import scan  # here, for it loads Numba

    data = text.encode("utf-8", "surrogatepass")
    wraps = scan.wrapped_at(data, columns) if columns else []
    flowing = _without(data, wraps)
    matches = list(_matches(flowing))
    if not matches:
        return []
    placeholders = [match.span() for match in _PLACEHOLDER_BYTES.finditer(flowing)]
    found = _resolved(matches, placeholders)
    return list(_in_code_points(data, wraps, found))


@cache
def _compiled() -> tuple[Automaton, tuple[tuple[Rule, int], ...]]:
    """The automaton, and for each of its triggers the rule and the trigger's length."""
    owners = [(rule, trigger) for rule in RULES for trigger in rule.triggers]
    automaton = build_automaton([trigger for _, trigger in owners])
    return automaton, tuple((rule, len(trigger)) for rule, trigger in owners)


def _matches(data: bytes) -> Iterator[Match]:
    """What the rules take; none takes anything inside what it has just taken, so that no text makes them read twice."""
    from curation.secrets import scan  # here, for it loads Numba

    automaton, owners = _compiled()
    taken: dict[Rule, int] = {}
    for end, trigger in scan.hits(data, automaton):
        rule, length = owners[trigger]
        if end - length < taken.get(rule, -1):
            continue
        match = rule.match(data, end - length)
        if match is not None:
            taken[rule] = match.end
            yield match


def _resolved(matches: Iterable[Match], taken: Sequence[tuple[int, int]]) -> list[Match]:
    """The matches that stay when each takes its place, the best first; none may touch what is taken."""
    starts, ends = [start for start, _ in taken], [end for _, end in taken]
    kept = []
    for match in sorted(dict.fromkeys(matches), key=_precedence):
        place = bisect_right(ends, match.start)
        if match.start < match.end and (place == len(starts) or match.end <= starts[place]):
            starts.insert(place, match.start)
            ends.insert(place, match.end)
            kept.append(match)
    return sorted(kept)


def _precedence(match: Match) -> tuple[int, int, int]:
    return match.rule.rank, match.start - match.end, match.start


def _without(data: bytes, places: Sequence[int]) -> bytes:
    """``data`` without the bytes at these places."""
    if not places:
        return data
    pieces = zip([-1, *places], [*places, len(data)], strict=True)
    return b"".join(data[before + 1 : place] for before, place in pieces)


def _in_code_points(data: bytes, wraps: Sequence[int], matches: Iterable[Match]) -> Iterator[Finding]:
    """The matches in the text that ``data`` is the bytes of, with the wraps that were left out."""
    shortened = [place - number for number, place in enumerate(wraps)]
    position, points = 0, 0
    for start, end, rule in matches:
        span = []
        for place in (start + bisect_right(shortened, start), end + bisect_left(shortened, end)):
            points += len(data[position:place].decode("utf-8", "surrogatepass"))
            position = place
            span.append(points)
        yield Finding(rule.kind, span[0], span[1], rule.name)
