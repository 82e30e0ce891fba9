"""How spans are shown in tests of replays."""

from __future__ import annotations

from collections.abc import Sequence


def marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with its spans in brackets."""
    pieces, reached = [], 0
    for start, end in spans:
        pieces += [text[reached:start], "[", text[start:end], "]"]
        reached = end
    return "".join([*pieces, text[reached:]])
