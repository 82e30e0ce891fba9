"""The compiled passes over bytes: where triggers end, and where a screen has wrapped its rows.

Functions here are compiled by Numba. Both work in one pass and in memory that the caller gives.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit

from curation.secrets.triggers import Automaton

_NUM_HITS = 1024
_LF = 10


def hits(data: bytes, automaton: Automaton) -> Iterator[tuple[int, int]]:
    """(end, trigger) for each place where a trigger ends, in order."""
    text = np.frombuffer(data, np.uint8)
    ends, states = np.empty(_NUM_HITS, np.int64), np.empty(_NUM_HITS, np.int32)
    position, state = 0, automaton.start
    while position < len(text):
        position, state, found = _scan(
            text, position, state, automaton.classes, automaton.moves, automaton.first_final, ends, states
        )
        for end, final in zip(ends[:found].tolist(), states[:found].tolist(), strict=True):
            for trigger in automaton.ended_at(final):
                yield end, trigger


@njit(cache=True, nogil=True)
def _scan(text, position, state, classes, moves, first_final, ends, states):  # type: ignore[no-untyped-def]  # compiled
    """Scan on until the end or until ``ends`` is full: where it stopped, in which state, and how many were found."""
    found = 0
    while position < len(text) and found < len(ends):
        state = moves[state + classes[text[position]]]
        position += 1
        if state >= first_final:
            ends[found] = position
            states[found] = state
            found += 1
    return position, state, found


def wrapped_at(data: bytes, columns: int) -> list[int]:
    """Where the line feeds are that end rows of exactly ``columns`` code points: there a screen has wrapped."""
    places = np.empty(len(data) // (columns + 1) + 1, np.int64)
    found = _wraps(np.frombuffer(data, np.uint8), columns, places)
    wraps: list[int] = places[:found].tolist()
    return wraps


@njit(cache=True, nogil=True)
def _wraps(text, columns, places):  # type: ignore[no-untyped-def]  # compiled
    found, width = 0, 0
    for position in range(len(text)):
        byte = text[position]
        if byte == _LF:
            if width == columns:
                places[found] = position
                found += 1
            width = 0
        elif byte & 0xC0 != 0x80:
            width += 1
    return found
