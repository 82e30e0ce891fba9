"""What of an observation is in the loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.keep import token_draws
from curation.replays.spans import Spans


class TokenDraw(NamedTuple):
    """Thins the tokens of one turn out: each is in the loss where its own draw is below ``ratio``."""

    ratio: float
    seed: int
    trajectory_id: str
    turn: int

    def keeps(self, count: int) -> NDArray[np.bool_]:
        """Which of the observation's ``count`` tokens stay."""
        kept: NDArray[np.bool_] = token_draws(self.seed, self.trajectory_id, self.turn, count) < self.ratio
        return kept


class Mask(NamedTuple):
    """What of a turn is in the loss: nothing, unless it is ``kept``. Then the stop token is, and the observation's
    tokens are but for those that touch a ``volatile`` character, and those that the ``draw`` leaves out."""

    kept: bool
    volatile: Spans = ()
    draw: TokenDraw | None = None


def touching(offsets: NDArray[np.int64], spans: Spans) -> NDArray[np.bool_]:
    """Which tokens share a character with any of the spans; a token across the border of one does.

    Args:
        offsets: where each token begins and ends, shape ``(num_tokens, 2)``.
    """
    starts, ends = np.array(spans, np.int64).reshape(-1, 2).T
    begun = np.searchsorted(starts, offsets[:, 1], side="left")
    ended = np.searchsorted(ends, offsets[:, 0], side="right")
    found: NDArray[np.bool_] = begun > ended
    return found
