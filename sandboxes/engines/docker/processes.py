"""Processes in a running container: started through the daemon, streamed, and ended with all their children."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from docker import APIClient
from docker.errors import APIError

from sandboxes.engines.docker.daemon import CONTAINER_GONE, AttachLostError, Connection, Daemon
from sandboxes.engines.docker.frames import Channel, FrameReader
from sandboxes.engines.docker.hardening import GUEST
from sandboxes.engines.docker.warden import Warden, tagged
from sandboxes.engines.uninterrupted import uninterrupted
from sandboxes.errors import SandboxDiedError, SandboxError

T = TypeVar("T")

_FIRST_POLL_S = 0.002
_LAST_POLL_S = 0.25
_BURIAL_S = 10.0
"""How long a killed process may take to be gone on a machine that has too much to do."""
_START_LAG_S = 2.0
"""How long the daemon may take from accepting a command to starting it."""
_WRITE_BYTES = 2**18
_CHUNK_BYTES = 2**16
_STDERR_TAIL_BYTES = 2**16


class ProcessEnd(NamedTuple):
    exit_code: int
    was_started: bool
    """False where the daemon could not start the command, and has said why on the stream."""


class ProcessTable:
    """Starts processes in one container and knows how they ended."""

    def __init__(self, container: str, daemon: Daemon, warden: Warden, starts: asyncio.Semaphore) -> None:
        self._container = container
        self._daemon = daemon
        self._warden = warden
        self._starts = starts
        self._tags = itertools.count(1)

    async def start(
        self,
        command: Sequence[str],
        *,
        stdin: bool,
        tty: bool,
        cwd: str | None,
        env: Mapping[str, str] | None,
    ) -> Process:
        """Start a command and attach to it; tried twice, for a busy daemon now and then loses an attach.

        Raises ``SandboxDiedError`` where the container is gone, ``SandboxError`` where the command cannot be started.
        """
        async with self._starts:
            try:
                return await self._start(command, stdin, tty, cwd, env)
            except AttachLostError:
                return await self._start(command, stdin, tty, cwd, env)

    async def _start(
        self, command: Sequence[str], stdin: bool, tty: bool, cwd: str | None, env: Mapping[str, str] | None
    ) -> Process:
        tag = next(self._tags)
        with container_errors(self._container):
            created = await self._daemon.call(
                APIClient.exec_create,
                self._container,
                tagged(tag, list(command)),
                stdin=stdin,
                tty=tty,
                user=GUEST,
                workdir=cwd,
                environment=dict(env or {}),
            )
        exec_id = created["Id"]
        try:
            connection = await self._daemon.hijack(f"/exec/{exec_id}/start", {"Tty": tty, "Detach": False})
        except BaseException:
            await uninterrupted(self.end(exec_id, tag))  # it may run all the same
            raise
        return Process(exec_id, tag, connection, self)

    async def end_of(self, exec_id: str) -> ProcessEnd:
        """Wait for a process's end. Raises ``SandboxDiedError`` where the container died first."""
        end = await _first_answer(lambda: self.end_so_far(exec_id))
        await self._warden.ping()  # else the death of the container could pass for the process's own
        return end

    async def end(self, exec_id: str, tag: int) -> None:
        """End a process and all that came of it, also where the daemon is still about to start it.

        Raises ``SandboxDiedError`` where the container is gone, ``SandboxError`` where something does not end.
        """

        async def end_of_the_first() -> ProcessEnd | None:
            await self._warden.end(tag)
            return await self.end_so_far(exec_id)

        async def none_left() -> bool | None:
            return await self._warden.end(tag) == 0 or None

        with suppress(TimeoutError):  # it never was started
            async with asyncio.timeout(_START_LAG_S):
                await _first_answer(end_of_the_first)
        try:
            async with asyncio.timeout(_BURIAL_S):
                await _first_answer(none_left)
        except TimeoutError as error:
            raise SandboxError("the processes of a command cannot be ended", where=self._container) from error

    async def was_started(self, exec_id: str) -> bool:
        """Wait until a process runs or has ended; False where the daemon could not start it."""

        async def look() -> bool | None:
            facts = await self._inspect(exec_id)
            if facts["Pid"] != 0:
                return True
            return False if not facts["Running"] and facts["ExitCode"] is not None else None

        return await _first_answer(look)

    async def end_so_far(self, exec_id: str) -> ProcessEnd | None:
        """None for a process that runs, or has yet to be started."""
        facts = await self._inspect(exec_id)
        if facts["Running"] or facts["ExitCode"] is None:
            return None
        return ProcessEnd(exit_code=facts["ExitCode"], was_started=facts["Pid"] != 0)

    async def _inspect(self, exec_id: str) -> Mapping[str, Any]:
        with container_errors(self._container):
            facts: Mapping[str, Any] = await self._daemon.call(APIClient.exec_inspect, exec_id)
        return facts

    async def resize(self, exec_id: str, rows: int, columns: int) -> None:
        with container_errors(self._container):
            await self._daemon.call(APIClient.exec_resize, exec_id, height=rows, width=columns)

    def died(self) -> SandboxDiedError:
        return SandboxDiedError("the process or its container is gone", where=self._container)


