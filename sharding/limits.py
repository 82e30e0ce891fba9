"""How much of a trajectory is taken at once."""

from __future__ import annotations

from typing import Final

MAX_CHARACTERS: Final = 2_000_000
"""Of one text of a trajectory, unless another limit is given. A text is tokenised as a whole, for no place to cut it is
safe with every tokenizer, and while that lasts it takes up to some 500 bytes a character."""


def too_long(max_characters: int) -> str:
    """The reason for which trajectories with a longer text are refused."""
    return f"a text of over {max_characters:,} characters"
