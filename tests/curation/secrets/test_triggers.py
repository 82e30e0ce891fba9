"""The automaton finds what searching for every trigger at every place finds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from curation.secrets.program import compile_rules
from curation.secrets.rule import Rank, Rule
from curation.secrets.scan import look, wrapped_at
from curation.secrets.triggers import DIGIT, NOT_DIGIT, Trigger, any_case, exact, one_of

_steps = st.frozensets(st.sampled_from(b"abc1\n"), min_size=1)
_triggers = st.lists(st.lists(_steps, min_size=1, max_size=6).map(tuple), min_size=1, max_size=8)
"""Few and short, for sets of many letters make automata of very many states."""


def searched(data: bytes, triggers: Sequence[Trigger]) -> list[tuple[int, int]]:
    """By the definition."""
    before = b"\n" + data
    ended = [
        (start + len(trigger) - 1, number)
        for number, trigger in enumerate(triggers)
        for start in range(len(before) - len(trigger) + 1)
        if all(byte in accepted for byte, accepted in zip(before[start:], trigger, strict=False))
    ]
    return sorted(hit for hit in ended if hit[0] > 0)


def hits(data: bytes, triggers: Sequence[Trigger]) -> list[tuple[int, int]]:
    """(end, number) of each trigger that the compiled pass meets, in order."""
    rules = [Rule(name="", kind="", triggers=(t,), pattern=re.compile(b""), rank=Rank.LOOSE) for t in triggers]
    rows = (row for seen in look(data, compile_rules(rules, judged=False)) for row in seen.tolist())
    return [(start + len(triggers[number]), number) for start, _, number in rows]


@settings(max_examples=60, deadline=None)
@given(_triggers, st.binary(max_size=40) | st.text("abc1\n", max_size=40).map(str.encode))
def test_it_finds_what_searching_finds(triggers: list[Trigger], data: bytes) -> None:
    assert sorted(hits(data, triggers)) == searched(data, triggers)


def test_a_trigger_may_ask_for_what_stands_before_also_where_the_text_begins() -> None:
    triggers = [NOT_DIGIT + DIGIT * 2, exact("ab"), any_case("ab"), one_of("xy") + DIGIT]
    assert hits(b"12 AB x3", triggers) == [(2, 0), (5, 2), (8, 3)]


def test_of_triggers_that_end_together_the_longest_is_met_first() -> None:
    assert hits(b"xoxe.xoxp-", [exact("xoxp-"), exact("xoxe.xoxp-"), exact("p-")]) == [(10, 1), (10, 0), (10, 2)]


def test_more_hits_than_the_buffer_holds_are_all_found() -> None:
    assert len(hits(b"a" * 5000, [exact("a")])) == 5000


def test_letters_that_are_not_ascii_are_met_as_they_are() -> None:
    assert hits("CONTRASEÑA contraseña".encode(), [any_case("contraseña")]) == [(23, 0)]


def test_rows_end_after_so_many_code_points() -> None:
    assert wrapped_at("né!\nab\nabc\nabcd\nabc".encode(), 3) == [4, 11]
