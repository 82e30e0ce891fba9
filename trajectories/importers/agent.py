"""An agent's calls: which of them act on the environment, and what in them is meant for the agent or its harness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trajectories.importers.loss import LossReport
from trajectories.importers.values import plain, shown
from trajectories.model import Action, JsonValue

_THINK: Final = "think"
_HARNESS_CALLS: Final = frozenset({"finish", _THINK, "task_tracker"})
"""Tools of agent harnesses that never reach an environment."""
_THOUGHT: Final = "thought"
_RISK: Final = "security_risk"
"""Arguments that harnesses add to the parameters of every tool."""


class AgentCalls:
    """Makes actions of an agent's calls, the same way for every format; what is said beside them is kept aside."""

    def __init__(self, loss: LossReport) -> None:
        self._loss = loss
        self._said: list[str] = []
        self.names: set[str] = set()
        """The tools that were called."""

    def say(self, *texts: str) -> None:
        """Note what the agent said: it belongs to the reasons of its next action."""
        self._said += texts

    def reasons(self, *texts: str) -> str | None:
        """What the agent has said since its last action, and ``texts``: each once, in order."""
        said, self._said = dict.fromkeys((*self._said, *texts)), []
        return "\n".join(filter(None, said)) or None

    def action(self, name: str, arguments: JsonValue, *reasons: str) -> Action | None:
        """The action that a call is; None for a call that its harness answers, whose text is said instead."""
        if self.is_harness_call(name):
            self._loss.skip(f"call of {name}")
            self.say(*reasons, _thought(arguments) if name == _THINK else "")
            return None
        self.names.add(name)
        own, thought = self._own_arguments(name, arguments)
        return Action.of({"name": name, "arguments": own}, reasoning=self.reasons(*reasons, thought))

    @staticmethod
    def is_harness_call(name: str) -> bool:
        return name in _HARNESS_CALLS

    def _own_arguments(self, name: str, arguments: JsonValue) -> tuple[JsonValue, str]:
        """The arguments that are the tool's own, and the thought among them.

        A tool whose business is to think, as its name says, takes thoughts as arguments of its own.
        """
        if not isinstance(arguments, Mapping) or not arguments.keys() & {_RISK, _THOUGHT}:
            return arguments, ""
        of_the_harness = {_RISK} if _THINK in name.lower() else {_RISK, _THOUGHT}
        thought = arguments.get(_THOUGHT) if _THOUGHT in of_the_harness else None
        self._loss.drop(f"argument {_RISK} of the harness", int(_RISK in arguments))
        self._loss.infer("argument that is a thought taken as reasoning", int(bool(thought)))
        return {key: value for key, value in arguments.items() if key not in of_the_harness}, shown(thought)


def _thought(arguments: JsonValue) -> str:
    """The text of a call that only thinks."""
    if not isinstance(arguments, Mapping):
        return shown(arguments)
    return shown(arguments.get(_THOUGHT)) or "\n".join(filter(None, map(plain, arguments.values())))