class Process:
    """A started process and the connection to its streams."""

    def __init__(self, exec_id: str, tag: int, connection: Connection, table: ProcessTable) -> None:
        self.exec_id = exec_id
        self.connection = connection
        self._tag = tag
        self._table = table
        self._ended = False
        self._own_end: ProcessEnd | None = None
        """How it ended where that was before ``end`` could end it."""

    async def was_started(self) -> bool:
        """Wait until it runs or has ended; False where the daemon could not start it."""
        return await self._table.was_started(self.exec_id)

    async def write(self, data: bytes) -> None:
        """Raises ``SandboxDiedError`` where nobody can read it any more."""
        writer = self.connection.writer
        try:
            for start in range(0, len(data), _WRITE_BYTES):
                writer.write(data[start : start + _WRITE_BYTES])
                await writer.drain()
        except OSError as error:
            raise self._table.died() from error

    async def ended(self) -> ProcessEnd:
        """Wait for its end. Raises ``SandboxDiedError`` where the container died first."""
        return await self._table.end_of(self.exec_id)

    async def exit_code(self) -> int | None:
        """Wait for its end. None where ``end`` ended it, or the container died."""
        if not self._ended:
            try:
                end = await self.ended()
            except SandboxDiedError:
                return None
            if not self._ended:
                return end.exit_code
        return self._own_end.exit_code if self._own_end else None

    async def resize(self, rows: int, columns: int) -> None:
        await self._table.resize(self.exec_id, rows, columns)

    async def end(self) -> None:
        """End it and everything it started. Idempotent; nothing to do where the container is gone."""
        if not self._ended:
            self._ended = True
            with suppress(SandboxDiedError):
                self._own_end = await self._table.end_so_far(self.exec_id)
                await self._table.end(self.exec_id, self._tag)

    async def close(self) -> None:
        try:
            await self.end()
        finally:
            await self.connection.close()


class _ProcessStream:
    """What a pty and a pipe pair have in common."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def was_started(self) -> bool:
        return await self._process.was_started()

    async def write(self, data: bytes) -> None:
        await self._process.write(data)

    async def exit_code(self) -> int | None:
        return await self._process.exit_code()

    async def close(self) -> None:
        await self._process.close()


class PtyStream(_ProcessStream):
    """A process on a terminal of its own: what it prints, as it comes, and what is typed."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while chunk := await self._process.connection.reader.read(_CHUNK_BYTES):
                yield chunk
        except ConnectionError:
            return  # the end of a connection that was broken, not closed

    async def resize(self, rows: int, columns: int) -> None:
        await self._process.resize(rows, columns)


class PipeStream(_ProcessStream):
    """A process's standard input and output; the end of its standard error is kept beside them."""

    def __init__(self, process: Process) -> None:
        super().__init__(process)
        self._frames = FrameReader(process.connection.reader)
        self._stderr_tail = b""

    @property
    def stderr_tail(self) -> bytes:
        """The last 64 KiB of what came on standard error while standard output was read."""
        return self._stderr_tail

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while frame := await self._frames.next():
            if frame.channel is Channel.STDERR:
                self._stderr_tail = (self._stderr_tail + frame.data)[-_STDERR_TAIL_BYTES:]
            else:
                yield frame.data

    async def resize(self, rows: int, columns: int) -> None:
        raise NotImplementedError("pipes have no size")


async def _first_answer(look: Callable[[], Awaitable[T | None]]) -> T:
    """Look until there is something to see: the daemon's API tells nobody of the end of an exec."""
    pause_s = _FIRST_POLL_S
    while (answer := await look()) is None:
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LAST_POLL_S)
    return answer


@contextmanager
def container_errors(container: str) -> Iterator[None]:
    """Say what the daemon's "no" means for a container that was there a moment ago."""
    try:
        yield
    except APIError as error:
        if error.status_code in CONTAINER_GONE:
            raise SandboxDiedError("the container is gone", where=container) from error
        raise SandboxError(f"Docker refused: {error.explanation}", where=container) from error
