"""What decides the next action."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from typing import Protocol

from sandboxes.base import SandboxFacts
from trajectories import Action, Observation


@dataclass(slots=True, kw_only=True)
class History:
    """What an agent may know: where it is, what it did, and what came back."""

    facts: SandboxFacts
    initial: Observation
    steps: list[tuple[Action, Observation]] = field(default_factory=list)

    @property
    def last(self) -> Observation:
        return self.steps[-1][1] if self.steps else self.initial


class Policy(Protocol):
    """Chooses actions for one episode. A fresh one is made for each."""

    @property
    def name(self) -> str:
        """Name and version, such as ``explore@1``: a policy that may act differently gets a new version."""
        ...

    async def next_action(self, history: History) -> Action | None:
        """What to do next; None where there is nothing more to do."""
        ...


def generator(seed: int, task_id: str, episode: int) -> random.Random:
    """The random choices of one episode: a hash of (seed, task, episode), so no other episode can change them."""
    digest = hashlib.sha256(f"{seed}\0{task_id}\0{episode}".encode()).digest()
    return random.Random(int.from_bytes(digest[:16]))
