"""What the text of an observation shows where its source does not say it: that it was cut, or that nothing changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from trajectories.importers.loss import LossReport
from trajectories.model import GUI_DOMAINS, Observation, Turn

_WORDS: Final = ("truncated", "clipped", "elided", "omitted", "was too long")
_MARKS: Final = re.compile(
    "|".join(
        (
            r"<response clipped>",
            r"\[\.{3} Observation truncated due to length \.{3}\]",
            r"\d characters were elided",
            r"<elided_chars>",
            r"The output of your last command was too long",
            r"\[\.{3} output limited to \d+ bytes; \d+ interior bytes omitted \.{3}\]",
            r"\[\.{3} omitted \d+ of \d+ lines \.{3}\]",
            r"…\d{1,12} (?:tokens|chars) truncated…",
            r"\.{3} \[\d+ (?:lines|characters) (?:truncated|omitted)\] \.{3}",
            r"truncated because the output is too long\]",
            r"^[^\w\n]{0,9}output truncated\b",
            r"(?:\[|<|\()(?:\.{3} ?)?truncated(?: ?\.{3})?(?:\]|>|\))\s*\Z",
        )
    ),
    re.IGNORECASE | re.MULTILINE,
)
"""What harnesses write where they have cut a text: OpenHands, SWE-agent, mini-swe-agent, Terminus, Codex, Claude Code,
Gemini CLI and AgentBench."""


def looks_truncated(text: str) -> bool:
    """Whether a text bears the mark of a harness that has cut it."""
    lower = text.lower()
    return any(word in lower for word in _WORDS) and _MARKS.search(text) is not None


def marked_truncated(observation: Observation, loss: LossReport) -> Observation:
    """The observation, truncated where its text shows that it was."""
    if observation.truncated or not looks_truncated(observation.text):
        return observation
    loss.infer("truncated, by a mark in the text")
    return replace(observation, truncated=True)


def marked_unchanged(turns: Sequence[Turn], domain: str, initial: str, loss: LossReport) -> Sequence[Turn]:
    """The turns, without effect where the same text is visible after as before; only of domains where that is a state.

    Args:
        initial: what was visible before the first.
    """
    if domain not in GUI_DOMAINS:
        return turns
    before = [initial, *(turn.observation.text for turn in turns)]
    marked = [
        replace(turn, is_noop=True) if turn.is_noop is None and turn.observation.text == seen != "" else turn
        for turn, seen in zip(turns, before, strict=False)
    ]
    loss.infer("turn without effect, by the same text", sum(a is not b for a, b in zip(marked, turns, strict=True)))
    return marked
