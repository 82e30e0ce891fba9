"""From the vocabulary to rows of the store: what the journal keeps and Parquet holds in the end."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from trajectories.model import Ending, Header, JsonValue, Observation, Turn, canonical_json
from trajectories.schemas import SCHEMA_VERSION

Row: TypeAlias = "dict[str, str | int | float | bool | None]"
"""Column name → value; instants are microseconds since 1970 UTC, as in the Arrow schema."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def start_row(header: Header, initial: Observation) -> Row:
    """What a trajectory's row says from the start. Where the prompt names no initial state, what was visible is it."""
    prompt = header.prompt
    return _storable(
        {
            "trajectory_id": header.trajectory_id,
            "schema_version": SCHEMA_VERSION,
            "task_id": header.task_id,
            "task_sha256": header.task_sha256,
            "attempt": header.attempt,
            "instruction": header.instruction,
            "task_description": prompt.task_description,
            "action_space": prompt.action_space,
            "initial_state": prompt.initial_state or initial.text,
            "demonstrations": prompt.demonstrations,
            "simulation_instruction": prompt.simulation_instruction,
            "tools_json": _json(header.tools),
            "policy": header.policy,
            "model": header.model,
            "seed": header.seed,
            "sandbox": header.sandbox,
            "engine": header.engine,
            "image_digest": header.image_digest,
            "device_kind": header.device_kind,
            "versions_json": _json(header.versions),
            "network": header.network,
            "licence": header.licence,
            "source": header.source,
            "source_format": header.source_format,
            "loss_report_json": _json(header.loss_report),
            "split_group": header.split_group,
            "started_at": microseconds(header.started_at),
            "collector_version": header.collector_version,
            "host": header.host,
        }
    )


def turn_row(trajectory_id: str, turn: Turn, events_blob: str | None) -> Row:
    """A turn's row."""
    action, observation = turn.action, turn.observation
    return _storable(
        {
            "trajectory_id": trajectory_id,
            "turn": turn.number,
            "action": action.text,
            "action_json": _json(action.payload),
            "reasoning": action.reasoning,
            "observation": observation.text,
            "renderer": observation.renderer,
            "observation_blob": events_blob,
            "started_at": microseconds(turn.started_at),
            "duration_s": turn.duration_s,
            "settle_s": observation.settle_s,
            "exit_code": observation.exit_code,
            "timed_out": observation.timed_out,
            "truncated": observation.truncated,
            "bytes_total": observation.bytes_total,
            "error_kind": observation.error_kind,
            "error": observation.error,
            "tree_status": observation.tree_status,
            "is_noop": turn.is_noop,
            "state_before": turn.state_before,
            "state_after": observation.state,
        }
    )


def end_row(ending: Ending) -> Row:
    """What only the end of a trajectory tells."""
    return _storable(
        {
            "ended_at": microseconds(ending.ended_at),
            "status": ending.status,
            "outcome_json": _json(ending.outcome),
            "error": ending.error,
        }
    )


def microseconds(instant: datetime) -> int:
    """Microseconds since 1970 UTC."""
    assert instant.tzinfo is not None, "instants carry their time zone"
    return (instant - _EPOCH) // timedelta(microseconds=1)


def end_of(row: Row) -> datetime:
    """When a turn was over, or where the row is a trajectory's, when it began."""
    start, duration = row["started_at"], row.get("duration_s") or 0.0
    assert isinstance(start, int)
    assert isinstance(duration, int | float)
    return _EPOCH + timedelta(microseconds=start, seconds=duration)


def _json(value: JsonValue) -> str:
    """Canonical JSON in which a lone surrogate, which UTF-8 cannot hold, is an escape."""
    return _SURROGATE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", canonical_json(value))


def _storable(row: Row) -> Row:
    """Plain values that Parquet takes: enum members become strings, lone surrogates U+FFFD."""
    return {
        name: _SURROGATE.sub("\ufffd", str(value)) if isinstance(value, str) else value for name, value in row.items()
    }
