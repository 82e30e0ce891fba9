"""The host's side of the talk with a sandbox's agent (see ``agent.py`` for the messages)."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandboxes.errors import SandboxDiedError, SandboxError

_MESSAGE_BYTES = 2**16
_SEND_BUFFER_BYTES = 2**20


@dataclass(slots=True)
class Process:
    """A process the agent has started. The futures hold None where the sandbox died first."""

    id: int
    started: asyncio.Future[int | None] = field(default_factory=asyncio.Future)
    """The terminal's master side, if it has one."""
    exited: asyncio.Future[int | None] = field(default_factory=asyncio.Future)
    """Its exit code; 128 + number where a signal ended it."""
    gone: asyncio.Future[None] = field(default_factory=asyncio.Future)
    """It was ended, and everything it had started."""


class AgentChannel:
    """One socket, many processes. All methods belong to the event loop it was made in."""

    def __init__(self, control: socket.socket, sandbox_id: str, settings: Mapping[str, object]) -> None:
        control.setblocking(False)
        control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        self._control = control
        self._sandbox_id = sandbox_id
        self._loop = asyncio.get_running_loop()
        self._ids = itertools.count(1)
        self._processes: dict[int, Process] = {}
        self._sending = asyncio.Lock()
        self._endings: set[asyncio.Task[None]] = set()
        self._pings: dict[int, asyncio.Future[None]] = {}
        self.ready: asyncio.Future[None] = self._loop.create_future()
        """The agent runs; None too where it died before: then ``ended`` is done."""
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """The sandbox is gone, or ``close`` was called."""
        self._loop.add_reader(control, self._receive)
        self._send_now(settings, ())

    async def start(
        self,
        command: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        fds: Sequence[int] = (),
        size: tuple[int, int] | None = None,
    ) -> tuple[Process, int | None]:
        """Start a process on three descriptors, or on a terminal of ``size`` (rows, columns).

        Returns it with the master side of its terminal. Raises ``SandboxDiedError``, or ``SandboxError`` where the
        sandbox may have no more processes.
        """
        self._check_alive()
        process = Process(next(self._ids))
        request = {"start": process.id, "argv": list(command), "cwd": cwd, "env": dict(env)}
        self._processes[process.id] = process
        try:
            await self._send({**request, "size": size} if size else request, fds)
        except BaseException as error:
            self._processes.pop(process.id, None)
            if isinstance(error, OSError):
                raise SandboxError(f"the command is too long: {error.strerror}", where=self._sandbox_id) from error
            raise
        try:
            master = await asyncio.shield(process.started)
        except asyncio.CancelledError:
            process.started.add_done_callback(_close_late)
            self._endings.add(task := asyncio.create_task(self.end(process)))
            task.add_done_callback(self._endings.discard)
            raise
        self._check_alive()
        return process, master

    async def end(self, process: Process) -> None:
        """End a process with everything it started, and wait until that is gone."""
        if process.id in self._processes:
            await self._send({"end": process.id}, ())
            await asyncio.shield(process.gone)

    async def answers(self) -> bool:
        """Whether the agent is still there, asked of itself."""
        number = next(self._ids)
        self._pings[number] = self._loop.create_future()
        try:
            await self._send({"ping": number}, ())
            await asyncio.wait([self._pings[number], self.ended], return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._pings[number]
        return not self.ended.done()

    def forget(self, process: Process) -> None:
        """The process has ended and nobody will ask to end what it left behind."""
        self._processes.pop(process.id, None)

    def close(self) -> None:
        """Hang up, which ends the sandbox. Idempotent."""
        if self._control.fileno() >= 0:
            self._loop.remove_reader(self._control)
            self._control.close()
        self._set_ended()

    def _check_alive(self) -> None:
        if self.ended.done():
            raise SandboxDiedError("the sandbox is gone", where=self._sandbox_id)

    async def _send(self, message: Mapping[str, object], fds: Sequence[int]) -> None:
        async with self._sending:
            while True:
                try:
                    return self._send_now(message, fds)
                except BlockingIOError:
                    await asyncio.wait([self._writable(), self.ended], return_when=asyncio.FIRST_COMPLETED)

    def _send_now(self, message: Mapping[str, object], fds: Sequence[int]) -> None:
        if self.ended.done():
            return  # every future of every process is settled already
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], fds)
        except (BrokenPipeError, ConnectionResetError):
            self._set_ended()

    def _writable(self) -> asyncio.Future[None]:
        writable: asyncio.Future[None] = self._loop.create_future()

        def done() -> None:
            self._loop.remove_writer(self._control)
            if not writable.done():
                writable.set_result(None)

        self._loop.add_writer(self._control, done)
        return writable

    def _receive(self) -> None:
        try:
            data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE_BYTES, 1)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data, fds = b"", []
        if not data:
            self._loop.remove_reader(self._control)
            self._set_ended()
            return
        self._dispatch(json.loads(data), fds)

    def _dispatch(self, message: Mapping[str, object], fds: list[int]) -> None:
        match message:
            case {"ready": True}:
                self.ready.set_result(None)
            case {"started": int(id_)}:
                self._processes[id_].started.set_result(fds[0] if fds else None)
            case {"refused": int(id_), "reason": str(reason)}:
                process = self._processes.pop(id_)
                process.started.set_exception(
                    SandboxError(f"the sandbox can start no process: {reason}", where=self._sandbox_id)
                )
            case {"exit": int(id_), "code": int(code)}:
                if id_ in self._processes:
                    self._processes[id_].exited.set_result(code)
            case {"gone": int(id_)}:
                self._settle(id_)
            case {"pong": int(number)}:
                if number in self._pings:  # else whoever asked was cancelled
                    self._pings[number].set_result(None)

    def _set_ended(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)
        if not self.ready.done():
            self.ready.set_result(None)
        for id_ in tuple(self._processes):
            self._settle(id_)

    def _settle(self, id_: int) -> None:
        """Nothing more will be heard of it."""
        process = self._processes.pop(id_, None)
        if process is not None:
            for future in (process.started, process.exited, process.gone):
                if not future.done():
                    future.set_result(None)


def _close_late(started: asyncio.Future[int | None]) -> None:
    if not started.cancelled() and started.exception() is None and (master := started.result()) is not None:
        os.close(master)
