"""What our own export keeps in ATIF's ``extra``, where ATIF has no field for it: read back, and believed as given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from trajectories.importers.base import Recorded, answer
from trajectories.importers.loss import whole
from trajectories.importers.values import Object, int32, plain, sub
from trajectories.model import Action, ErrorKind, JsonValue, Observation, Status, SystemPrompt

EXPORTED: Final = "worldtape"
"""The key of ``extra`` under which it lies, in the trajectory and in its steps."""
PROMPT_PARTS: Final = (
    "task_description",
    "action_space",
    "initial_state",
    "demonstrations",
    "simulation_instruction",
)
KEPT_COLUMNS: Final = (
    *("domain", "sandbox", "status", "error", "licence", "source", "source_format", "split_group"),
    *("task_id", "task_sha256", "seed", "attempt", "engine", "image_digest", "device_kind", "network"),
    *("started_at", "ended_at", "collector_version", "host"),
)
"""Columns of a trajectory that are kept as they are."""
KEPT_OF_TRAJECTORY: Final = whole(*KEPT_COLUMNS, "outcome", "versions", prompt=whole(*PROMPT_PARTS))
KEPT_TURN_COLUMNS: Final = (
    *("duration_s", "renderer", "exit_code", "timed_out", "truncated", "bytes_total", "error_kind", "error"),
    *("tree_status", "is_noop"),
)
"""Columns of a turn that are."""
KEPT_OF_STEP: Final = whole(*KEPT_TURN_COLUMNS, "action", "payload")
_INT64: Final = 2**63


def kept_status(kept: Object) -> Status:
    named = plain(kept.get("status"))
    return Status(named) if named in set(Status) else Status.COMPLETED


def kept_prompt(kept: Object) -> SystemPrompt | None:
    """None where it is no export of ours."""
    parts: dict[str, JsonValue] = dict(sub(kept, "prompt"))
    return SystemPrompt(**{name: plain(parts.get(name)) for name in PROMPT_PARTS}) if parts else None


def kept_versions(kept: Object) -> Mapping[str, str]:
    return {name: plain(version) for name, version in sub(kept, "versions").items()}


def kept_recording(kept: Object) -> Recorded:
    """How it was recorded; the values of an import where the file does not say."""
    unknown = Recorded()
    return Recorded(
        task_sha256=plain(kept.get("task_sha256")),
        seed=_int64(kept.get("seed")) or unknown.seed,
        attempt=int32(kept.get("attempt")) or unknown.attempt,
        engine=plain(kept.get("engine")) or None,
        image_digest=plain(kept.get("image_digest")) or None,
        device_kind=plain(kept.get("device_kind")) or None,
        network=plain(kept.get("network")) or unknown.network,
        collector_version=plain(kept.get("collector_version")),
        host=plain(kept.get("host")),
    )


def kept_action(action: Action, kept: Object) -> Action:
    """The action as it was, where ATIF cannot say it."""
    text = kept.get("action")
    return Action(text, kept.get("payload"), action.reasoning) if isinstance(text, str) else action


def kept_observation(text: str, kept: Object) -> Observation:
    kind = plain(kept.get("error_kind"))
    observation = answer(
        text,
        exit_code=int32(kept.get("exit_code")),
        timed_out=kept.get("timed_out") is True,
        truncated=kept.get("truncated") is True,
        error_kind=ErrorKind(kind) if kind in set(ErrorKind) else None,
        error=plain(kept.get("error")) or None,
        tree_status=plain(kept.get("tree_status")) or None,
    )
    size = _int64(kept.get("bytes_total"))
    return replace(
        observation,
        renderer=plain(kept.get("renderer")) or observation.renderer,
        bytes_total=max(size or 0, observation.bytes_total),
    )


def kept_noop(kept: Object) -> bool | None:
    found = kept.get("is_noop")
    return found if isinstance(found, bool) else None


def _int64(value: JsonValue) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_INT64 <= value < _INT64 else None
