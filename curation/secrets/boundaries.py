"""Where a value may begin, also inside other notations."""

from __future__ import annotations

import re
from collections.abc import Callable

_LOOK_BACK = 12
_WORD_CHARACTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_NOTATION = re.compile(rb"(?:\\[nrtbfv0]|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}|\[[\d;]{0,8}m)\Z")
"""Escapes and colour codes, which end in a letter or digit that is no part of the word after them."""
_END_OF_COLOUR = re.compile(rb"\d{0,3}m")


def stands_alone(data: bytes, start: int) -> bool:
    """Whether no word goes on over ``start``."""
    if not start or data[start - 1] not in _WORD_CHARACTERS:
        return True
    return _NOTATION.search(data, max(0, start - _LOOK_BACK), start) is not None


def stands_whole(data: bytes, start: int, end: int) -> bool:
    """Whether no word goes on over ``start`` or over ``end``; beside a sign none does."""
    is_open = data[end - 1] in _WORD_CHARACTERS and data[end : end + 1] and data[end] in _WORD_CHARACTERS
    return not is_open and (data[start] not in _WORD_CHARACTERS or stands_alone(data, start))


def shifted(count: int) -> Callable[[bytes, int], int]:
    """A rule's ``begin`` that lies ``count`` bytes before its trigger's."""
    return lambda _, position: max(0, position - count)


def after_colour(begin: Callable[[bytes, int], int]) -> Callable[[bytes, int], int]:
    """A rule's ``begin`` that leaves out the end of a colour code, as in ``ESC[32mpassword``."""

    def past_colour(data: bytes, position: int) -> int:
        place = begin(data, position)
        end_of_code = _END_OF_COLOUR.match(data, place, position)
        return end_of_code.end() if end_of_code and data[place - 1 : place] in {b"[", b";"} else place

    return past_colour


def back_over(characters: bytes, limit: int) -> Callable[[bytes, int], int]:
    """A rule's ``begin`` that goes back from its trigger's over at most ``limit`` of the characters."""
    members = frozenset(characters)

    def begin(data: bytes, position: int) -> int:
        lowest = max(0, position - limit)
        while position > lowest and data[position - 1] in members:
            position -= 1
        return position

    return begin
