"""Sentences of a seeded language, and what happens to a text that is used again: small changes, quotation, wrapping."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Sequence

_SYLLABLES = ("ka", "lo", "mi", "ren", "tas", "vu", "dor", "pel", "sun", "gar", "thi", "bo")


def vocabulary(rng: random.Random, size: int) -> list[str]:
    """Different made-up words."""
    words: set[str] = set()
    while len(words) < size:
        words.add("".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))))
    return sorted(words)


def sentence(rng: random.Random, words: Sequence[str], length: int) -> str:
    """So many words in a row, with a comma here and there."""
    return " ".join(word + ("," if rng.random() < 0.1 else "") for word in rng.choices(words, k=length))


def changed(rng: random.Random, text: str, share: float) -> str:
    """The text with about this share of its words replaced, dropped or doubled."""
    words = []
    for word in text.split(" "):
        if rng.random() >= share:
            words.append(word)
        else:
            words.extend(rng.choice(([], [word, word], ["changed"])))
    return " ".join(words)


def cut_into_rows(text: str, width: int) -> str:
    """The text as a terminal shows it that is so wide: cut wherever a row is full, also in the middle of a word."""
    lines = text.split("\n")
    return "\n".join(line[at : at + width] for line in lines for at in range(0, max(1, len(line)), width))


def numbered(text: str, behind: str, width: int = 6) -> str:
    """The text with a number and a sign before each line, as viewers of files show it."""
    lines = text.split("\n")
    return "\n".join(f"{number:{width}d}{behind}{line}" for number, line in enumerate(lines, 1))


def rewrapped(text: str, width: int, prefix: str = "") -> str:
    """The text in other lines, as a mail or a comment would have it, and in capitals."""
    return textwrap.fill(text.upper(), width, initial_indent=prefix, subsequent_indent=prefix)
