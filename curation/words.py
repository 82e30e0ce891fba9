"""What a word is: the plain definition, and the same as a table for compiled code."""

from __future__ import annotations

import functools
import re
import sys
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

CONTEXTUAL = 0xFFFFFFFF
"""Marks in `lower_table` the two code points that no table can lower.

U+0130 lowers to two code points, of which the second ends the word; U+03A3 lowers to one of two letters, by its
neighbours. Text that holds one of them is left to `words`.
"""

_WORD = re.compile(r"\w+")
CONTEXTUAL_TEXT = "\u0130\u03a3"
"""The two code points that `CONTEXTUAL` marks."""


class WordRule(StrEnum):
    """What counts as a word of a text: the statistics, and with them the classes, follow from it."""

    PYTHON_LOWERED = "python_lowered"
    r"""The runs of ``\w``, as Python's ``re`` has it for ``str``, in what ``str.lower`` makes of the text: `words`.
    Which characters those are is a matter of Python's Unicode, whose version is recorded beside it."""


def words(text: str) -> set[str]:
    r"""W(x), the set of the words of a text: ``set(re.findall(r"\w+", x.lower()))``."""
    return set(_WORD.findall(text.lower()))


@functools.cache
def lower_table() -> NDArray[np.uint32]:
    """The lower-cased form of every word character, made from this Python's own ``re`` and ``str.lower``.

    Entry c holds the UTF-8 bytes of ``chr(c).lower()``, first byte lowest; 0 where chr(c) is no word character, and
    `CONTEXTUAL` where it depends. The table ends with the last word character.
    """
    everything = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    characters = re.findall(r"\w", everything)
    table = np.zeros(ord(characters[-1]) + 1, dtype=np.uint32)
    for character in characters:
        table[ord(character)] = int.from_bytes(character.lower().encode()[:4], "little")
    for character in CONTEXTUAL_TEXT:
        table[ord(character)] = CONTEXTUAL
    table.flags.writeable = False
    return table
