"""Triggers: short byte patterns that tell where a rule is worth trying. All of them together are one automaton.

A trigger is a sequence of byte sets, so `AKIA`, `password` in any case and "a digit, a dot, a digit" are of one kind.
The subset construction turns every trigger of the rule table into one deterministic automaton: text costs one table
look-up a byte, however many rules there are (Aho-Corasick, with sets for letters).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

ByteSet: TypeAlias = frozenset[int]
Trigger: TypeAlias = tuple[ByteSet, ...]

_NUM_BYTES = 256
_BEFORE_TEXT = ord("\n")
"""What a text is taken to follow, so that a trigger may begin with what must stand before it."""


def exact(text: str) -> Trigger:
    """These characters."""
    return tuple(frozenset({byte}) for byte in text.encode())


def any_case(text: str) -> Trigger:
    """These letters, those of ASCII large or small."""
    return tuple(frozenset({byte, *bytes([byte]).lower(), *bytes([byte]).upper()}) for byte in text.encode())


def one_of(characters: str) -> Trigger:
    """One of these characters."""
    return (frozenset(characters.encode()),)


DIGIT = one_of("0123456789")
HEX = one_of("0123456789abcdef")
ANY_HEX = one_of("0123456789abcdefABCDEF")
UPPER = one_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
ALNUM = (DIGIT[0] | UPPER[0] | frozenset(b"abcdefghijklmnopqrstuvwxyz"),)
NOT_DIGIT = (frozenset(range(_NUM_BYTES)) - DIGIT[0],)


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """Finds every trigger in one pass over bytes.

    A state is given as the place of its row in ``moves``; those from ``first_final`` on end at least one trigger.
    """

    classes: NDArray[np.uint8]
    """Shape (256,): bytes that no trigger tells apart are of one class."""
    moves: NDArray[np.int32]
    """Row after row of ``num_classes``: the next state."""
    num_classes: int
    start: int
    first_final: int
    ended: tuple[tuple[int, ...], ...]
    """For each final state, in order: the triggers that end there, as their numbers, the longest first."""

    def ended_at(self, state: int) -> tuple[int, ...]:
        return self.ended[(state - self.first_final) // self.num_classes]


_Item: TypeAlias = tuple[int, int]
"""A trigger's number, and how many of its sets have been met."""


def build_automaton(triggers: Sequence[Trigger]) -> Automaton:
    """The automaton of these triggers, by subset construction over classes of bytes."""
    classes, members = _byte_classes(triggers)
    accepted = [[[number for number, byte in enumerate(members) if byte in step] for step in t] for t in triggers]
    begun = _advanced(accepted, [(number, 0) for number in range(len(triggers))], [frozenset()] * len(members))
    states = {state: number for number, state in enumerate(dict.fromkeys(begun))}
    pending = list(states)
    rows: list[list[int]] = []
    for state in pending:  # grows while it is gone through
        following = _advanced(accepted, state, begun)
        for new in following:
            if states.setdefault(new, len(states)) == len(pending):
                pending.append(new)
        rows.append([states[new] for new in following])
    start = states[begun[classes[_BEFORE_TEXT]]]
    return _numbered(triggers, classes, len(members), pending, rows, start)


def _byte_classes(triggers: Sequence[Trigger]) -> tuple[NDArray[np.uint8], list[int]]:
    """The class of each byte, and one byte of each class."""
    sets = sorted({tuple(sorted(byte_set)) for trigger in triggers for byte_set in trigger})
    memberships = [
        frozenset(place for place, members in enumerate(map(set, sets)) if byte in members)
        for byte in range(_NUM_BYTES)
    ]
    numbers = {membership: number for number, membership in enumerate(dict.fromkeys(memberships))}
    classes = np.array([numbers[membership] for membership in memberships], np.uint8)
    return classes, [memberships.index(membership) for membership in numbers]


def _advanced(
    accepted: Sequence[Sequence[Sequence[int]]], items: Iterable[_Item], begun: Sequence[frozenset[_Item]]
) -> list[frozenset[_Item]]:
    """The state after a byte of each class: the items that go on with it, and ``begun``, the triggers that begin."""
    following = list(begun)
    gone_on: dict[int, list[_Item]] = {}
    for trigger, met in items:
        if met < len(accepted[trigger]):
            for number in accepted[trigger][met]:
                gone_on.setdefault(number, []).append((trigger, met + 1))
    for number, more in gone_on.items():
        following[number] = following[number].union(more)
    return following


def _numbered(
    triggers: Sequence[Trigger],
    classes: NDArray[np.uint8],
    num_classes: int,
    states: Sequence[frozenset[_Item]],
    rows: Sequence[Sequence[int]],
    start: int,
) -> Automaton:
    """Final states last, and every state as the place of its row."""
    ended = [
        tuple(sorted((t for t, met in items if met == len(triggers[t])), key=lambda t: (-len(triggers[t]), t)))
        for items in states
    ]
    order = sorted(range(len(states)), key=lambda state: (bool(ended[state]), state))
    place = np.empty(len(states), np.int32)
    place[order] = np.arange(len(states)) * num_classes
    moves = place[np.array([rows[state] for state in order])].reshape(-1).astype(np.int32)
    num_open = sum(not numbers for numbers in ended)
    finals = tuple(ended[state] for state in order[num_open:])
    return Automaton(classes, moves, num_classes, int(place[start]), num_open * num_classes, finals)
