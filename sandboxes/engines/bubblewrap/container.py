"""A running bubblewrap sandbox."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from sandboxes.engines.archive import unpack_in
from sandboxes.engines.base import BASE_ENVIRONMENT, ContainerSpec, ExecResult
from sandboxes.engines.bubblewrap.cgroups import Cgroup
from sandboxes.engines.bubblewrap.channel import AgentChannel, Process
from sandboxes.engines.bubblewrap.streams import OwnedFd, PipeStream, PtyStream, Sink, Source, StandardFds, make_pipe
from sandboxes.engines.output import CappedOutput
from sandboxes.engines.uninterrupted import uninterrupted
from sandboxes.errors import SandboxDiedError


class BubblewrapContainer:
    """See ``sandboxes.engines.base.Container``.

    Args:
        sandbox_id: its id.
        spec: what it was made from.
        image_digest: of the image it runs; starts with ``host:`` where that is this machine's own ``/usr``.
        channel: to its agent.
        cgroup: what limits it; None where its processes are limited one by one.
        pidfd: a handle of its first process; closed with it.
        when_closed: removes what is left on the host; called once.
    """

    def __init__(
        self,
        sandbox_id: str,
        spec: ContainerSpec,
        image_digest: str,
        channel: AgentChannel,
        cgroup: Cgroup | None,
        pidfd: int,
        when_closed: Callable[[BubblewrapContainer], Awaitable[None]],
    ) -> None:
        self._id = sandbox_id
        self._workdir = spec.workdir
        self._env = {**BASE_ENVIRONMENT, **spec.env}
        self._image_digest = image_digest
        self._channel = channel
        self._cgroup = cgroup
        self._pidfd = pidfd
        self._when_closed = when_closed
        self._closing: asyncio.Task[None] | None = None

    @property
    def id(self) -> str:
        return self._id

    @property
    def image_digest(self) -> str:
        return self._image_digest

    @property
    def limits_hold_together(self) -> bool:
        """Whether memory and CPU limits hold for all its processes together, or only for each one."""
        return self._cgroup is not None

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
        process, fds = await self._start_on_pipes(command, cwd, env)
        stdout, stderr = CappedOutput(output_cap), CappedOutput(output_cap)
        work = asyncio.gather(
            _feed(Sink(fds.stdin, process), stdin),
            _drain(Source(fds.stdout, process.exited), stdout),
            _drain(Source(fds.stderr, process.exited), stderr),
            asyncio.shield(process.exited),
        )
        try:
            timed_out = not (await asyncio.wait([work], timeout=timeout_s))[0]
            if timed_out:
                await self._channel.end(process)
            await work
        except asyncio.CancelledError:
            await uninterrupted(self._channel.end(process))
            raise
        finally:
            work.cancel()
            await asyncio.wait([work])
            self._channel.forget(process)
            for fd in fds:
                fd.close()
        self._check_alive()
        return ExecResult(
            exit_code=None if timed_out else process.exited.result(),
            stdout=stdout.kept,
            stderr=stderr.kept,
            bytes_total=stdout.bytes_total + stderr.bytes_total,
            timed_out=timed_out,
            truncated=stdout.truncated or stderr.truncated,
            duration_s=time.monotonic() - started,
        )

    async def open_pty(
        self,
        command: Sequence[str],
        *,
        rows: int,
        columns: int,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> PtyStream:
        process, master = await self._channel.start(
            command, cwd=cwd or self._workdir, env={**self._env, **(env or {})}, size=(rows, columns)
        )
        assert master is not None, "the agent answers a start with a size with a terminal"
        return PtyStream(self._channel, process, master)

    async def open_pipes(
        self, command: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> PipeStream:
        process, fds = await self._start_on_pipes(command, cwd, env)
        return PipeStream(self._channel, process, fds)

    async def write_files(self, files: Mapping[str, bytes], *, root: str = "/workspace") -> None:
        await unpack_in(self, files, root)

    async def oom_kills(self) -> int:
        """Without a control group there are none: an allocation beyond the limit fails instead."""
        self._check_alive()
        return self._cgroup.oom_kills() if self._cgroup else 0

    async def alive(self) -> bool:
        return await self._channel.answers()

    async def kill(self) -> None:
        self._check_alive()
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        await asyncio.shield(self._channel.ended)

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await uninterrupted(self._closing)

    async def _close(self) -> None:
        self._channel.close()
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
        await self._when_closed(self)

    async def _start_on_pipes(
        self, command: Sequence[str], cwd: str | None, env: Mapping[str, str] | None
    ) -> tuple[Process, StandardFds]:
        """Start a command on three pipes and return it with the host's ends of them."""
        pipes = [make_pipe() for _ in range(3)]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1]]
        ours = StandardFds(OwnedFd(pipes[0][1]), OwnedFd(pipes[1][0]), OwnedFd(pipes[2][0]))
        try:
            process, _ = await self._channel.start(
                command, cwd=cwd or self._workdir, env={**self._env, **(env or {})}, fds=theirs
            )
        except BaseException:
            for fd in ours:
                fd.close()
            raise
        finally:
            for number in theirs:
                os.close(number)
        return process, ours

    def _check_alive(self) -> None:
        if self._channel.ended.done():
            raise SandboxDiedError("the sandbox is gone", where=self._id)


async def _feed(sink: Sink, data: bytes) -> None:
    with suppress(BrokenPipeError):  # a process may end without reading all of its input
        await sink.write(data)
    sink.close()


async def _drain(source: Source, output: CappedOutput) -> None:
    while chunk := await source.read():
        output.add(chunk)
