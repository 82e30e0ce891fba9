"""Pipes and terminals between the host and a process in a sandbox, without a buffer of our own in between."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import struct
import termios
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from sandboxes.engines.bubblewrap.channel import AgentChannel, Process
from sandboxes.errors import SandboxDiedError

_CHUNK_BYTES = 2**16
_STDERR_TAIL_BYTES = 2**16
_PIPE_BYTES = 2**20

_TERMINAL_LAG_S = 0.05
"""How long what a process wrote may take through a terminal that others still hold open after its end."""

_Add = Callable[[int, Callable[[], None]], None]
_Remove = Callable[[int], bool]


class OwnedFd:
    """A descriptor that is closed once."""

    def __init__(self, fd: int) -> None:
        self._fd: int | None = fd

    @property
    def number(self) -> int:
        """Raises ``OSError`` (EBADF) after ``close``, like the kernel would."""
        if self._fd is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._fd

    @contextmanager
    def watched(self, add: _Add, remove: _Remove) -> Iterator[asyncio.Future[None]]:
        """A future that is done once the descriptor is ready."""
        number = self.number
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def set_ready() -> None:
            remove(number)
            ready.set_result(None)

        add(number, set_ready)
        try:
            yield ready
        finally:
            if self._fd is not None:  # else the number may be another's by now
                remove(number)

    def close(self) -> None:
        if self._fd is not None:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._fd)
            loop.remove_writer(self._fd)
            os.close(self._fd)
            self._fd = None


class StandardFds(NamedTuple):
    """The host's ends of a process's three pipes."""

    stdin: OwnedFd
    stdout: OwnedFd
    stderr: OwnedFd


class Source:
    """What a process writes: up to the end of the pipe or terminal, or of what ``last`` tells the end of.

    Others may hold a pipe or terminal open for longer than anyone wants to read it. ``lag_s`` is how long something
    written before that end may still be on its way.
    """

    def __init__(self, fd: OwnedFd, last: asyncio.Future[Any], *, lag_s: float = 0.0) -> None:
        os.set_blocking(fd.number, False)
        self._fd = fd
        self._last = last
        self._lag_s = lag_s

    async def read(self) -> bytes:
        """The next chunk; empty at the end."""
        while True:
            # Looked at before the read: what was written before the end is there to be read.
            was_last = self._last.done()
            try:
                return os.read(self._fd.number, _CHUNK_BYTES)
            except BlockingIOError:
                if not await self._wait_readable(was_last):
                    return b""
            except OSError as error:
                if error.errno not in (errno.EIO, errno.EBADF):  # the terminal hung up, or we did
                    raise
                return b""

    async def _wait_readable(self, was_last: bool) -> bool:
        """False where nothing will come any more."""
        loop = asyncio.get_running_loop()
        with self._fd.watched(loop.add_reader, loop.remove_reader) as readable:
            if was_last:
                await asyncio.wait([readable], timeout=self._lag_s)
                return readable.done()
            either: tuple[asyncio.Future[Any], ...] = (readable, self._last)
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return True


class Sink:
    """What a process reads."""

    def __init__(self, fd: OwnedFd, process: Process) -> None:
        os.set_blocking(fd.number, False)
        self._fd = fd
        self._process = process

    async def write(self, data: bytes) -> None:
        """Hand all of it to the kernel. Raises ``BrokenPipeError`` where nobody will read it."""
        rest = memoryview(data)
        while rest:
            if self._process.exited.done():
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
            try:
                rest = rest[os.write(self._fd.number, rest) :]
            except BlockingIOError:
                await self._wait_writable()

    def close(self) -> None:
        self._fd.close()

    async def _wait_writable(self) -> None:
        loop = asyncio.get_running_loop()
        with self._fd.watched(loop.add_writer, loop.remove_writer) as writable:
            either: tuple[asyncio.Future[Any], ...] = (writable, self._process.exited)
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)


def make_pipe() -> tuple[int, int]:
    """Read and write end of a pipe, as large as this user may have it: fewer turns of the event loop."""
    read, write = os.pipe()
    with suppress(PermissionError):
        fcntl.fcntl(read, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return read, write


class _ProcessStream:
    """What a terminal and a pipe pair have in common."""

    def __init__(
        self, channel: AgentChannel, process: Process, source: Source, sink: Sink, fds: Iterable[OwnedFd]
    ) -> None:
        self._channel = channel
        self._process = process
        self._source = source
        self._sink = sink
        self._fds = fds
        self._closed = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self  # no generator: one of those is spent when a wait for its next chunk is cancelled

    async def __anext__(self) -> bytes:
        if chunk := await self._source.read():
            return chunk
        raise StopAsyncIteration

    async def write(self, data: bytes) -> None:
        try:
            await self._sink.write(data)
        except OSError as error:
            raise SandboxDiedError("the process or its sandbox is gone") from error

    async def exit_code(self) -> int | None:
        code = await asyncio.shield(self._process.exited)
        return None if self._closed else code

    async def close(self) -> None:
        self._closed = self._closed or not self._process.exited.done()
        try:
            await self._channel.end(self._process)
        finally:
            for fd in self._fds:
                fd.close()


class PtyStream(_ProcessStream):
    """A process on a terminal of its own: what it prints, as it comes, and what is typed."""

    def __init__(self, channel: AgentChannel, process: Process, master: int) -> None:
        fd = OwnedFd(master)
        self._master = fd
        super().__init__(channel, process, Source(fd, process.exited, lag_s=_TERMINAL_LAG_S), Sink(fd, process), [fd])

    async def resize(self, rows: int, columns: int) -> None:
        try:
            fcntl.ioctl(self._master.number, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        except OSError as error:
            raise SandboxDiedError("the process or its sandbox is gone") from error


class PipeStream(_ProcessStream):
    """A process's standard input and output; the end of its standard error is kept beside them."""

    def __init__(self, channel: AgentChannel, process: Process, fds: StandardFds) -> None:
        super().__init__(channel, process, Source(fds.stdout, process.exited), Sink(fds.stdin, process), fds)
        self._stderr = Source(fds.stderr, process.exited)
        self._stderr_tail = b""
        self._stderr_reader = asyncio.create_task(self._read_stderr())

    @property
    def stderr_tail(self) -> bytes:
        """The last 64 KiB of what came on standard error."""
        return self._stderr_tail

    async def resize(self, rows: int, columns: int) -> None:
        raise NotImplementedError("pipes have no size")

    async def close(self) -> None:
        await super().close()
        await self._stderr_reader

    async def _read_stderr(self) -> None:
        while chunk := await self._stderr.read():
            self._stderr_tail = (self._stderr_tail + chunk)[-_STDERR_TAIL_BYTES:]
