"""Places in bytes as the compiled judges look at them.

Functions here are compiled by Numba. ``text`` is bytes, and a place outside it is allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from curation.secrets.lookup_tables import ALNUM, DIGIT, HEX, JOINED, NOTATION

Text: TypeAlias = NDArray[np.uint8]
Sorts: TypeAlias = NDArray[np.uint32]
Facts: TypeAlias = NDArray[np.int64]
Place: TypeAlias = int
Span: TypeAlias = tuple[int, int]
_Function = TypeVar("_Function", bound=Callable[..., Any])

REFUSED: Span = (-1, -1)
UNSURE: Span = (-1, 0)

_LF, _PERCENT, _ZERO, _SEMICOLON, _SQUARE, _BACKSLASH, _M, _U, _X = b"\n%0;[\\mux"


def inner(function: _Function) -> _Function:
    """Compile what only compiled functions call, and what makes no array.

    To leave out what counts references halves the time of all of them, and of their compilation; the result of that is
    cached with the function of `curation.secrets.scan` that they serve.
    """
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}  # which its types do not name
    compiled: _Function = njit(nogil=True, **options)(function)  # type: ignore[call-overload]
    return compiled


@inner
def sort_at(text: Text, place: Place, sorts: Sorts) -> int | np.int64:
    """The sorts of a byte, none where the text has ended."""
    return np.int64(sorts[text[place]]) if 0 <= place < text.size else 0


@inner
def byte_at(text: Text, place: Place) -> int | np.int64:
    """A byte, or a line feed where the text has not begun or has ended."""
    return np.int64(text[place]) if 0 <= place < text.size else _LF


@inner
def past(text: Text, place: Place, most: int, sort: int, sorts: Sorts) -> Place:
    """The first place from ``place`` on, ``most`` farther at most, where no byte of the sort stands."""
    end = min(text.size, place + most)
    while place < end and sorts[text[place]] & sort:
        place += 1
    return place


@inner
def is_hex(text: Text, place: Place, end: Place, sorts: Sorts) -> bool:
    while place < end and sorts[text[place]] & HEX:
        place += 1
    return place == end


@inner
def stands_alone_in(text: Text, start: Place, sorts: Sorts) -> bool:
    """Whether no word goes on over ``start``: `curation.secrets.boundaries.stands_alone`."""
    if start == 0 or not sorts[text[start - 1]] & ALNUM:
        return True
    last = text[start - 1]
    if start >= 2 and text[start - 2] == _BACKSLASH and sorts[last] & NOTATION:
        return True
    if start >= 3 and text[start - 3] == _PERCENT and is_hex(text, start - 2, start, sorts):
        return True
    if start >= 4 and text[start - 4] == _BACKSLASH and text[start - 3] == _X and is_hex(text, start - 2, start, sorts):
        return True
    if start >= 6 and text[start - 6] == _BACKSLASH and text[start - 5] == _U and is_hex(text, start - 4, start, sorts):
        return True
    if last != _M:
        return False
    place = start - 2
    while place > start - 10 and place >= 0 and (sorts[text[place]] & DIGIT or text[place] == _SEMICOLON):
        place -= 1
    return place >= 0 and text[place] == _SQUARE


@inner
def is_joined(text: Text, start: Place, sorts: Sorts) -> bool:
    """Whether a number is a part of what stands before it."""
    return start > 0 and bool(sorts[text[start - 1]] & JOINED)


@inner
def has_digits(text: Text, place: Place, count: int, sorts: Sorts) -> bool:
    return past(text, place, count, DIGIT, sorts) == place + count


@inner
def number_of(text: Text, place: Place, end: Place, number: int, sorts: Sorts) -> int:
    """``number`` with the digits of ``text[place:end]`` after its own."""
    while place < end:
        if sorts[text[place]] & DIGIT:
            number = number * 10 + int(byte_at(text, place)) - _ZERO
        place += 1
    return number
