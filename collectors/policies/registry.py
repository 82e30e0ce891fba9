"""Which policies there are, and how one is made for an episode of a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from collectors.policies.base import Policy, generator
from collectors.policies.explore_terminal import ExploreTerminalPolicy
from collectors.policies.scripted import ScriptedPolicy
from collectors.tasks import Task
from trajectories import InputError
from trajectories.spelling import nearest

_EXPLORED_TURNS = 20
"""Turns of an exploration whose task does not say how many."""


def _scripted(task: Task, seed: int, episode: int) -> Policy:
    del seed, episode  # a script has no choices
    if not task.actions:
        raise InputError(
            "the task has no actions to run as a script", where=f"task {task.id}", mend="use --policy explore"
        )
    return ScriptedPolicy(task.actions)


def _explore(task: Task, seed: int, episode: int) -> Policy:
    rng, num_turns = generator(seed, task.id, episode), task.turns or _EXPLORED_TURNS
    if task.domain == "terminal":
        return ExploreTerminalPolicy(rng, num_turns=num_turns, files=task.files)
    if task.domain == "mcp":
        from collectors.policies.explore_mcp import ExploreMcpPolicy  # needs the 'collect' extra

        order = generator(seed, task.id, -1)
        return ExploreMcpPolicy(rng, order, num_turns=num_turns, episode=episode)
    raise InputError(f"nobody explores the domain '{task.domain}'", where=f"task {task.id}", mend="use another policy")


_POLICIES: Mapping[str, Callable[[Task, int, int], Policy]] = {"explore": _explore, "scripted": _scripted}

POLICY_NAMES = tuple(_POLICIES)


def make_policy(name: str, task: Task, *, seed: int, episode: int) -> Policy:
    """A fresh policy for one episode. Raises ``InputError`` where there is none of that name, or none for that task."""
    if name not in _POLICIES:
        raise InputError(f"unknown policy '{name}'", mend=nearest(name, _POLICIES))
    return _POLICIES[name](task, seed, episode)
