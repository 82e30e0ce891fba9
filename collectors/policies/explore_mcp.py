"""Tries tool servers out without a model: every tool they list, with arguments that fit and with some that do not."""

from __future__ import annotations

import random
from collections.abc import Mapping

from collectors.policies.base import History
from collectors.policies.mcp_knowledge import Knowledge
from collectors.policies.schema_values import ArgumentMaker
from trajectories import Action, InputError, JsonValue

_TURN_OF_CHOICE = 4
"""Every fourth turn calls whatever it likes, most often wrongly; the others go through the list of tools."""

_INVALID_SHARE = 0.6
_UNKNOWN_TOOL_SHARE = 0.15
_UNKNOWN_TOOLS = ("run_shell", "delete_file", "git_push", "drop_table", "fetch", "read")


class ExploreMcpPolicy:
    """Goes through the servers' tools in a shuffled order; what answers tell it becomes the arguments of later calls.

    The order is the task's, and each episode goes on in it where the one before stopped, so that enough episodes call
    every tool, however many there are.

    Args:
        rng: the episode's random choices.
        order: the task's random choices, the same for all its episodes.
        num_turns: how many actions it takes.
        episode: which episode of the task this is, from 0.
    """

    name = "explore@1"

    def __init__(self, rng: random.Random, order: random.Random, *, num_turns: int, episode: int) -> None:
        self._rng = rng
        self._order = order
        self._num_turns = num_turns
        self._next_tool = episode * (num_turns - num_turns // _TURN_OF_CHOICE)
        self._knowledge = Knowledge()
        self._tools: list[Mapping[str, JsonValue]] = []

    async def next_action(self, history: History) -> Action | None:
        """See :class:`~collectors.policies.base.Policy`. Raises ``InputError`` where the servers list no tool."""
        num_taken = len(history.steps)
        if history.last.ended or num_taken >= self._num_turns:
            return None
        if num_taken == 0:
            self._knowledge.start_from(history.facts)
            self._tools = list(history.facts.tools)
            self._order.shuffle(self._tools)
            if not self._tools:
                raise InputError("the servers list no tool to explore", mend="name other servers in the task")
        else:
            self._knowledge.learn(*history.steps[-1])
        if (num_taken + 1) % _TURN_OF_CHOICE == 0:
            return self._any_call()
        tool = self._tools[self._next_tool % len(self._tools)]
        self._next_tool += 1
        return self._call(tool, valid=True)

    def _any_call(self) -> Action:
        if self._rng.random() < _UNKNOWN_TOOL_SHARE:
            return Action.call(self._rng.choice(_UNKNOWN_TOOLS), {})
        return self._call(self._rng.choice(self._tools), valid=self._rng.random() >= _INVALID_SHARE)

    def _call(self, tool: Mapping[str, JsonValue], *, valid: bool) -> Action:
        name, schema = str(tool["name"]), tool["inputSchema"]
        assert isinstance(schema, Mapping), "a tool has a schema of its arguments"
        maker = ArgumentMaker(self._rng, self._knowledge.context(name))
        return Action.call(name, maker.valid(schema) if valid else maker.invalid(schema))
