"""Names that the same work always gets again: what lets a restart tell done from not done."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from trajectories import JsonValue, canonical_json

_HEX_DIGITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One time a policy is let loose on a task: all that decides what it will do."""

    run: str
    domain: str
    task_id: str
    task_sha256: str
    policy: str
    seed: int
    number: int
    """Which repetition of the task this is, from 0."""

    def trajectory_id(self, attempt: int) -> str:
        """The id of the ``attempt``-th try (from 1) at this episode: safe in a file name, the same on every machine.

        80 bits of a SHA-256: a million trajectories collide with a chance of about 4e-13.
        """
        identity: list[JsonValue] = [
            self.run,
            self.domain,
            self.task_id,
            self.task_sha256,
            self.policy,
            self.seed,
            self.number,
            attempt,
        ]
        digest = hashlib.sha256(canonical_json(identity).encode()).hexdigest()[:_HEX_DIGITS]
        return f"{re.sub(r'[^a-z0-9]', '', self.domain.lower())}-{digest}"

    @property
    def label(self) -> str:
        """The episode as a person reads it in a message."""
        return f"{self.task_id}#{self.number}"
