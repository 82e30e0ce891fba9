"""What a world model is told about an MCP sandbox before the first action."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from sandboxes.engines.base import Container
from sandboxes.mcp.connection import McpConnection
from sandboxes.mcp.toolbox import Toolbox
from trajectories import SystemPrompt, canonical_json

_TASK_DESCRIPTION = (
    "The environment is a set of tool servers that speak the Model Context Protocol (MCP). They run in one isolated "
    "Linux container without a network and share the folder /workspace. Each action calls one tool; the observation "
    "is what the tool answers, errors included."
)
_ACTION_SPACE = 'An action is one JSON object, {"name": tool, "arguments": {…}}. The tools, one a line, with schemas:'
_SHOWN_KEYS = ("name", "description", "inputSchema")
_LISTED_ENTRIES = 200
_FIND = (
    "find",
    ".",
    "-mindepth",
    "1",
    "-path",
    "*/.git/*",
    "-prune",
    "-o",
    "-mindepth",
    "1",
    "-printf",
    r"%y\t%s\t%P\0",
)


def system_prompt(toolbox: Toolbox, servers: Mapping[str, McpConnection], listing: Sequence[str]) -> SystemPrompt:
    """The parts of the context that the sandbox itself knows."""
    shown = [canonical_json({key: tool[key] for key in _SHOWN_KEYS if key in tool}) for tool in toolbox.definitions]
    state = ["Servers:"]
    for name, server in servers.items():
        state.append(f"- {name} ({server.title} {server.version}): {', '.join(toolbox.names_of(name))}")
    state += ["", "Files in /workspace:", *(listing or ["(none)"])]
    return SystemPrompt(
        task_description=_TASK_DESCRIPTION,
        action_space="\n".join([_ACTION_SPACE, *shown]),
        initial_state="\n".join(state),
    )


async def list_workspace(container: Container) -> list[str]:
    """A line a file or folder, sorted: ``path/`` or ``path (size bytes)``; inside a ``.git`` nothing is listed."""
    result = await container.exec(_FIND, cwd="/workspace")
    complete = result.stdout.decode(errors="replace").split("\0")[:-1]
    entries = sorted(entry.split("\t", 2)[::-1] for entry in complete)
    lines = [_listed(*entry) for entry in entries[:_LISTED_ENTRIES]]
    if len(entries) > _LISTED_ENTRIES:
        lines.append(f"({len(entries) - _LISTED_ENTRIES} more)")
    return lines


def _listed(path: str, size: str, kind: str) -> str:
    name = path if path.isprintable() else json.dumps(path)
    return f"{name}/" if kind == "d" else f"{name} ({size} bytes)"
