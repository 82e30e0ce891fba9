"""What every sandbox is, and the contract of its three calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trajectories import Action, JsonValue, Observation, SystemPrompt


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFacts:
    """What a recording must say about where its actions happened. Known once ``start`` has returned."""

    domain: str
    sandbox: str
    """The kind of sandbox and its version, such as ``terminal@1``."""
    engine: str | None
    image_digest: str | None
    prompt: SystemPrompt
    tools: Sequence[Mapping[str, JsonValue]] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    network: str = "none"
    device_kind: str | None = None
    recording_header: Mapping[str, JsonValue] = field(default_factory=dict)
    step_timeout_s: float | None = None
    """After so long the sandbox itself gives a step up and says so; who waits for it must wait longer."""


class Sandbox(Protocol):
    """An environment that takes one action at a time.

    ``start`` raises :class:`~sandboxes.errors.SandboxError` where the environment cannot be had, and then leaves
    nothing behind.

    ``step`` never raises for what the environment did: errors, time-outs, cut output and the death of the sandbox are
    fields of the observation (``ended`` is true once no further action can be taken). It raises only for a programming
    error or cancellation.

    ``alive`` asks the environment itself whether it could take another action: a sandbox may die after its last
    observation. It never raises for a dead sandbox.

    ``close`` is idempotent, never raises for a dead sandbox, and leaves nothing behind.
    """

    @property
    def facts(self) -> SandboxFacts: ...

    async def start(self) -> Observation: ...

    async def step(self, action: Action) -> Observation: ...

    async def alive(self) -> bool: ...

    async def close(self) -> None: ...
