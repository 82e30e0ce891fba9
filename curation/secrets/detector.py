"""Finds secrets and personal data in text: by triggers, then by judges, or a rule's pattern and its check."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from curation.secrets.answer_rules import ANSWER_RULES
from curation.secrets.assignment_rules import ASSIGNMENT_RULES
from curation.secrets.call_rules import CALL_RULES
from curation.secrets.command_rules import COMMAND_RULES
from curation.secrets.credential_rules import CREDENTIAL_RULES
from curation.secrets.finding import Finding
from curation.secrets.personal_rules import PERSONAL_RULES
from curation.secrets.program import Program, compile_rules
from curation.secrets.rule import Rule
from curation.secrets.said_rules import SAID_RULES
from curation.secrets.stored_rules import STORED_RULES
from curation.secrets.table_rules import TABLE_RULES
from curation.secrets.vendor_rules import VENDOR_RULES

RULES: tuple[Rule, ...] = (
    *(*VENDOR_RULES, *CREDENTIAL_RULES, *STORED_RULES),
    *(*ASSIGNMENT_RULES, *COMMAND_RULES, *SAID_RULES, *ANSWER_RULES, *CALL_RULES, *TABLE_RULES, *PERSONAL_RULES),
)
SCREEN_COLUMNS = 160
"""A screen is so wide, and wraps its rows there."""
PLACEHOLDER = re.compile(r"\[(?:secret|personal):[\w.-]{1,64}(?::\d{1,9})?\]", re.ASCII)
"""What stands for a secret that was taken out, here or when it was recorded."""
PLACEHOLDER_BYTES = re.compile(PLACEHOLDER.pattern.encode())
_KINDS = np.array([rule.kind for rule in RULES], object)
_NAMES = np.array([rule.name for rule in RULES], object)
_FEW = 16
"""So few are treated one by one."""
_make_finding = partial(tuple.__new__, Finding)
"""A quarter of the time that `Finding` takes."""
_HELD = -1
"""In the place of a rule: a placeholder, which stays whatever rules claim."""

_RANKS = np.array([*(rule.rank for rule in RULES), -1])
"""By the number of a rule; the last is that of ``_HELD``."""

_Places: TypeAlias = NDArray[np.int64]
_Span: TypeAlias = tuple[int, int, int]
"""Where it starts, where it ends, in bytes; the number of the rule that takes it."""
_Spans: TypeAlias = NDArray[np.int64]
"""(n, 3): a span in each row."""


def screen_columns(domain: str) -> int | None:
    """How wide the screens are that texts of a domain show; None where they show none."""
    return SCREEN_COLUMNS if domain == "terminal" else None


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
    spans = resolved(taken(flowing, program()), flowing)
    if not spans.size:
        return []
    places = spans[:, :2].reshape(-1)
    if wraps:
        places = _with_wraps(places, np.array(wraps))
    if len(data) != len(text):
        places = scan.in_code_points(data, places)
    points: list[int] = places.tolist()
    kinds, names = (named[spans[:, 2]].tolist() for named in (_KINDS, _NAMES))
    return list(map(_make_finding, zip(kinds, points[::2], points[1::2], names, strict=True)))


@cache
def program() -> Program:
    """The program of `RULES`, made once a process."""
    return compile_rules(RULES)


def taken(data: bytes, of_rules: Program) -> _Spans:
    """What the rules take; none takes anything inside what it has just taken, so that no text makes them read twice.

    Args:
        of_rules: the program of `RULES`.
    """
    from curation.secrets import scan  # here, for it loads Numba

    settled: list[_Spans] = []
    spans: list[_Span] = []
    ends: dict[int, int] = {}
    for seen in scan.look(data, of_rules):
        if len(seen) > _FEW:
            is_settled = seen[:, 1] >= 0
            settled.append(seen[is_settled])
            seen = seen[~is_settled]
        for begin, end, number in seen.tolist():
            if end >= 0:
                spans.append((begin, end, number))
            elif begin >= ends.get(number, -1) and (match := RULES[number].match(data, begin)) is not None:
                ends[number] = match.end
                spans.extend((start, end, number) for start, end in match.parts if start < end)
    by_rules = _as_spans(spans)
    return np.concatenate([*settled, by_rules]) if settled else by_rules


def _as_spans(rows: Sequence[_Span]) -> _Spans:
    return np.array(rows, np.int64).reshape(-1, 3)


def resolved(spans: _Spans, data: bytes) -> _Spans:
    """The spans that stay when each takes its place, the best first, in order; none touches a placeholder."""
    if not spans.size:
        return spans
    held = [(*match.span(), _HELD) for match in PLACEHOLDER_BYTES.finditer(data)]
    if len(spans) <= _FEW:
        placed = _placed([*map(tuple, spans.tolist()), *held])
        return _as_spans(sorted(span for span in placed if span[2] != _HELD))
    return _resolved_together(np.concatenate([spans, _as_spans(held)]))


def _resolved_together(spans: _Spans) -> _Spans:
    """The same, of very many, most of which nothing overlaps."""
    spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    starts_group = np.append(True, spans[1:, 0] >= np.maximum.accumulate(spans[:, 1])[:-1])
    firsts = np.flatnonzero(starts_group)
    sizes = np.diff(np.append(firsts, len(spans)))
    stays = np.repeat(sizes < 3, sizes)
    stays[_worse_of_two(spans, firsts[sizes == 2])] = False
    placed = _placed(map(tuple, spans[np.repeat(sizes > 2, sizes)].tolist()))
    kept = np.concatenate([spans[stays], _as_spans(placed)])
    kept = kept[kept[:, 2] != _HELD]
    ordered: _Spans = kept[np.argsort(kept[:, 0])]
    return ordered


def _worse_of_two(spans: _Spans, firsts: _Places) -> _Places:
    """Of each of these spans and the next, which overlaps it: the one that does not stay."""
    start, end, rule = spans[firsts].T
    next_start, next_end, next_rule = spans[firsts + 1].T
    rank, next_rank = _RANKS[rule], _RANKS[next_rule]
    is_better = (rank < next_rank) | ((rank == next_rank) & (end - start >= next_end - next_start))
    worse: _Places = np.where(is_better, firsts + 1, firsts)
    return worse


def _placed(spans: Iterable[_Span]) -> list[_Span]:
    """Of spans that may overlap, those that stay."""
    starts: list[int] = []
    ends: list[int] = []
    kept: list[_Span] = []
    for span in sorted(spans, key=_precedence):
        start, end, _ = span
        place = bisect_right(ends, start)
        if place == len(starts) or end <= starts[place]:
            starts.insert(place, start)
            ends.insert(place, end)
            kept.append(span)
    return kept


def _precedence(span: _Span) -> tuple[int, int, int]:
    start, end, rule = span
    return int(_RANKS[rule]), start - end, start


def _without(data: bytes, places: Sequence[int]) -> bytes:
    """``data`` without the bytes at these places."""
    if not places:
        return data
    pieces = zip([-1, *places], [*places, len(data)], strict=True)
    return b"".join(data[before + 1 : place] for before, place in pieces)


def _with_wraps(places: _Places, wraps: _Places) -> _Places:
    """Starts and ends, by turns, in the text before the wraps were left out; one that ends at a wrap ends before it."""
    shortened = wraps - np.arange(wraps.size)
    moved = places.copy()
    moved[::2] += np.searchsorted(shortened, places[::2], side="right")
    moved[1::2] += np.searchsorted(shortened, places[1::2], side="left")
    return moved
