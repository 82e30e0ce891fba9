"""The compiled passes over bytes: where rules are worth trying, where a screen has wrapped its rows, code points.

Functions here are compiled by Numba. All work in one pass and in memory that the caller gives.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from curation.compiled import compiled
from curation.secrets.judges import judge
from curation.secrets.places import inner, stands_alone_in
from curation.secrets.program import ALONE, JUDGE, LEAST, LENGTH, RULE, Program

Text = NDArray[np.uint8]
Places = NDArray[np.int64]

_ROOM = 2048
_LF = 10


def look(data: bytes, program: Program) -> Iterator[Places]:
    """Everything that a text holds for the rules of a program, stretch after stretch.

    Yields:
        A row for each, in the order in which their triggers ended: start, end, number of the rule. Where the end is
        negative, the rule is to be tried on the trigger that begins at the start; else it takes what is between.
    """
    text = np.frombuffer(data, np.uint8)
    position, state = 0, program.start
    while position < text.size:
        seen = np.empty((_ROOM + program.most_ended, 3), np.int64)
        position, state, found = _look(text, position, state, program, seen)
        if found:
            yield seen[:found]


@inner
def _follow(text: Text, place: int, members: NDArray[np.uint8], count: int) -> bool:
    """Whether so many bytes are members."""
    end = place + count
    if end > text.size:
        return False
    while place < end and members[text[place]]:
        place += 1
    return place == end


@compiled
def _look(text: Text, position: int, state: int, program: Program, seen: Places) -> tuple[int, int, int]:
    """Look on until the end or until ``seen`` is full: where it stopped, in which state, and how much was seen."""
    classes, moves, num_classes, _, first_final, ended_from, _, ended, members, lore = program
    sorts = lore.sorts
    found = 0
    while position < text.size and found < _ROOM:
        state = moves[state + classes[text[position]]]
        position += 1
        if state < first_final:
            continue
        final = (state - first_final) // num_classes
        for row in range(ended_from[final], ended_from[final + 1]):
            start, end = position - ended[row, LENGTH], -1
            if ended[row, ALONE] and not stands_alone_in(text, start, sorts):
                continue
            least = ended[row, LEAST]
            if least and not _follow(text, position, members[ended[row, RULE]], least):
                continue
            if ended[row, JUDGE]:
                taken, end = judge(ended[row, JUDGE], text, start, position, lore)
                if taken < 0 and end < 0:
                    continue
                start, end = (start, -1) if taken < 0 else (taken, end)
            seen[found, 0], seen[found, 1], seen[found, 2] = start, end, ended[row, RULE]
            found += 1
    return position, state, found


def wrapped_at(data: bytes, columns: int) -> list[int]:
    """Where the line feeds are that end rows of exactly ``columns`` code points: there a screen has wrapped."""
    places = np.empty(len(data) // (columns + 1) + 1, np.int64)
    found = _wraps(np.frombuffer(data, np.uint8), columns, places)
    wraps: list[int] = places[:found].tolist()
    return wraps


@compiled
def _wraps(text: Text, columns: int, places: Places) -> int:
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


def in_code_points(data: bytes, places: Places) -> Places:
    """How many code points are before each of the places, which are in order."""
    points = np.empty_like(places)
    _count(np.frombuffer(data, np.uint8), places, points)
    return points


@compiled
def _count(text: Text, places: Places, points: Places) -> None:
    position, count = 0, 0
    for number in range(places.size):
        while position < places[number]:
            count += text[position] & 0xC0 != 0x80
            position += 1
        points[number] = count
