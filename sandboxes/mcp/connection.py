"""One run of one tool server: its process, the MCP session with it, and what it offers."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections.abc import Mapping
from typing import Any, TypeAlias

from mcp import ClientSession, MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.types import CONNECTION_CLOSED, Implementation, ListToolsResult

from sandboxes.engines.base import Container, PipeStream
from sandboxes.errors import SandboxError
from sandboxes.mcp.servers import McpServer
from sandboxes.mcp.wire import Wire

_CLIENT = Implementation(name="worldtape", version="1")
_EXIT_CODE_WAIT_S = 2.0
_LAST_LINE_CHARS = 300

_START_FAILURES = (TimeoutError, MCPError, RuntimeError, ValueError)
"""The last two are how a session refuses a version of the protocol, and an answer outside it."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object as the server sent it."""


class ConnectionLostError(SandboxError):
    """The server ended, or could not be written to any more, before it answered."""


class McpConnection:
    """A running server that has been initialised; made by ``open``.

    A task of its own holds the session's task group, so that ``open``, ``call`` and ``close`` may each come from any
    task, also from one that is being cancelled.
    """

    def __init__(self, server: McpServer, pipes: PipeStream) -> None:
        self._server = server
        self._pipes = pipes
        self._wire = Wire(pipes)
        # Calls go through the dispatcher: the session's typed calls drop what their models do not know.
        self._dispatcher = JSONRPCDispatcher(self._wire.inbox, self._wire.outbox)
        self._session = ClientSession(dispatcher=self._dispatcher, client_info=_CLIENT)
        self._entered = asyncio.Event()
        self._owner = asyncio.create_task(self._hold(), name=f"mcp server {server.name}")
        self._closing = False
        self.title = ""
        """What the server calls itself."""
        self.version = ""
        self.tools: list[JsonObject] = []
        """The server's own tool list, all pages of it, verbatim."""

    @classmethod
    async def open(cls, container: Container, server: McpServer, *, timeout_s: float) -> McpConnection:
        """Start a server, initialise it and list its tools.

        Raises ``SandboxError`` with the server's last words where that fails or takes longer than ``timeout_s``;
        nothing is left running then.
        """
        connection = cls(server, await container.open_pipes(server.command, cwd="/workspace", env=server.env))
        try:
            async with asyncio.timeout(timeout_s):
                await connection._greet()
        except _START_FAILURES as error:
            failure = await connection._failure(error, timeout_s)
            await connection.close()
            raise failure from error
        except BaseException:
            await connection.close()
            raise
        return connection

    @property
    def ended(self) -> bool:
        """No answer can come any more."""
        return self._wire.ended

    @property
    def overlong(self) -> int | None:
        """Size in bytes of the answer to the last call, where it was too large to take."""
        return self._wire.overlong

    @property
    def malformed(self) -> bool:
        """Whether the answer to the last call was none that the protocol knows."""
        return self._wire.malformed

    @property
    def tools_changed(self) -> bool:
        """Whether the server has said since that ``tools`` are not its tools any more."""
        return self._wire.tools_changed

    async def call(self, tool: str, arguments: Mapping[str, object]) -> JsonObject:
        """The server's answer, as it sent it: a tool result, or ``{"error": {"code", "message", "data"?}}``.

        Raises ``ConnectionLostError`` where the server is gone before it has answered.
        """
        self._wire.overlong, self._wire.malformed = None, False
        try:
            return await self._dispatcher.send_raw_request("tools/call", {"name": tool, "arguments": dict(arguments)})
        except MCPError as error:
            if error.code == CONNECTION_CLOSED and self.ended:
                raise ConnectionLostError(f"the MCP server '{self._server.name}' {await self._last_words()}") from error
            return {"error": error.error.model_dump(exclude_none=True)}

    async def close(self) -> None:
        """End the server and everything it started. Idempotent."""
        if not self._closing:
            self._closing = True
            self._owner.cancel()
        await asyncio.wait([self._owner])

    async def _hold(self) -> None:
        try:
            async with self._wire.carried(), self._session:
                self._entered.set()
                await asyncio.Event().wait()  # until close cancels this task
        finally:
            await self._pipes.close()

    async def _greet(self) -> None:
        await self._entered.wait()
        result = await self._session.initialize()
        self.title, self.version = result.server_info.name, result.server_info.version
        cursor: str | None = None
        while True:
            page = await self._dispatcher.send_raw_request("tools/list", {"cursor": cursor} if cursor else None)
            cursor = ListToolsResult.model_validate(page, by_name=False).next_cursor
            self.tools += page["tools"]
            if not cursor:
                self._wire.tools_changed = False  # what it said before is in the list already
                return

    async def _failure(self, error: Exception, timeout_s: float) -> SandboxError:
        if self.ended:
            reason = f"{await self._last_words()} before it was initialised"
        elif isinstance(error, TimeoutError):
            reason = f"does not answer initialize and tools/list within {timeout_s:g} s{self._murmur()}"
        elif isinstance(error, MCPError) and self.malformed:
            reason = f"answers outside the protocol: {error.error.message}"
        elif isinstance(error, MCPError):
            reason = f"refuses to start: {error.error.message}"
        else:
            reason = f"answers outside the protocol: {str(error).splitlines()[0]}"
        return SandboxError(
            f"the MCP server '{self._server.name}' {reason}",
            where=shlex.join(self._server.command),
            mend="check its command and env",
        )

    async def _last_words(self) -> str:
        code: int | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_CODE_WAIT_S):
                code = await self._pipes.exit_code()
        ended = "ended" if code is None else f"ended with exit code {code}"
        return f"{ended}{self._murmur()}"

    def _murmur(self) -> str:
        """What the server said last beside the protocol."""
        lines = self._pipes.stderr_tail.decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "") or self._wire.noise
        return f" ({last[:_LAST_LINE_CHARS]})" if last else ""
