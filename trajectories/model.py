"""The vocabulary: what an action, an observation, a turn and a trajectory are, whoever made them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, TypeAlias

from trajectories.recording import EventSpool

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


DOMAINS: Final = ("terminal", "search", "mcp", "swe", "web", "android", "os")
"""The kinds of environment. What is under another name is no environment, such as a collection of texts."""
GUI_DOMAINS: Final = frozenset({"web", "android", "os"})
"""Those in which what is observed is what is visible: the same text twice is the same state."""
FIRST_TIME: Final = datetime(1971, 1, 1, tzinfo=UTC)
"""Earlier ones tell none: where a source has no time, or only the seconds since it began, it is 1970."""


class Status(StrEnum):
    """How a trajectory ended."""

    COMPLETED = "completed"
    """The policy had nothing more to do."""
    MAX_TURNS = "max_turns"
    """The turn budget ended it."""
    FAILED = "failed"
    """The sandbox died or the environment failed; ``error`` of the last turn says why."""
    INTERRUPTED = "interrupted"
    """The collector was stopped or killed; a later start closed it."""


class ErrorKind(StrEnum):
    """Whose fault an unsuccessful turn is; the turn itself is data all the same."""

    AGENT = "agent"
    """The action could not be carried out as given (malformed, unknown tool, wrong arguments)."""
    TOOL = "tool"
    """The environment carried it out and answered with an error of its own."""
    ENVIRONMENT = "environment"
    """The sandbox failed or died."""


def canonical_json(value: JsonValue) -> str:
    """The one textual form of a JSON value: key order kept, ``", "`` and ``": "`` as separators, Unicode unescaped."""
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Action:
    """What an agent asked for.

    ``text`` is the canonical text a world model reads; ``payload`` is the same as JSON.
    ``reasoning`` is what the agent said beside it: kept aside, never part of ``text``.
    """

    text: str
    payload: JsonValue
    reasoning: str | None = None

    @classmethod
    def of(cls, payload: JsonValue, *, reasoning: str | None = None) -> Action:
        """An action whose text is its payload's canonical JSON (terminal, mcp, search, swe)."""
        return cls(canonical_json(payload), payload, reasoning)

    @classmethod
    def keys(cls, *keystrokes: tuple[str, float]) -> Action:
        """A terminal action: ``(keystrokes, seconds to wait)`` pairs; none at all says the task is complete."""
        return cls.of([{"keystrokes": text, "duration": seconds} for text, seconds in keystrokes])

    @classmethod
    def call(cls, name: str, arguments: Mapping[str, JsonValue]) -> Action:
        """A tool call (mcp, search, swe)."""
        return cls.of({"name": name, "arguments": arguments})


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What the environment answered: ``raw`` first, ``text`` as a rendering of it by ``renderer``.

    ``bytes_total`` is the true size in bytes of what the environment put out in this turn, also where
    ``truncated`` says that less was kept. ``state`` is a hash of the visible state afterwards, where the domain has
    one.
    """

    text: str
    renderer: str
    raw: EventSpool | None = None
    exit_code: int | None = None
    timed_out: bool = False
    truncated: bool = False
    bytes_total: int = 0
    error_kind: ErrorKind | None = None
    error: str | None = None
    tree_status: str | None = None
    state: str | None = None
    settle_s: float = 0.0
    """Seconds from the action to the last change seen."""
    redactions: Mapping[str, int] = field(default_factory=dict)
    """How often a placeholder took the place of each secret (by its name) in this turn's action and observation."""
    outcome: Mapping[str, JsonValue] = field(default_factory=dict)
    """What the environment has told so far about the trajectory as a whole; it becomes part of its outcome."""
    ended: bool = False
    """The sandbox cannot take another action (it died, or the shell was left)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPrompt:
    """The five parts of a world model's context c; empty parts are left out when it is laid out."""

    task_description: str = ""
    action_space: str = ""
    initial_state: str = ""
    demonstrations: str = ""
    simulation_instruction: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A trajectory's row before its end is known: everything that holds from the first turn to the last."""

    trajectory_id: str
    run: str
    domain: str
    task_id: str
    task_sha256: str
    instruction: str
    prompt: SystemPrompt
    policy: str
    seed: int
    sandbox: str
    started_at: datetime
    tools: Sequence[Mapping[str, JsonValue]] = ()
    model: str | None = None
    attempt: int = 1
    """1, or one more for each earlier attempt at the same episode that was interrupted."""
    engine: str | None = None
    image_digest: str | None = None
    device_kind: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    network: str = "none"
    licence: str = ""
    source: str = ""
    source_format: str = "worldtape"
    loss_report: Mapping[str, JsonValue] = field(default_factory=dict)
    split_group: str = ""
    collector_version: str = ""
    host: str = ""
    recording_header: Mapping[str, JsonValue] = field(default_factory=dict)
    """First line of the session's recording (asciicast v2 header for a terminal)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One action and the observation that followed it. Turn 1 is the first action."""

    number: int
    action: Action
    observation: Observation
    started_at: datetime
    duration_s: float
    state_before: str | None = None
    is_noop: bool | None = None
    """True where the visible state is the same before and after; None where the domain has no such state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a trajectory ended and what came of it."""

    status: Status
    ended_at: datetime
    outcome: Mapping[str, JsonValue] = field(default_factory=dict)
    error: str | None = None
