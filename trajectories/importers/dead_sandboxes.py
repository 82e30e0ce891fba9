"""The end of a sandbox, where a source tells it in the last answer alone: what the harness says there, no world did.

An agent that works with containers sees such errors of its own world. So only a last answer counts that says nothing
else, and only where the action does not speak of what could have said it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from trajectories.importers.lazy_sequence import LazySequence
from trajectories.importers.loss import LossReport
from trajectories.model import ErrorKind, Turn

_LONGEST: Final = 600
_BEFORE: Final = r"\s*[\[(<*]*(?:[\w.() -]{1,60}:\s+){0,3}"
_WHAT: Final = r"(?:the |your )?(?:docker |sandbox |runtime )?(?:sandbox|container|runtime|tmux session)"
_GONE: Final = (
    r"(?:terminated|died|crashed|destroyed|stopped|killed|lost|disconnected|unresponsive|unreachable|not running"
    r"|expired|shut down|no longer (?:running|available|alive)|gone|timed out)"
    r"(?: unexpectedly)?(?:[.,;:!)\]>]| (?:and|by|due|after|because|with|or|before|\()|\s*\Z)[^\n]*"
)
_DEATHS: Final = re.compile(
    _BEFORE
    + "(?:"
    + "|".join(
        (
            rf"{_WHAT} (?:has |was |is )?(?:been )?(?:unexpectedly )?{_GONE}",
            r"container [\w.-]{1,80} is (?:not running|restarting|paused|dead)\b[^\n]*",
            r"no such container: [\w.-]{1,80}",
            r"cannot exec (?:in )?a (?:stopped|paused|deleted) (?:container|state)\b[^\n]*",
            r"\d{3} Client Error[^\n]{0,200}container [^\n]{0,80}is not running[^\n]*",
            r"(?:no server running on /\S*tmux\S*|(?:can't find|lost) session:? [\w-]+|lost server)",
            r"the action has not been executed(?: due to a runtime error)?\.[^\n]*",
            r"runtime failed to return \w+ before the requested timeout[^\n]*",
            r"agentruntime(?:disconnected|unavailable|timeout|notready|error)\w*[^\n]*",
            r"exit(?:ed)? due to (?:runtime|environment) error[^\n]*",
            r"(?:command failed to execute|broken pipe error|execution timed out and interrupt failed)"
            r"\. restarting process\.",
            r"command timed out\. shell exited\.?",
        )
    )
    + r")\s*",
    re.IGNORECASE,
)
"""OpenHands, SWE-agent, Terminus and its kin, and what Docker says to those that run commands in a container."""
_CONTAINERS: Final = re.compile(
    r"docker|podman|nerdctl|kubectl|crictl|compose|container|sandbox|vagrant|\blxc\b|tmux|\bscreen\b", re.IGNORECASE
)


def marked_dead(turns: Sequence[Turn], loss: LossReport) -> Sequence[Turn]:
    """The turns, the last one as a failure of the environment where its answer tells that the sandbox is gone."""
    last = turns[-1] if turns else None
    if last is None or not _tells_death(last):
        return turns
    loss.infer("end of the sandbox, by the words of the last answer")
    observation = last.observation
    told = observation.error or observation.text
    return _Ended(turns, replace(last, observation=replace(observation, error_kind=ErrorKind.ENVIRONMENT, error=told)))


def _tells_death(turn: Turn) -> bool:
    text = turn.observation.text
    if len(text) > _LONGEST or turn.observation.error_kind is ErrorKind.ENVIRONMENT:
        return False
    return _DEATHS.fullmatch(text) is not None and _CONTAINERS.search(turn.action.text) is None


class _Ended(LazySequence[Turn]):
    """Turns, the last of which is another: none of the others is held."""

    def __init__(self, turns: Sequence[Turn], last: Turn) -> None:
        self._turns, self._last = turns, last

    def __len__(self) -> int:
        return len(self._turns)

    def at(self, place: int) -> Turn:
        return self._last if place == len(self._turns) - 1 else self._turns[place]

    def __iter__(self) -> Iterator[Turn]:
        for number, turn in enumerate(self._turns, start=1):
            yield self._last if number == len(self._turns) else turn
