"""What the text of an observation shows where its source does not say it: that it was cut, or that nothing changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from trajectories.importers.lazy_sequence import LazySequence
from trajectories.importers.loss import LossReport
from trajectories.model import GUI_DOMAINS, Observation, Turn

_WORDS: Final = ("truncated", "clipped", "elided", "omitted", "was too long", "more lines", "more characters")
_SIZE: Final = r"\d[\d,]* (?:more )?(?:lines|bytes|characters|chars|tokens)\b"
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
            r"^(?:\.{3} ?)?\[output truncated\b[^\]\n]*\](?: ?\.{3})?[ \t\r]*$",
            rf"^output truncated: {_SIZE}",
            rf"(?<![\"'`(])\[output truncated: {_SIZE}[^\]\n]*\](?![\"'`)(])",
            rf"^(?:\(output truncated, {_SIZE}\)|<truncated {_SIZE}>|\[truncated: {_SIZE}\])[ \t\r]*$",
            r"^-{3,} ?output truncated ?-{3,}[ \t\r]*$",
            r"^(?:\.{3}|…) ?\(?\d[\d,]* more (?:lines|characters)\)?\s*\Z",
            r"(?:^|\.{3} ?)[\[<(](?:\.{3} ?)?truncated(?: ?\.{3})?[\]>)]\s*\Z",
        )
    ),
    re.IGNORECASE | re.MULTILINE,
)
"""What harnesses write where they have cut a text: OpenHands, SWE-agent, mini-swe-agent, Terminus, Codex, Claude Code,
Gemini CLI and AgentBench. What is said of cutting in so few words counts on a line of its own alone, or where dots lead
up to the end of the text: programs say as much of their own output."""


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

    What is marked is counted at once, before any is taken.

    Args:
        initial: what was visible before the first.
    """
    if domain not in GUI_DOMAINS:
        return turns
    unchanged = bytearray()
    seen = initial
    for turn in turns:
        text = turn.observation.text
        unchanged.append(turn.is_noop is None and text == seen != "")
        seen = text
    loss.infer("turn without effect, by the same text", unchanged.count(True))
    return _MarkedTurns(turns, unchanged)


class _MarkedTurns(LazySequence[Turn]):
    """Turns, some of which are marked as without effect when they are taken: none is held.

    Args:
        unchanged: for each turn, whether it is one of them.
    """

    def __init__(self, turns: Sequence[Turn], unchanged: bytearray) -> None:
        self._turns, self._unchanged = turns, unchanged

    def __len__(self) -> int:
        return len(self._turns)

    def at(self, place: int) -> Turn:
        return _marked(self._turns[place], self._unchanged[place])

    def __iter__(self) -> Iterator[Turn]:
        return map(_marked, self._turns, self._unchanged)


def _marked(turn: Turn, unchanged: int) -> Turn:
    return replace(turn, is_noop=True) if unchanged else turn
