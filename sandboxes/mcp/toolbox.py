"""The tools of several servers under one set of names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mcp.types import INVALID_PARAMS

from sandboxes.errors import SandboxError
from sandboxes.mcp.calls import CallRefusedError
from sandboxes.mcp.connection import JsonObject
from sandboxes.mcp.supervised import SupervisedServer


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the agent sees it (``definition``), and where a call of it goes."""

    server: SupervisedServer
    name: str
    """The server's own name of it."""
    definition: JsonObject


class Toolbox:
    """Every tool by the name the agent calls it: its own, or ``server__tool`` where two servers have one of a name."""

    def __init__(self, listings: Sequence[tuple[SupervisedServer, Sequence[JsonObject]]]) -> None:
        names = Counter(tool["name"] for _, tools in listings for tool in tools)
        self._tools: dict[str, Tool] = {}
        for server, tools in listings:
            for definition in tools:
                own_name: str = definition["name"]
                shown = f"{server.name}__{own_name}" if names[own_name] > 1 else own_name
                if shown in self._tools:
                    raise SandboxError(f"the MCP server '{server.name}' lists the tool '{shown}' twice")
                self._tools[shown] = Tool(server, own_name, {**definition, "name": shown})

    @property
    def definitions(self) -> Sequence[JsonObject]:
        """The servers' own definitions, verbatim but for a name that had to change."""
        return [tool.definition for tool in self._tools.values()]

    def names_of(self, server: str) -> Sequence[str]:
        """The names of a server's tools, in the server's order."""
        return [name for name, tool in self._tools.items() if tool.server.name == server]

    def find(self, name: str) -> Tool:
        """Raises ``CallRefusedError`` where there is no such tool."""
        if tool := self._tools.get(name):
            return tool
        raise CallRefusedError(INVALID_PARAMS, f"Unknown tool: {name}")
