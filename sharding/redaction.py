"""What a trajectory says, with placeholders for the secrets and personal data in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from curation.secrets import SCREEN_COLUMNS, redact_trajectory
from sharding.conversation import ContextText, TurnText


def redacted(context: ContextText, turns: Sequence[TurnText]) -> tuple[ContextText, list[TurnText], Counter[str]]:
    """The same trajectory without them, and how many values of each kind were replaced in its texts."""
    domain, *parts = context
    texts = [*parts, *(text for turn in turns for text in (turn.action, turn.observation))]
    columns = SCREEN_COLUMNS if domain == "terminal" else None
    without, counts = redact_trajectory(texts, columns=columns)
    actions, observations = without[len(parts) :: 2], without[len(parts) + 1 :: 2]
    said = map(TurnText, actions, observations, (turn.kept for turn in turns))
    return ContextText(domain, *without[: len(parts)]), list(said), counts
