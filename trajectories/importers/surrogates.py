"""Halves of surrogate pairs: JSON can say them, no text can hold them, and each is shown as U+FFFD."""

from __future__ import annotations

import re
from typing import Final

_HALF: Final = re.compile("[\ud800-\udfff]")
SHOWN_AS_REPLACEMENT: Final = "half a surrogate pair shown as U+FFFD"
"""As what they are counted."""


def num_halves(*texts: str | None) -> int:
    """How many are in some texts."""
    return sum(len(_HALF.findall(text)) for text in texts if text and not _can_be_stored(text))


def _can_be_stored(text: str) -> bool:
    """Much faster than to look at each character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
