"""Records what a sandbox does by standing around it: whoever acts, and whatever happens, each turn is on disk first."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from collectors.redaction import Redactor
from sandboxes.base import Sandbox, SandboxFacts
from trajectories import (
    Action,
    Dataset,
    Ending,
    ErrorKind,
    Header,
    JournalWriter,
    JsonValue,
    Observation,
    Status,
    SystemPrompt,
    Turn,
)

_GRACE_S = 60.0
"""For what a sandbox does once its own time-out has ended a step, such as asking its container for the cause."""

_NOT_REDACTED = ("trajectory_id", "run", "domain", "started_at", "prompt")
"""Fields of a header that are names of files, no JSON, or redacted by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a recording must say about why it was made; the sandbox's own facts say the rest."""

    trajectory_id: str
    run: str
    task_id: str
    task_sha256: str
    instruction: str
    policy: str
    seed: int
    attempt: int = 1
    model: str | None = None
    licence: str = ""
    source: str = ""
    split_group: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Name → value of every secret the sandbox was given; none of the values is ever written."""


class Recorder:
    """A sandbox that writes down what the sandbox inside it does.

    ``step`` returns once the turn is journalled and fsynced. An exception of the inner sandbox becomes a recorded turn
    with ``ErrorKind.ENVIRONMENT`` that ends the trajectory; cancellation passes through, and the action in flight is
    not recorded. ``close`` closes the sandbox, then ends the record: as ``status`` says, as interrupted where nobody
    set it, as failed where the sandbox would not close.

    Args:
        sandbox: what is recorded.
        dataset: where to.
        origin: why.
        step_limit_s: how long one step may take before the sandbox counts as hung; longer where the sandbox's own
            time-out is (``SandboxFacts.step_timeout_s``).

    Raises:
        StorageError: from ``start``, ``step`` and ``close``, where the journal cannot be written (a full disk).
    """

    def __init__(self, sandbox: Sandbox, dataset: Dataset, origin: Origin, *, step_limit_s: float = 300.0) -> None:
        self.num_turns = 0
        self.status = Status.INTERRUPTED
        self.error: str | None = None
        """Why it failed, where its last turn does not say it."""
        self._sandbox = sandbox
        self._dataset = dataset
        self._origin = origin
        self._step_limit_s = step_limit_s
        self._redactor = Redactor(origin.secrets)
        self._journal: JournalWriter | None = None
        self._last: Observation | None = None
        self._outcome: dict[str, JsonValue] = {}

    @property
    def started(self) -> bool:
        """Whether there is a record."""
        return self._last is not None

    @property
    def facts(self) -> SandboxFacts:
        return self._sandbox.facts

    async def start(self) -> Observation:
        started_at = datetime.now(UTC)
        observation = await self._sandbox.start()
        header = self._header(started_at)
        with self._redacted(observation) as redacted:
            self._journal = JournalWriter(self._dataset, header, redacted)
        self._last = observation
        return observation

    async def step(self, action: Action) -> Observation:
        """Take the action and record the turn. See the class for what it raises."""
        assert self._journal is not None, "the recorder has not been started"
        assert self._last is not None
        started_at, began = datetime.now(UTC), time.monotonic()
        observation = await self._observe(action)
        duration_s = time.monotonic() - began
        before, after = self._last.state, observation.state
        redacted_action = self._redactor.action(action)
        # The journal is written in the event loop's own thread: one fsync is shorter than the detour through another,
        # and cancellation cannot come between a turn and its record.
        with self._redacted(observation) as redacted:
            self._journal.append(
                Turn(
                    number=self.num_turns + 1,
                    action=redacted_action,
                    observation=redacted,
                    started_at=started_at,
                    duration_s=duration_s,
                    state_before=before,
                    is_noop=None if before is None or after is None else before == after,
                )
            )
        self.num_turns += 1
        self._last = observation
        self._outcome.update(observation.outcome)
        return observation

    async def alive(self) -> bool:
        """Whether the sandbox could take another action: False too where it does not say so within the step limit."""
        try:
            async with asyncio.timeout(self._step_limit_s):
                return await self._sandbox.alive()
        except TimeoutError:
            return False

    async def close(self) -> None:
        try:
            await self._sandbox.close()
        except Exception as error:
            if self.status is not Status.INTERRUPTED:  # which is begun again in any case
                self.status, self.error = Status.FAILED, f"the sandbox did not close: {error}"
            raise
        finally:
            self._end()

    def _end(self) -> None:
        if self._journal is not None:
            journal, self._journal = self._journal, None
            error = None if self.error is None else self._redactor.observation(self.error)
            with journal:
                outcome = {self._redactor.text(name): self._redactor.json(told) for name, told in self._outcome.items()}
                journal.end(Ending(status=self.status, ended_at=datetime.now(UTC), outcome=outcome, error=error))

    async def _observe(self, action: Action) -> Observation:
        """The one boundary at which any failure of a sandbox becomes data."""
        own_s = self.facts.step_timeout_s
        limit_s = self._step_limit_s if own_s is None else max(self._step_limit_s, own_s + _GRACE_S)
        limit = asyncio.timeout(limit_s)
        try:
            async with limit:
                return await self._sandbox.step(action)
        except Exception as error:
            if limit.expired():
                return self._failure(f"the sandbox gave no answer within {limit_s:g} s", timed_out=True)
            return self._failure(f"{type(error).__name__}: {error}")

    def _failure(self, error: str, *, timed_out: bool = False) -> Observation:
        assert self._last is not None
        return Observation(
            text="",
            renderer=self._last.renderer,
            error_kind=ErrorKind.ENVIRONMENT,
            error=error,
            timed_out=timed_out,
            ended=True,
        )

    @contextmanager
    def _redacted(self, observation: Observation) -> Iterator[Observation]:
        """The observation as it may be written, with the count of all that was redacted since the last one."""
        raw = None if observation.raw is None else self._redactor.events(observation.raw)
        try:
            yield replace(
                observation,
                text=self._redactor.observation(observation.text),
                error=None if observation.error is None else self._redactor.observation(observation.error),
                raw=observation.raw if raw is None else raw,
                redactions=self._redactor.take_counts(),
            )
        finally:
            if raw is not None:
                raw.close()

    def _header(self, started_at: datetime) -> Header:
        origin, facts = self._origin, self._sandbox.facts
        header = Header(
            trajectory_id=origin.trajectory_id,
            run=origin.run,
            domain=facts.domain,
            task_id=origin.task_id,
            task_sha256=origin.task_sha256,
            instruction=origin.instruction,
            prompt=facts.prompt,
            policy=origin.policy,
            seed=origin.seed,
            sandbox=facts.sandbox,
            started_at=started_at,
            tools=facts.tools,
            model=origin.model,
            attempt=origin.attempt,
            engine=facts.engine,
            image_digest=facts.image_digest,
            device_kind=facts.device_kind,
            versions=facts.versions,
            network=facts.network,
            licence=origin.licence,
            source=origin.source,
            split_group=origin.split_group,
            collector_version=version("worldtape"),
            host=f"{platform.system()} {platform.machine()}",
            recording_header=facts.recording_header,
        )
        prompt = {item.name: self._redactor.text(getattr(facts.prompt, item.name)) for item in fields(SystemPrompt)}
        redacted: dict[str, Any] = {
            item.name: self._redactor.json(getattr(header, item.name))
            for item in fields(Header)
            if item.name not in _NOT_REDACTED
        }
        return replace(header, prompt=SystemPrompt(**prompt), **redacted)
