"""ATIF 1.7, as Harbor's own model accepts it.

What ATIF has no field for goes under ``extra.worldtape``, so that an import gives the same turns again, under the same
licence, source and split group. Recordings, raw observations and screenshots are not exported, and are counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple, cast

from trajectories.dataset import Dataset
from trajectories.errors import InputError
from trajectories.exporters.stored import Row, StoredTrajectory, stored_trajectories
from trajectories.files import written_whole
from trajectories.importers.atif_kept import EXPORTED, KEPT_COLUMNS, KEPT_TURN_COLUMNS, PROMPT_PARTS
from trajectories.importers.base import NO_TIME
from trajectories.importers.terminus import COMPLETE_CALL, TERMINAL_CALL
from trajectories.importers.values import seconds
from trajectories.model import JsonValue, canonical_json

_VERSION: Final = "ATIF-v1.7"
_KEYS_CALLS: Final = (TERMINAL_CALL, COMPLETE_CALL)
"""Names that mean keys, not calls."""

_Json = dict[str, JsonValue]

_BLOBS: Final = {"recording_blob": "recording", "observation_blob": "raw observation", "screenshot_blob": "screenshot"}
"""Columns that name what the format has no place for, and what that is."""


class Exported(NamedTuple):
    """What an export came to."""

    num_trajectories: int
    no_place: Mapping[str, int]
    """How many of what the format has no place for stay behind, by kind."""


def export_atif(
    dataset: Dataset, folder: Path, *, run: str | None = None, revise: Callable[[_Json, str], JsonValue] | None = None
) -> Exported:
    """Write a file ``RUN/TRAJECTORY.json`` for every committed trajectory (of one run).

    Runs may have trajectories of one id: what was imported into both.

    Args:
        revise: makes of a document, and its domain, what is written in its place: one without secrets, for instance.

    A file of the same name is replaced. Raises ``InputError`` where the folder is a file, or lies in the data set's,
    and ``StorageError`` where the disk is full or fails; a file is whole or not there.
    """
    if folder.is_file():
        raise InputError("the files go into a folder, and this is a file", where=str(folder), mend="name a folder")
    dataset.trajectory_parts()  # that there is no data set is told first
    if dataset.contains(folder):
        raise InputError("the files would lie in the data set", where=str(folder), mend="name a folder outside of it")
    count, no_place = 0, Counter[str]()
    for trajectory in stored_trajectories(dataset, run=run):
        path = folder / _text(trajectory.row["run"]) / f"{trajectory.row['trajectory_id']}.json"
        with written_whole(path) as file:
            document = atif_document(trajectory)
            revised = document if revise is None else revise(document, _text(trajectory.row["domain"]))
            file.write(_encoded(revised))
        count += 1
        for row in (trajectory.row, *trajectory.turns):
            no_place.update(kind for column, kind in _BLOBS.items() if row.get(column) is not None)
    return Exported(count, dict(sorted(no_place.items())))


def _encoded(document: JsonValue) -> bytes:
    try:
        return json.dumps(document, ensure_ascii=False, indent=1).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
        return json.dumps(document, indent=1).encode()


def atif_document(trajectory: StoredTrajectory) -> _Json:
    """A trajectory as an ATIF document."""
    row = trajectory.row
    system = row["task_description"]
    steps: list[_Json] = [{"source": "system", "message": _text(system)}] if system else []
    steps.append({"source": "user", "message": _text(row["instruction"])})
    steps += [_step(turn) for turn in trajectory.turns]
    kept: _Json = {name: _plain(row[name]) for name in KEPT_COLUMNS if row[name]}
    kept["outcome"] = json.loads(_text(row["outcome_json"]))
    kept["versions"] = json.loads(_text(row["versions_json"]))
    kept["prompt"] = {name: _text(row[name]) for name in PROMPT_PARTS}
    return {
        "schema_version": _VERSION,
        "session_id": _text(row["run"]),
        "trajectory_id": _text(row["trajectory_id"]),
        "agent": _agent(row),
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "extra": {EXPORTED: kept},
    }


def _agent(row: Row) -> _Json:
    agent: _Json = {"name": _text(row["policy"]), "version": _text(row["collector_version"]) or "unknown"}
    if row["model"]:
        agent["model_name"] = _text(row["model"])
    if tools := json.loads(_text(row["tools_json"])):
        agent["tool_definitions"] = tools
    return agent


def _step(turn: Row) -> _Json:
    payload: JsonValue = json.loads(_text(turn["action_json"]))
    kept: _Json = {name: _plain(turn[name]) for name in KEPT_TURN_COLUMNS if turn[name] is not None}
    calls = _calls(payload, int(cast("int", turn["turn"]))) if turn["action"] == canonical_json(payload) else []
    result: _Json = {"content": _text(turn["observation"])}
    step: _Json = {"source": "agent", "message": ""}
    if calls:
        step["tool_calls"] = calls
        if len(calls) == 1:
            result["source_call_id"] = calls[0]["tool_call_id"]
    else:
        step["message"] = _text(turn["action"])
        kept |= {"action": _text(turn["action"]), "payload": payload}
    if turn["reasoning"]:
        step["reasoning_content"] = _text(turn["reasoning"])
    if turn["started_at"] != NO_TIME:
        step["timestamp"] = cast("datetime", turn["started_at"]).isoformat()
    return step | {"observation": {"results": [result]}, "extra": {EXPORTED: kept}}


def _calls(payload: JsonValue, turn: int) -> list[_Json]:
    """The action as tool calls; none where ATIF's cannot say it."""
    match payload:
        case {"name": str(name), "arguments": dict(arguments), **rest} if not rest and name not in _KEYS_CALLS:
            calls = [(name, cast("Mapping[str, JsonValue]", arguments))]
        case list(entries) if entries and all(_is_keys(entry) for entry in entries):
            calls = [(TERMINAL_CALL, entry) for entry in cast("list[Mapping[str, JsonValue]]", entries)]
        case _:
            return []
    return [
        {"tool_call_id": f"call-{turn}-{number}", "function_name": name, "arguments": arguments}
        for number, (name, arguments) in enumerate(calls, 1)
    ]


def _is_keys(entry: JsonValue) -> bool:
    if not isinstance(entry, Mapping) or list(entry) != ["keystrokes", "duration"]:
        return False
    return isinstance(entry["keystrokes"], str) and seconds(entry["duration"]) is not None


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _plain(value: object) -> JsonValue:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, str | int | float | bool | None) else str(value)
