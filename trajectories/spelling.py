"""What somebody probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """Advice for an unknown word: the known one it is nearest to, or all of them where none is near."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else f"known are: {', '.join(names)}"
