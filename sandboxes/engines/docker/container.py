"""A running Docker container."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import TypeVar

from docker import APIClient
from docker.errors import APIError, NotFound

from sandboxes.engines.archive import unpack_in
from sandboxes.engines.base import ExecResult
from sandboxes.engines.docker.daemon import Daemon
from sandboxes.engines.docker.frames import Channel, FrameReader
from sandboxes.engines.docker.processes import (
    PipeStream,
    Process,
    ProcessEnd,
    ProcessTable,
    PtyStream,
    container_errors,
)
from sandboxes.engines.docker.warden import Warden
from sandboxes.engines.output import CappedOutput
from sandboxes.engines.uninterrupted import uninterrupted
from sandboxes.errors import SandboxDiedError, SandboxError

_AFTER_END_S = 2.0
"""How long to wait for what an ended process still had in its pipes."""
_REMOVAL_TIMEOUT_S = 60
Opened = TypeVar("Opened", PtyStream, PipeStream)

_AT_SIZE = 'stty rows "$1" cols "$2" && shift 2 && exec "$@"'


class DockerContainer:
    """See ``sandboxes.engines.base.Container``."""

    def __init__(
        self,
        container_id: str,
        image_digest: str,
        daemon: Daemon,
        warden: Warden,
        processes: ProcessTable,
        when_closed: Callable[[DockerContainer], None],
    ) -> None:
        self._id = container_id
        self._image_digest = image_digest
        self._daemon = daemon
        self._warden = warden
        self._processes = processes
        self._when_closed = when_closed
        self._closed = False

    @property
    def id(self) -> str:
        return self._id

    @property
    def image_digest(self) -> str:
        return self._image_digest

    async def exec(
        self,
        command: Sequence[str],
        *,
        stdin: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
        output_cap: int = 2**20,
    ) -> ExecResult:
        started = time.monotonic()
        process = await self._processes.start(command, stdin=bool(stdin), tty=False, cwd=cwd, env=env)
        output = _Output(process, output_cap)
        try:
            end = await self._run_to_end(process, stdin, output, timeout_s)
        except asyncio.CancelledError:
            await uninterrupted(process.end())
            raise
        finally:
            await process.connection.close()
        if end is not None and not end.was_started:
            raise self._not_started(output.stdout.kept)
        return ExecResult(
            exit_code=end.exit_code if end else None,
            stdout=output.stdout.kept,
            stderr=output.stderr.kept,
            bytes_total=output.stdout.bytes_total + output.stderr.bytes_total,
            timed_out=end is None,
            truncated=output.stdout.truncated or output.stderr.truncated,
            duration_s=time.monotonic() - started,
        )

    async def _run_to_end(self, process: Process, stdin: bytes, output: _Output, timeout_s: float) -> ProcessEnd | None:
        """How the process ended by itself; None where the time-out ended it."""
        try:
            async with asyncio.timeout(timeout_s):
                await _converse(process, stdin, output)
                return await process.ended()
        except TimeoutError:
            # At once, for the daemon does not see the end of a process whose output nobody takes.
            await asyncio.gather(process.end(), output.drain_rest())
            await self._warden.ping()
            return None

    async def open_pty(
        self,
        command: Sequence[str],
        *,
        rows: int,
        columns: int,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> PtyStream:
        # Sized by the process itself: the daemon can resize only what runs already, and too late for the first screen.
        sized = ["sh", "-c", _AT_SIZE, "sh", str(rows), str(columns), *command]
        process = await self._processes.start(sized, stdin=True, tty=True, cwd=cwd, env=env)
        return await self._opened(PtyStream(process))

    async def open_pipes(
        self, command: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> PipeStream:
        process = await self._processes.start(command, stdin=True, tty=False, cwd=cwd, env=env)
        return await self._opened(PipeStream(process))

    async def _opened(self, stream: Opened) -> Opened:
        """The stream of a command that was started: one that was not would look like one that has ended."""
        try:
            if not await stream.was_started():
                raise self._not_started(b"".join([chunk async for chunk in stream]))
        except BaseException:
            await uninterrupted(stream.close())
            raise
        return stream

    def _not_started(self, reason: bytes) -> SandboxError:
        return SandboxError(f"a command cannot be started: {reason.decode(errors='replace')}", where=self._id)

    async def write_files(self, files: Mapping[str, bytes], *, root: str = "/workspace") -> None:
        await unpack_in(self, files, root)

    async def oom_kills(self) -> int:
        return await self._warden.oom_kills()

    async def alive(self) -> bool:
        try:
            await self._warden.ping()
        except SandboxDiedError:
            return False
        return True

    async def kill(self) -> None:
        with container_errors(self._id):
            await self._daemon.call(APIClient.kill, self._id)
        await self._warden.wait_for_death()

    async def close(self) -> None:
        if not self._closed:
            await uninterrupted(self._close())
            self._closed = True

    async def _close(self) -> None:
        try:
            await remove_container(self._daemon, self._id)
        finally:
            await self._warden.close()  # which ends the container, should the daemon have failed to
        self._when_closed(self)


class _Output:
    """Where a process's two outputs go."""

    def __init__(self, process: Process, cap: int) -> None:
        self.stdout = CappedOutput(cap)
        self.stderr = CappedOutput(cap)
        self._frames = FrameReader(process.connection.reader)

    async def drain(self) -> None:
        """Take everything until the process's end, however much is kept of it."""
        while frame := await self._frames.next():
            (self.stderr if frame.channel is Channel.STDERR else self.stdout).add(frame.data)

    async def drain_rest(self) -> None:
        """Take what an ended process left behind."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_AFTER_END_S):
                await self.drain()


async def _converse(process: Process, stdin: bytes, output: _Output) -> None:
    feed = asyncio.create_task(_feed(process, stdin))
    try:
        await output.drain()
    finally:
        feed.cancel()  # a process may end without reading all of its input
        await asyncio.gather(feed, return_exceptions=True)


async def _feed(process: Process, stdin: bytes) -> None:
    if stdin:
        await process.write(stdin)
        process.connection.writer.write_eof()


async def remove_container(daemon: Daemon, container: str) -> None:
    """End a container, by id or name, and wait until it is gone; not an error where it never was."""
    try:
        try:
            await _remove(daemon, container)
        except APIError as error:
            # To Docker it is an error where the container ends by itself just before it would be killed.
            if not error.is_server_error() or await _is_running(daemon, container):
                raise
            await _remove(daemon, container)
    except NotFound:
        return
    except APIError as error:
        if error.status_code != HTTPStatus.CONFLICT:
            raise SandboxError(f"Docker could not remove a container: {error.explanation}", where=container) from error
        await _wait_until_removed(daemon, container)


async def _remove(daemon: Daemon, container: str) -> None:
    await daemon.call(APIClient.remove_container, container, force=True, v=True)


async def _is_running(daemon: Daemon, container: str) -> bool:
    return bool((await daemon.call(APIClient.inspect_container, container))["State"]["Running"])


async def _wait_until_removed(daemon: Daemon, container: str) -> None:
    """The daemon is removing it already, of itself."""
    with suppress(NotFound):
        await daemon.call(APIClient.wait, container, timeout=_REMOVAL_TIMEOUT_S, condition="removed")
