"""Does what the task says, in order."""

from __future__ import annotations

from collections.abc import Sequence

from collectors.policies.base import History
from trajectories import Action


class ScriptedPolicy:
    """The actions of the task file, one a turn, whatever the environment answers."""

    name = "scripted@1"

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = actions

    async def next_action(self, history: History) -> Action | None:
        done = len(history.steps)
        return self._actions[done] if done < len(self._actions) else None
