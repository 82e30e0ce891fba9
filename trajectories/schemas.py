"""The Arrow schemas of the store, explicit and versioned; golden files in the tests pin them.

A change of a schema raises ``SCHEMA_VERSION`` and teaches the reader every older version.
"""

import pyarrow as pa

SCHEMA_VERSION = 1

_TIME = pa.timestamp("us", tz="UTC")


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


def _versioned(fields: list[pa.Field]) -> pa.Schema:
    return pa.schema(fields, metadata={b"schema_version": str(SCHEMA_VERSION).encode()})


TURNS = _versioned(
    [
        _required("trajectory_id", pa.string()),
        _required("turn", pa.int32()),
        _required("action", pa.string()),
        _required("action_json", pa.string()),
        pa.field("reasoning", pa.string()),
        _required("observation", pa.string()),
        _required("renderer", pa.string()),
        pa.field("observation_blob", pa.string()),
        pa.field("screenshot_blob", pa.string()),
        _required("started_at", _TIME),
        _required("duration_s", pa.float64()),
        _required("settle_s", pa.float64()),
        pa.field("exit_code", pa.int32()),
        _required("timed_out", pa.bool_()),
        _required("truncated", pa.bool_()),
        _required("bytes_total", pa.int64()),
        pa.field("error_kind", pa.string()),
        pa.field("error", pa.string()),
        pa.field("tree_status", pa.string()),
        pa.field("is_noop", pa.bool_()),
        pa.field("state_before", pa.string()),
        pa.field("state_after", pa.string()),
    ]
)
"""A row a turn, in order, trajectories whole. ``domain`` and ``run`` are hive keys of the path.

``observation_blob`` names the turn's raw events (a line each, as in ``trajectories.recording``) where the text was
truncated or they are large; the session's recording (the trajectory's ``recording_blob``) holds them in any case.
"""

TRAJECTORIES = _versioned(
    [
        _required("trajectory_id", pa.string()),
        _required("schema_version", pa.int32()),
        _required("task_id", pa.string()),
        _required("task_sha256", pa.string()),
        _required("attempt", pa.int32()),
        _required("instruction", pa.string()),
        _required("task_description", pa.string()),
        _required("action_space", pa.string()),
        _required("initial_state", pa.string()),
        _required("demonstrations", pa.string()),
        _required("simulation_instruction", pa.string()),
        _required("tools_json", pa.string()),
        _required("policy", pa.string()),
        pa.field("model", pa.string()),
        _required("seed", pa.int64()),
        _required("sandbox", pa.string()),
        pa.field("engine", pa.string()),
        pa.field("image_digest", pa.string()),
        pa.field("device_kind", pa.string()),
        _required("versions_json", pa.string()),
        _required("network", pa.string()),
        _required("licence", pa.string()),
        _required("source", pa.string()),
        _required("source_format", pa.string()),
        _required("loss_report_json", pa.string()),
        _required("split_group", pa.string()),
        _required("started_at", _TIME),
        _required("ended_at", _TIME),
        _required("status", pa.string()),
        _required("num_turns", pa.int32()),
        _required("outcome_json", pa.string()),
        pa.field("error", pa.string()),
        pa.field("recording_blob", pa.string()),
        _required("redactions_json", pa.string()),
        _required("collector_version", pa.string()),
        _required("host", pa.string()),
    ]
)
"""A row a trajectory. ``domain`` and ``run`` are hive keys of the path."""


def is_stored_as(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a column that has one type may stand for one of another: text may be long, and times be in any zone."""
    if pa.types.is_timestamp(wanted):
        return pa.types.is_timestamp(found) and found.tz is not None and found.unit == wanted.unit
    return found == wanted or (wanted == pa.string() and found in (pa.large_string(), pa.string_view()))


CONTEXT_COLUMNS = (
    "instruction",
    "task_description",
    "action_space",
    "initial_state",
    "demonstrations",
    "simulation_instruction",
)
"""The texts of a trajectory's row: what is said before its first turn."""
