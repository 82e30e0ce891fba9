"""The rule table as the compiled pass reads it: one automaton, and for each trigger what to look at where it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.secrets.lookup_tables import Lore, lore
from curation.secrets.rule import Judge, Rule
from curation.secrets.triggers import Trigger, build_automaton

Indices = NDArray[np.int32]

RULE, LENGTH, JUDGE, ALONE, LEAST = range(5)
"""The columns of ``Program.ended``: whose a trigger is; how many bytes it has; the rule's `Judge`; whether no word may
go on into what begins with the trigger; how many members must follow it at once."""


class Program(NamedTuple):
    """Triggers, and what there is to know about their rules."""

    classes: NDArray[np.uint8]
    moves: Indices
    num_classes: int
    start: int
    first_final: int
    """As in `curation.secrets.triggers.Automaton`."""
    ended_from: Indices
    """Where the triggers of each final state begin in ``ended``, and the end."""
    most_ended: int
    """In one state."""
    ended: Indices
    """(n, 5): the triggers that end in the final states, state after state."""
    members: NDArray[np.uint8]
    """(rules, 256): 1 for the characters that follow a rule's triggers."""
    lore: Lore


def compile_rules(rules: Sequence[Rule], *, judged: bool = True) -> Program:
    """The program of a rule table; not ``judged``, it leaves every trigger to its rule."""
    owners = [(number, trigger) for number, rule in enumerate(rules) for trigger in rule.triggers]
    automaton = build_automaton([trigger for _, trigger in owners])
    members = np.zeros((len(rules), 256), np.uint8)
    for number, rule in enumerate(rules):
        if rule.follows:
            members[number, list(rule.follows.characters)] = 1
    rows = [_row(owners[trigger], rules, judged=judged) for ended in automaton.ended for trigger in ended]
    return Program(
        automaton.classes,
        automaton.moves,
        automaton.num_classes,
        automaton.start,
        automaton.first_final,
        np.cumsum([0, *map(len, automaton.ended)], dtype=np.int32),
        max(map(len, automaton.ended), default=0),
        np.array(rows, np.int32).reshape(-1, 5),
        members,
        lore(),
    )


def _row(owner: tuple[int, Trigger], rules: Sequence[Rule], *, judged: bool) -> tuple[int, int, int, bool, int]:
    number, trigger = owner
    rule = rules[number]
    if not judged:
        return number, len(trigger), Judge.NONE, False, 0
    least = rule.follows.least if rule.follows else 0
    return number, len(trigger), rule.judge, rule.alone and rule.begin is None, least
