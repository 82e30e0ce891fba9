"""What our own export keeps in ATIF's ``extra``, where ATIF has no field for it: read back, and believed as given.

A value that is not what its name says is left out, and noted as something that has no place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeVar

from trajectories.importers.base import Recorded
from trajectories.importers.contents import Content
from trajectories.importers.loss import LossReport, whole
from trajectories.importers.turn_list import answer
from trajectories.importers.values import Object, int32, plain, seconds
from trajectories.model import Action, ErrorKind, JsonValue, Observation, SystemPrompt

_T = TypeVar("_T")
_Kind = TypeVar("_Kind", bound=StrEnum)

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
    *("duration_s", "settle_s", "renderer", "exit_code", "timed_out", "truncated", "bytes_total", "error_kind"),
    *("error", "tree_status", "is_noop", "state_before", "state_after"),
)
"""Columns of a turn that are."""
KEPT_OF_STEP: Final = whole(*KEPT_TURN_COLUMNS, "action", "payload")
_INT64: Final = 2**63


class Kept:
    """The values under one ``extra.worldtape``, or in an object among them, each taken as what it must be.

    Args:
        holder: what has the object under ``name``.
        where: what the holder is called in the loss report.
    """

    def __init__(self, holder: Object, name: str, where: str, loss: LossReport) -> None:
        self._where, self._loss = f"{where}.{name}", loss
        found = holder.get(name)
        self.values: Object = found if isinstance(found, Mapping) else {}
        loss.drop(self._where, int(found is not None and not isinstance(found, Mapping)))

    @classmethod
    def of(cls, holder: Object, where: str, loss: LossReport) -> Kept:
        """What a trajectory or a step keeps; nothing where it is no export of ours."""
        return cls(holder, "extra", where, loss).inner(EXPORTED)

    def __bool__(self) -> bool:
        return bool(self.values)

    def inner(self, name: str) -> Kept:
        return Kept(self.values, name, self._where, self._loss)

    def text(self, name: str) -> str:
        """Empty where it is missing."""
        return self.taken(name, _text) or ""

    def truth(self, name: str) -> bool | None:
        return self.taken(name, _truth)

    def one_of(self, name: str, kinds: type[_Kind]) -> _Kind | None:
        named = {str(kind): kind for kind in kinds}
        return self.taken(name, lambda value: named.get(value) if isinstance(value, str) else None)

    def taken(self, name: str, take: Callable[[JsonValue], _T | None]) -> _T | None:
        """What ``take`` makes of a value: None where it is not what it must be."""
        value = self.values.get(name)
        if value is None:
            return None
        taken = take(value)
        self._loss.drop(f"{self._where}.{name}", int(taken is None))
        return taken


def kept_prompt(kept: Kept) -> SystemPrompt | None:
    """None where it is no export of ours."""
    prompt = kept.inner("prompt")
    return SystemPrompt(**{name: prompt.text(name) for name in PROMPT_PARTS}) if prompt else None


def kept_versions(kept: Kept) -> Mapping[str, str]:
    versions = kept.inner("versions")
    return {name: versions.text(name) for name in versions.values}


def kept_recording(kept: Kept) -> Recorded:
    """How it was recorded; the values of an import where the file does not say."""
    unknown = Recorded()
    return Recorded(
        task_sha256=kept.text("task_sha256"),
        seed=kept.taken("seed", _int64) or unknown.seed,
        attempt=kept.taken("attempt", _attempt) or unknown.attempt,
        engine=kept.text("engine") or None,
        image_digest=kept.text("image_digest") or None,
        device_kind=kept.text("device_kind") or None,
        network=kept.text("network") or unknown.network,
        collector_version=kept.text("collector_version"),
        host=kept.text("host"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTurn:
    """What a step keeps of a turn."""

    is_ours: bool
    tells_outcome: bool
    duration_s: float | None
    is_noop: bool | None
    state_before: str | None
    _action: Action | None
    """Where ATIF cannot say it."""
    _observed: Observation
    """But for its text."""
    _bytes_total: int | None

    @classmethod
    def of(cls, step: Object, loss: LossReport) -> KeptTurn:
        kept = Kept.of(step, "step", loss)
        said = kept.taken("action", lambda value: value if isinstance(value, str) else None)
        loss.drop(f"step.extra.{EXPORTED}.payload", int(said is None and kept.values.get("payload") is not None))
        observed = answer(
            "",
            exit_code=kept.taken("exit_code", int32),
            timed_out=kept.truth("timed_out") is True,
            truncated=kept.truth("truncated") is True,
            error_kind=kept.one_of("error_kind", ErrorKind),
            error=kept.text("error") or None,
            tree_status=kept.text("tree_status") or None,
        )
        return cls(
            is_ours=bool(kept),
            tells_outcome="truncated" in kept.values,
            duration_s=kept.taken("duration_s", seconds),
            is_noop=kept.truth("is_noop"),
            state_before=kept.text("state_before") or None,
            _action=None if said is None else Action(said, kept.values.get("payload")),
            _observed=replace(
                observed,
                renderer=kept.text("renderer") or observed.renderer,
                settle_s=kept.taken("settle_s", seconds) or 0.0,
                state=kept.text("state_after") or None,
            ),
            _bytes_total=kept.taken("bytes_total", _size),
        )

    def action(self, given: Action) -> Action:
        """The action as it was; ``given`` is what ATIF says of it."""
        return given if self._action is None else replace(self._action, reasoning=given.reasoning)

    def observation(self, told: Content) -> Observation:
        """The observation as it was. What was put out may be less than its text, which is what a screen showed."""
        size = answer(told.text).bytes_total if self._bytes_total is None else self._bytes_total
        is_cut = self._observed.truncated or told.is_cut
        return replace(self._observed, text=told.text, truncated=is_cut, bytes_total=size)


def _text(value: JsonValue) -> str | None:
    return plain(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def _truth(value: JsonValue) -> bool | None:
    return value if isinstance(value, bool) else None


def _attempt(value: JsonValue) -> int | None:
    found = int32(value)
    return found if found is not None and found > 0 else None


def _size(value: JsonValue) -> int | None:
    found = _int64(value)
    return found if found is not None and found >= 0 else None


def _int64(value: JsonValue) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -_INT64 <= value < _INT64 else None
