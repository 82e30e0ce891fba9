"""Calls of tools that a trajectory does not declare."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.reasons import Booleans
from trajectories.model import JsonValue
from trajectories.part_files import open_part, reading_part

COLUMNS: Final = ("trajectory_id", "action_json")

ToolNames = Mapping[str, frozenset[str]]
"""Trajectory → the names of the tools that it declares."""

_CALL: Final = r'^\{"name": "(?P<name>[A-Za-z0-9_.:/ -]+)"'
"""The beginning of a call in canonical JSON; the rare others are parsed."""
_BETWEEN: Final = "\0"
"""Between a trajectory and a name: in neither."""


def declared_tools(trajectories: Path) -> dict[str, frozenset[str]]:
    """The tools of each trajectory of a trajectories part that declares any.

    Raises:
        DamagedFileError: the part cannot be read.
    """
    declared: dict[str, frozenset[str]] = {}
    with reading_part(trajectories), open_part(trajectories, read_dictionary=["tools_json"]) as part:
        for batch in part.iter_batches(columns=["trajectory_id", "tools_json"]):
            tools = batch["tools_json"]
            names = [_tool_names(text) for text in tools.dictionary.to_pylist()]
            places = tools.indices.to_pylist()
            declared |= zip(batch["trajectory_id"].to_pylist(), (names[place] for place in places), strict=True)
    return {trajectory_id: names for trajectory_id, names in declared.items() if names}


def call_undeclared(turns: pa.Table, declared: ToolNames) -> Booleans:
    """Which turns of a table with `COLUMNS` call a tool that their trajectory does not declare, though it does some."""
    ids, actions = turns["trajectory_id"], turns["action_json"]
    names = pc.struct_field(pc.extract_regex(actions, _CALL), "name")
    pairs = pc.binary_join_element_wise(ids, names, _BETWEEN).combine_chunks().dictionary_encode()
    undeclared = [_lacks(declared, *pair.split(_BETWEEN, 1)) for pair in pairs.dictionary.to_pylist()]
    known = pa.array(undeclared, pa.bool_()).take(pairs.indices)
    found: Booleans = pc.fill_null(known, False).to_numpy(zero_copy_only=False)
    others = pc.and_kleene(pc.is_null(names), pc.match_substring(actions, '"name":'))
    for place in np.flatnonzero(pc.fill_null(others, False).to_numpy()).tolist():
        called = _called(actions[place].cast(pa.binary()).as_py())
        found[place] = any(_lacks(declared, ids[place].as_py(), name) for name in called)
    return found


def _lacks(declared: ToolNames, trajectory_id: str, name: str) -> bool:
    tools = declared.get(trajectory_id)
    return tools is not None and name not in tools


def _called(action_json: bytes) -> Iterator[str]:
    """The names in a call, or in a list of calls; none in what is neither."""
    action = _parsed(action_json)
    for call in action if isinstance(action, list) else [action]:
        name = call.get("name") if isinstance(call, Mapping) else None
        if isinstance(name, str):
            yield name


def _tool_names(tools_json: str) -> frozenset[str]:
    """The names of declared tools, MCP's or OpenAI's form of a declaration."""
    tools = _parsed(tools_json)
    found = set()
    for tool in tools if isinstance(tools, list) else []:
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        name = inner.get("name") if isinstance(inner, Mapping) else None
        if isinstance(name, str):
            found.add(name)
    return frozenset(found)


def _parsed(text: str | bytes) -> JsonValue:
    """The JSON value; None for what is none, or no UTF-8, or nested too deep."""
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
