"""The MCP sandbox: tool servers in one isolated container, one tool call an action."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sandboxes.base import SandboxFacts
from sandboxes.engines.base import Container, ContainerSpec, Engine, Limits
from sandboxes.errors import SandboxDiedError
from sandboxes.mcp.calls import CallRefusedError, ToolCall
from sandboxes.mcp.connection import McpConnection
from sandboxes.mcp.context import list_workspace, system_prompt
from sandboxes.mcp.servers import KNOWN_SERVERS, ServerChoice, choose_servers
from sandboxes.mcp.supervised import Answer, SupervisedServer, protocol_error
from sandboxes.mcp.toolbox import Toolbox
from sandboxes.preparation import prepare
from trajectories import Action, ErrorKind, EventSpool, JsonValue, Observation, RawEvent, canonical_json
from trajectories.renderers.mcp_text import RENDERER, cut, render

SANDBOX = "mcp@1"

_ERROR_CHARS = 300


class McpSandbox:
    """Tool servers that speak MCP, over one ``/workspace``.

    An action is ``{"name", "arguments"}``; the observation's text is the tool's own (``mcp-text@1``), and its raw
    events are the call (``i``) and the whole answer (``o``) as JSON. Arguments against a tool's schema are sent all the
    same: what the server says to them is the observation.

    ``ErrorKind.AGENT`` means a malformed action or an unknown tool; ``TOOL`` that the server answered with an error, or
    within ``call_timeout_s`` not at all (``timed_out``); ``ENVIRONMENT`` that the server or the container was lost, or
    that an answer was too large to take, or malformed (the error's ``data`` is then what came). A lost server is
    started again for its next call. ``ended`` is true once the container or every server is gone for good.

    The tools of a trajectory are those that the servers list at its start: a world model is told of no others. Where a
    server says later that its list has changed (``tools/list_changed``), or comes up again with another one, the turn's
    raw events hold a marker, and the trajectory's outcome names the server under ``tools_changed``.

    Args:
        engine: where the container is had from.
        files: relative path → content, put into ``/workspace`` first.
        servers: known servers by name (``KNOWN_SERVERS``), or servers of one's own.
        setup: shell commands run in ``/workspace`` before the servers start, after what the servers themselves need.
        start_timeout_s: how long a server may take to be initialised and to list its tools.
        call_timeout_s: how long a call may take; then it is recorded as timed out and its server is started anew.
        text_cap: bytes of an observation's text that are kept; the raw events keep the whole answer.
        max_restarts: how often each server is started again.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        files: Mapping[str, bytes] | None = None,
        servers: Sequence[ServerChoice] = tuple(KNOWN_SERVERS),
        setup: Sequence[str] = (),
        image: str = "mcp",
        limits: Limits | None = None,
        start_timeout_s: float = 60.0,
        call_timeout_s: float = 30.0,
        text_cap: int = 2**20,
        max_restarts: int = 3,
    ) -> None:
        self._engine = engine
        self._files = files or {}
        self._servers = choose_servers(servers)
        self._setup = setup
        self._spec = ContainerSpec(image=image, limits=limits or Limits())
        self._start_timeout_s = start_timeout_s
        self._call_timeout_s = call_timeout_s
        self._text_cap = text_cap
        self._max_restarts = max_restarts
        self._container: Container | None = None
        self._running: list[SupervisedServer] = []
        self._toolbox = Toolbox([])
        self._facts: SandboxFacts | None = None
        self._num_oom_kills = 0
        self._changed: list[str] = []
        self._spool = EventSpool()
        self._began = time.monotonic()

    @property
    def facts(self) -> SandboxFacts:
        assert self._facts is not None, "the sandbox has not been started"
        return self._facts

    async def start(self) -> Observation:
        assert self._container is None, "a sandbox is started once"
        self._began = time.monotonic()
        try:
            self._container = await self._engine.create(self._spec)
            needs = [command for server in self._servers for command in server.setup]
            await prepare(self._container, self._files, (*needs, *self._setup))
            connections = await self._start_servers(self._container)
            self._facts = self._describe(self._container, connections, await list_workspace(self._container))
        except BaseException:
            await self.close()
            raise
        text = self._facts.prompt.initial_state
        return self._observation(Answer(outcome={"content": [{"type": "text", "text": text}]}))

    async def step(self, action: Action) -> Observation:
        assert self._container is not None, "the sandbox has not been started"
        self._spool.close()
        self._spool = EventSpool()
        try:
            call = ToolCall.parse(action.payload)
            tool = self._toolbox.find(call.name)
        except CallRefusedError as refusal:
            outcome = protocol_error(refusal.code, refusal.what)
            return self._observation(Answer(outcome=outcome, error_kind=ErrorKind.AGENT))
        self._record("i", {"server": tool.server.name, "name": tool.name, "arguments": call.arguments})
        began = time.monotonic()
        answer = await tool.server.call(tool.name, call.arguments, timeout_s=self._call_timeout_s)
        settle_s = time.monotonic() - began
        if answer.error_kind is not ErrorKind.ENVIRONMENT:
            return self._observation(answer, settle_s=settle_s)
        cause, is_over = await self._aftermath(self._container)
        return self._observation(replace(answer, error=cause or answer.error), settle_s=settle_s, ended=is_over)

    async def alive(self) -> bool:
        assert self._container is not None, "the sandbox has not been started"
        return await self._container.alive() and not all(server.gone for server in self._running)

    async def close(self) -> None:
        try:
            if self._container is not None:
                await self._container.close()
        finally:
            await asyncio.gather(*(server.close() for server in self._running))
            self._spool.close()

    async def _start_servers(self, container: Container) -> dict[str, McpConnection]:
        self._running = [
            SupervisedServer(container, server, start_timeout_s=self._start_timeout_s, max_restarts=self._max_restarts)
            for server in self._servers
        ]
        started = await asyncio.gather(*(server.connected() for server in self._running), return_exceptions=True)
        connections = [_value_or_raised(outcome) for outcome in started]
        self._toolbox = Toolbox(
            [(server, connection.tools) for server, connection in zip(self._running, connections, strict=True)]
        )
        return {server.name: connection for server, connection in zip(self._running, connections, strict=True)}

    def _describe(
        self, container: Container, connections: Mapping[str, McpConnection], listing: Sequence[str]
    ) -> SandboxFacts:
        return SandboxFacts(
            domain="mcp",
            sandbox=SANDBOX,
            engine=self._engine.name,
            image_digest=container.image_digest,
            prompt=system_prompt(self._toolbox, connections, listing),
            tools=self._toolbox.definitions,
            versions={name: f"{connection.title} {connection.version}" for name, connection in connections.items()},
            recording_header={"renderer": RENDERER, "text_cap": self._text_cap},
            step_timeout_s=self._start_timeout_s + self._call_timeout_s,  # a lost server is started again first
        )

    async def _aftermath(self, container: Container) -> tuple[str | None, bool]:
        """Why a server was lost, where the container knows; and whether no further action can be taken."""
        try:
            num_oom_kills = await container.oom_kills()
        except SandboxDiedError:
            return "the container died", True
        grown, self._num_oom_kills = num_oom_kills > self._num_oom_kills, num_oom_kills
        cause = f"the memory limit of {self._spec.limits.memory_bytes} bytes ended a process" if grown else None
        return cause, all(server.gone for server in self._running)

    def _record(self, kind: str, data: JsonValue) -> None:
        self._spool.append(RawEvent(time.monotonic() - self._began, kind, canonical_json(data)))

    def _mark_changed_tools(self) -> None:
        for server in self._running:
            if server.tools_changed and server.name not in self._changed:
                self._changed.append(server.name)
                marker = f"the tools of {server.name} have changed"
                self._spool.append(RawEvent(time.monotonic() - self._began, "m", marker))

    def _observation(self, answer: Answer, *, settle_s: float = 0.0, ended: bool = False) -> Observation:
        self._mark_changed_tools()
        self._record("o", answer.outcome)
        text, num_bytes = cut(render(answer.outcome), self._text_cap)
        first_line = text.partition("\n")[0][:_ERROR_CHARS]
        return Observation(
            text=text,
            renderer=RENDERER,
            raw=self._spool,
            timed_out=answer.timed_out,
            truncated=num_bytes > self._text_cap or answer.overlong is not None,
            bytes_total=answer.overlong or num_bytes,
            error_kind=answer.error_kind,
            error=answer.error or first_line if answer.error_kind else None,
            settle_s=settle_s,
            outcome={"tools_changed": list(self._changed)} if self._changed else {},
            ended=ended,
        )


def _value_or_raised(outcome: McpConnection | BaseException) -> McpConnection:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
