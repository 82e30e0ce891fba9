"""A Docker daemon that fails where a test wants it to: a relay before the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

DAEMON_SOCKET = "/var/run/docker.sock"


@asynccontextmanager
async def relay(socket: Path, is_dropped: Callable[[bytes], bool]) -> AsyncIterator[None]:
    """Pass every connection on to the real daemon, but drop those whose request line ``is_dropped`` picks.

    Only the first request of a connection is looked at: streams always have one of their own.
    """
    relayed: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        relayed.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await _pass_on(reader, writer, is_dropped)
        writer.close()

    async with await asyncio.start_unix_server(accept, socket):
        yield
        for task in relayed:
            task.cancel()
        await asyncio.gather(*relayed, return_exceptions=True)


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_dropped: Callable[[bytes], bool]
) -> None:
    request_line = await reader.readline()
    if is_dropped(request_line):
        return
    daemon_reader, daemon_writer = await asyncio.open_unix_connection(DAEMON_SOCKET)
    daemon_writer.write(request_line)
    await asyncio.gather(_copy(reader, daemon_writer), _copy(daemon_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(2**16):
        writer.write(data)
        await writer.drain()
    writer.close()
