"""Wanders through a shell without a model: ordinary work on files it made itself, mistakes included."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from collectors.policies.base import History
from collectors.policies.shell_grammar import CREATION, GRAMMAR, OPENING, TOPICS, Keys, Production, Step, Topic
from collectors.task_actions import LINE_WAIT_S
from trajectories import Action

_NUM_FIRST_FILES = 3
_KIND_OF_SUFFIX = {".md": "note", ".log": "log", ".csv": "table", ".json": "json", ".ini": "settings", ".py": "script"}


class ExploreTerminalPolicy:
    """Draws productions of the shell grammar; a topic's productions are all used before one comes again.

    Args:
        rng: the episode's random choices.
        num_turns: how many actions it takes.
        files: what lies in the working directory already; where nothing does, it begins with files of its own.
    """

    name = "explore@1"

    def __init__(self, rng: random.Random, *, num_turns: int, files: Collection[str] = ()) -> None:
        self._rng = rng
        self._num_turns = num_turns
        self._memory = GRAMMAR.memory()
        self._used: set[Production] = set()
        self._ahead: deque[Step] = deque()
        for path in files:
            kind = _KIND_OF_SUFFIX.get(PurePosixPath(path).suffix)
            if kind is not None:
                self._memory.of(kind).append(path)
        own_files = [OPENING, *[CREATION] * _NUM_FIRST_FILES]
        self._openings: deque[Sequence[Production]] = deque() if files else deque(own_files)

    async def next_action(self, history: History) -> Action | None:
        if history.last.ended or len(history.steps) >= self._num_turns:
            return None
        if not self._ahead:
            self._ahead.extend(self._next_steps())
        step = self._ahead.popleft()
        return Action.keys((step.text, step.seconds) if isinstance(step, Keys) else (step + "\n", LINE_WAIT_S))

    def _next_steps(self) -> list[Step]:
        production = self._draw(self._openings.popleft() if self._openings else self._draw_topic().productions)
        self._used.add(production)
        texts = [step.text if isinstance(step, Keys) else step for step in production]
        expanded = GRAMMAR.expand(texts, self._memory, self._rng)
        return [
            step._replace(text=text) if isinstance(step, Keys) else text
            for step, text in zip(production, expanded, strict=True)
        ]

    def _draw_topic(self) -> Topic:
        topics = [topic for topic in TOPICS if all(self._memory.of(kind) for kind in topic.needs)]
        topics = [topic for topic in topics if self._possible(topic.productions)]
        return self._rng.choices(topics, [topic.weight for topic in topics])[0]

    def _draw(self, productions: Sequence[Production]) -> Production:
        possible = self._possible(productions)
        fresh = [production for production in possible if production not in self._used]
        return self._rng.choice(fresh or possible)

    def _possible(self, productions: Sequence[Production]) -> list[Production]:
        return [
            production
            for production in productions
            if GRAMMAR.applies([step.text if isinstance(step, Keys) else step for step in production], self._memory)
        ]
