"""A tool server that is kept up: called, ended after a time-out, and started again after an end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT

from sandboxes.engines.base import Container
from sandboxes.errors import SandboxError
from sandboxes.mcp.connection import JsonObject, McpConnection
from sandboxes.mcp.servers import McpServer
from trajectories import ErrorKind
from trajectories.renderers.mcp_text import is_failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a call: ``outcome`` is a tool result, or ``{"error": {"code", "message", "data"?}}``."""

    outcome: JsonObject
    error_kind: ErrorKind | None = None
    error: str | None = None
    """What is known beyond the outcome's own words."""
    timed_out: bool = False
    overlong: int | None = None
    """True size in bytes of an answer that was too large to take."""


def protocol_error(code: int, message: str) -> JsonObject:
    """The outcome of a call that no server answered, in the form that a server's own refusal has."""
    return {"error": {"code": code, "message": message}}


class SupervisedServer:
    """One of a sandbox's servers over all its runs.

    A call that takes too long ends the server, so that nothing goes on behind the next turn's back. An ended server
    is started again for its next call, at most ``max_restarts`` times.
    """

    def __init__(self, container: Container, server: McpServer, *, start_timeout_s: float, max_restarts: int) -> None:
        self._container = container
        self._server = server
        self._start_timeout_s = start_timeout_s
        self._starts_left = 1 + max_restarts
        self._connection: McpConnection | None = None
        self._declared: list[JsonObject] | None = None
        self._tools_changed = False

    @property
    def tools_changed(self) -> bool:
        """Whether its tools may be others by now than at its first start: it said so, or came up again with others."""
        return self._tools_changed or (self._connection is not None and self._connection.tools_changed)

    @property
    def name(self) -> str:
        return self._server.name

    @property
    def gone(self) -> bool:
        """It is down and is not started again."""
        return self._starts_left == 0 and (self._connection is None or self._connection.ended)

    async def connected(self) -> McpConnection:
        """The running server, started where it is down. Raises ``SandboxError`` where it cannot be had."""
        if self._connection is not None and not self._connection.ended:
            return self._connection
        await self.close()
        if self._starts_left == 0:
            raise SandboxError(f"the MCP server '{self.name}' has ended too often and is not started again")
        self._starts_left -= 1
        connection = await McpConnection.open(self._container, self._server, timeout_s=self._start_timeout_s)
        self._declared = connection.tools if self._declared is None else self._declared
        self._tools_changed = self._tools_changed or connection.tools != self._declared
        self._connection = connection
        return connection

    async def call(self, tool: str, arguments: Mapping[str, object], *, timeout_s: float) -> Answer:
        """Call a tool; whatever goes wrong is part of the answer."""
        try:
            connection = await self.connected()
            async with asyncio.timeout(timeout_s):
                outcome = await connection.call(tool, arguments)
        except TimeoutError:
            await self.close()
            return Answer(
                outcome=protocol_error(REQUEST_TIMEOUT, "Request timed out"),
                error_kind=ErrorKind.TOOL,
                error=f"'{tool}' gave no answer within {timeout_s:g} s",
                timed_out=True,
            )
        except SandboxError as failure:
            outcome = protocol_error(CONNECTION_CLOSED, "Connection closed")
            return Answer(outcome=outcome, error_kind=ErrorKind.ENVIRONMENT, error=str(failure))
        return _received(outcome, connection)

    async def close(self) -> None:
        """End the server and everything it started. Idempotent."""
        self._tools_changed = self.tools_changed
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


def _received(outcome: JsonObject, connection: McpConnection) -> Answer:
    if connection.malformed or connection.overlong is not None:
        return Answer(outcome=outcome, error_kind=ErrorKind.ENVIRONMENT, overlong=connection.overlong)
    return Answer(outcome=outcome, error_kind=ErrorKind.TOOL if is_failure(outcome) else None)
