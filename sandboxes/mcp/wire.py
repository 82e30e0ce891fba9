"""JSON-RPC messages over a process's stdin and stdout, one a line, from servers that may send anything at all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import anyio
import anyio.lowlevel
from mcp.shared.message import SessionMessage
from mcp.types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from sandboxes.engines.base import PipeStream
from sandboxes.errors import SandboxDiedError

MESSAGE_CAP = 16 * 2**20
"""Largest message taken from a server, in bytes; a larger one is counted, not kept."""

_TOOLS_CHANGED = "notifications/tools/list_changed"
_OUTBOX_MESSAGES = 64
_NOISE_CHARS = 200


class Line(NamedTuple):
    """One line without its newline; ``data`` holds at most the splitter's cap of its ``size`` bytes."""

    data: bytes
    size: int


class LineSplitter:
    """Cuts a byte stream into lines in linear time, holding at most ``cap`` bytes of each."""

    def __init__(self, cap: int = MESSAGE_CAP) -> None:
        self._cap = cap
        self._kept = bytearray()
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """The lines that ``chunk`` completes."""
        *completed, rest = chunk.split(b"\n")
        for piece in completed:
            self._add(piece)
            yield Line(bytes(self._kept), self._size)
            self._kept.clear()
            self._size = 0
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        self._kept += piece[: self._cap - len(self._kept)]


def parse_message(data: bytes) -> JSONRPCMessage | None:
    """The JSON-RPC message in ``data``, or None where it is something else, such as one with a NaN in it.

    What cannot be stored as UTF-8 (bad bytes, escaped lone surrogates) becomes U+FFFD.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(data, by_name=False)
        json.dumps(message.model_dump(), allow_nan=False)
        return message
    except (ValueError, RecursionError):
        pass
    try:
        text = json.dumps(json.loads(data.decode(errors="replace")), ensure_ascii=False, allow_nan=False)
        storable = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return jsonrpc_message_adapter.validate_json(storable, by_name=False)
    except (ValueError, RecursionError):
        return None


def flaw_of(data: bytes, request: RequestId | None) -> str | None:
    """What is wrong with a line that was meant as the answer to ``request``; None where it was meant as no answer."""
    if not (data.lstrip().startswith(b"{") and b'"jsonrpc"' in data):
        return None
    try:
        jsonrpc_message_adapter.validate_json(data, by_name=False)
    except ValidationError as error:
        if unreadable := next((item for item in error.errors() if item["type"] == "json_invalid"), None):
            return unreadable["msg"]
    try:
        sent = json.loads(data.decode(errors="replace"))
        json.dumps(sent, allow_nan=False)
    except (ValueError, RecursionError) as error:
        return f"Invalid JSON: {error}"
    is_answer = "method" not in sent and str(sent.get("id")) == str(request)
    return "It is no JSON-RPC response" if is_answer else None


class Wire:
    """One server's pipes as the two memory streams of an MCP session: ``inbox`` to read, ``outbox`` to write."""

    def __init__(self, pipes: PipeStream) -> None:
        self._pipes = pipes
        self._inbox, self.inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self.outbox, self._outbox = anyio.create_memory_object_stream[SessionMessage](_OUTBOX_MESSAGES)
        self._last_request: RequestId | None = None
        self.ended = False
        """The server has closed its stdout or cannot be written to any more."""
        self.overlong: int | None = None
        """Size in bytes of the last message that was too large to take."""
        self.malformed = False
        """The last answer was none that the protocol knows."""
        self.tools_changed = False
        """The server has said that its tools are not those any more that it listed."""
        self.noise = ""
        """The last line on stdout that was no message."""

    @asynccontextmanager
    async def carried(self) -> AsyncIterator[None]:
        """Carry messages while the block runs; it must be entered and left by the same task."""
        with self._inbox, self.inbox, self.outbox, self._outbox:
            async with anyio.create_task_group() as carriers:
                carriers.start_soon(self._carry_in)
                carriers.start_soon(self._carry_out)
                yield
                carriers.cancel_scope.cancel()

    async def _carry_in(self) -> None:
        splitter = LineSplitter()
        try:
            async for chunk in self._pipes:
                for line in splitter.feed(chunk):
                    if (message := self._message(line)) is not None:
                        await self._inbox.send(SessionMessage(message))
                # A server that floods its stdout must not keep the event loop from everybody else.
                await anyio.lowlevel.checkpoint()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, SandboxDiedError):
            pass  # The session was closed, or the container is gone: either way nothing more can come.
        finally:
            self._end()

    async def _carry_out(self) -> None:
        try:
            async for item in self._outbox:
                if isinstance(item.message, JSONRPCRequest):
                    self._last_request = item.message.id
                line = json.dumps(item.message.model_dump(by_alias=True, exclude_unset=True))
                await self._pipes.write(line.encode() + b"\n")
        except SandboxDiedError:
            self._end()

    def _end(self) -> None:
        self.ended = True
        self._inbox.close()  # wakes whoever waits for an answer

    def _message(self, line: Line) -> JSONRPCMessage | None:
        if line.size > len(line.data):
            return self._refuse(line.size)
        if not line.data.strip():
            return None
        message = parse_message(line.data)
        if message is None and (flaw := flaw_of(line.data, self._last_request)):
            self.malformed = True
            return self._failure(f"The answer is malformed: {flaw}", line.data.decode(errors="replace"))
        if message is None:
            self.noise = line.data[: 4 * _NOISE_CHARS].decode(errors="replace")[:_NOISE_CHARS].strip()
        if isinstance(message, JSONRPCNotification) and message.method == _TOOLS_CHANGED:
            self.tools_changed = True
        return message

    def _refuse(self, size: int) -> JSONRPCMessage:
        """Stands in for a message too large to take, which can only be the answer to the last request."""
        self.overlong = size
        return self._failure(f"The answer of {size} bytes is larger than {MESSAGE_CAP} bytes")

    def _failure(self, text: str, data: str | None = None) -> JSONRPCMessage:
        error = ErrorData(code=INTERNAL_ERROR, message=text, data=data)
        return JSONRPCError(jsonrpc="2.0", id=self._last_request, error=error)
