r"""Texts as screens and viewers lay them out, put together again: rows that were cut, and line numbers beside them.

A terminal cuts what is longer than its rows, in the middle of words. A viewer of files (``cat -n``, ``grep -n``, an
agent's own) writes a number before each line, and it may do so inside JSON, where a line end is ``\n`` and a tab
``\t``. Both hide what was shown from a search for words in their order.

Nothing tells a row that was cut from a line that happens to be as long, and nothing a number that was written from one
that was shown. So this is a second reading of a text, beside the text as it stands.

Functions here are compiled by Numba.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from curation.compiled import compiled
from curation.text_buffers import Text, Texts

_BLANK, _TAB, _LF, _CR, _BACKSLASH, _COLON, _BAR, _ZERO, _NINE = (ord(letter) for letter in " \t\n\r\\:|09")
_N, _T = ord("n"), ord("t")
_SIGNS: Final = ((0xE2, 0x94, 0x82), (0xE2, 0x86, 0x92))
"""What some viewers write behind a number, beside ``|`` and ``:``: a drawn line and an arrow."""
_USUAL_WIDTHS: Final = (80, 100, 120, 132, 160, 200, 240)
"""One row of such a width is taken for a screen's; rows of any other width only if there are several of them, and none
is longer."""
_LEAST_WIDTH: Final = 40
_BEYOND_ASCII: Final = 0x80
_MOST_DIGITS: Final = 7
_MOST_BLANKS: Final = 12


@compiled
def _after_number(text: Text, at: int, end: int) -> int:
    """Where a line goes on that begins with its number; ``at`` where it does not."""
    place = at
    while place < end and place - at < _MOST_BLANKS and text[place] == _BLANK:
        place += 1
    first = place
    while place < end and place - first <= _MOST_DIGITS and _ZERO <= text[place] <= _NINE:
        place += 1
    if not 0 < place - first <= _MOST_DIGITS:
        return at
    num_blanks = 0
    while place < end and num_blanks < _MOST_BLANKS and text[place] == _BLANK:
        place += 1
        num_blanks += 1
    if place < end and (text[place] == _TAB or text[place] == _COLON or text[place] == _BAR):
        return place + 1
    if place + 1 < end and text[place] == _BACKSLASH and text[place + 1] == _T:
        return place + 2
    if place + 2 < end:
        for one, two, three in _SIGNS:
            if text[place] == one and text[place + 1] == two and text[place + 2] == three:
                return place + 3
    # As which a screen shows a tab.
    return place if num_blanks > 1 else at


@compiled
def _looked_at(text: Text, at: int, end: int) -> tuple[int, int]:
    """The width of the screen that a text was cut to, in code points, and how many of its lines have a number.

    The width is 0 where nothing tells that it was cut.
    """
    longest, num_longest = 0, 0
    begin, num_beyond = at, 0
    num_numbers = 0
    num_numbers += _after_number(text, at, end) > at
    for place in range(at, end):
        byte = text[place]
        if byte == _LF:
            length = place - begin - num_beyond - (place > begin and text[place - 1] == _CR)
            if length > longest:
                longest, num_longest = length, 0
            num_longest += length == longest
            begin, num_beyond = place + 1, 0
            num_numbers += _after_number(text, place + 1, end) > place + 1
        elif byte == _N:
            if place > at and text[place - 1] == _BACKSLASH:
                num_numbers += _after_number(text, place + 1, end) > place + 1
        elif byte >= _BEYOND_ASCII:
            num_beyond += (byte & 0xC0) == 0x80
    # The last row may be as long by chance, and nothing is cut off behind it.
    is_screen = longest >= _LEAST_WIDTH and end - begin - num_beyond <= longest
    is_screen = is_screen and (num_longest > 1 or longest in _USUAL_WIDTHS)
    return longest if is_screen else 0, num_numbers


@compiled
def _read(text: Text, at: int, end: int, width: int, out: Text, filled: int) -> int:
    """Write a text in its second reading behind what is filled; how much is filled then."""
    length, num_numbers = 0, 0
    is_new = True
    before = np.uint8(0)
    while at < end:
        if is_new:
            behind = _after_number(text, at, end)
            num_numbers += behind > at
            length += behind - at
            at = behind
            is_new = False
            continue
        byte = text[at]
        at += 1
        if byte == _CR and at < end and text[at] == _LF:
            continue
        if byte == _LF:
            is_cut = width > 0 and length == width
            if is_cut and num_numbers:  # of lines with numbers, one that has its own is no rest of the one before
                is_cut = _after_number(text, at, end) == at
            length = 0
            if is_cut:
                continue
            is_new = True
        else:
            length += (byte & 0xC0) != 0x80
            is_new = byte == _N and before == _BACKSLASH
            before = byte
        out[filled] = byte
        filled += 1
    return filled


@compiled
def as_laid_out(texts: Texts) -> Texts:
    """The second reading of each text; an empty one where it is that of the text as it stands."""
    out = np.empty(texts.text.size, np.uint8)
    ends = np.zeros(texts.ends.size, np.int64)
    filled = 0
    for row in range(texts.ends.size - 1):
        at, end = texts.ends[row], texts.ends[row + 1]
        width, num_numbers = _looked_at(texts.text, at, end)
        if width or num_numbers > 1:
            filled = _read(texts.text, at, end, width, out, filled)
        ends[row + 1] = filled
    return Texts(out[:filled], ends)
