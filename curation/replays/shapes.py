"""The shape of a text: what is left of it without the words that fluctuate."""

from __future__ import annotations

import re

_BLANKS = re.compile(r"[^\S\n]+")
_WORDS = re.compile(r"[\w.:,+-]+")
_DIGIT = re.compile(r"\d")


def shape(text: str) -> str:
    """The text with ``0`` for every word that holds a digit (times, sizes, versions, hexadecimal ids), and one space
    for white space in a row: columns are as wide as what stands in them."""
    return _WORDS.sub(_without_digits, _BLANKS.sub(" ", text))


def _without_digits(word: re.Match[str]) -> str:
    return "0" if _DIGIT.search(word[0]) else word[0]
