"""Sandboxes from bubblewrap: no daemon, and no privileges where the kernel lets users have namespaces."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import re
import shutil
import socket
import subprocess
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sandboxes.engines.base import ContainerSpec, Resource
from sandboxes.engines.bubblewrap import records
from sandboxes.engines.bubblewrap.cgroups import Cgroup, Mount, find_mount
from sandboxes.engines.bubblewrap.channel import AgentChannel
from sandboxes.engines.bubblewrap.command import agent_settings, probe_command, sandbox_command
from sandboxes.engines.bubblewrap.container import BubblewrapContainer
from sandboxes.engines.bubblewrap.records import Record
from sandboxes.engines.bubblewrap.seccomp import seccomp_filter
from sandboxes.engines.closing import close_all
from sandboxes.engines.uninterrupted import uninterrupted
from sandboxes.errors import EngineUnavailableError, SandboxError
from sandboxes.images import UnpackedImage, unpacked_image
from sandboxes.leases import Lease

_AGENT_SOURCE = Path(__file__).with_name("agent.py")
_OLDEST_VERSION = (0, 8)
_START_TIMEOUT_S = 20.0
_END_TIMEOUT_S = 10.0

_log = logging.getLogger(__name__)


class BubblewrapEngine:
    """See ``sandboxes.engines.base.Engine``.

    Every sandbox ends itself after its lifetime or as soon as this process is gone; a record in the state folder says
    what else it consists of.
    """

    name = "bubblewrap"

    def __init__(self, bwrap: str, lease: Lease, cgroup_mount: Mount | None) -> None:
        self._bwrap = bwrap
        self._lease = lease
        self._cgroup_mount = cgroup_mount
        self._records = lease.path.parent.parent / "bubblewrap"
        self._running: dict[BubblewrapContainer, _Launch] = {}

    @classmethod
    async def connect(cls, lease: Lease) -> BubblewrapEngine:
        """An engine of this machine's ``bwrap``, for what ``lease`` owns.

        Raises ``EngineUnavailableError`` where bubblewrap is missing, too old, or not allowed to make a sandbox.
        """
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            raise EngineUnavailableError("bubblewrap is not installed", mend="install it: apt-get install bubblewrap")
        await _check_version(bwrap)
        await _check_allowed(bwrap)
        mount = find_mount()
        if mount is None and os.geteuid() == 0:
            raise EngineUnavailableError(
                "root's bubblewrap sandboxes need control groups to limit them, and there are none to be had here",
                mend="mount the memory, pids and cpu controllers, or run as an ordinary user",
            )
        if mount is None:
            _log.warning(
                "no control groups for this user: the memory limit holds for each process of a sandbox, not for all "
                "together, and the CPU limit is rounded up to whole CPUs"
            )
        return cls(bwrap, lease, mount)

    async def create(self, spec: ContainerSpec) -> BubblewrapContainer:
        image = unpacked_image(spec.image)
        labels = self._lease.labels(spec.limits.lifetime_s)
        sandbox_id = f"worldtape-{self._lease.id}-{uuid.uuid4().hex[:12]}"
        cgroup = Cgroup(self._cgroup_mount, sandbox_id) if self._cgroup_mount else None
        record = Record(sandbox_id, labels, tuple(str(folder) for folder in cgroup.folders) if cgroup else ())
        launch = _Launch()
        try:
            record.write(self._records)
            if cgroup is not None:
                cgroup.create(spec.limits)
            pid = await launch.start(self._bwrap, spec, image, sandbox_id, has_cgroup=cgroup is not None)
            # Nothing of the guest's runs yet: all it will ever start begins in the group.
            if cgroup is not None:
                cgroup.add(pid)
            record.with_process(pid).write(self._records)
            pidfd = os.pidfd_open(pid)
        except BaseException as error:
            await uninterrupted(self._clean_up(sandbox_id, launch))
            if isinstance(error, OSError):
                raise SandboxError(f"the sandbox cannot be set up: {error}", where=spec.image) from error
            raise
        assert launch.channel is not None
        container = BubblewrapContainer(
            sandbox_id, spec, image.digest, launch.channel, cgroup, pidfd, when_closed=self._forget
        )
        self._running[container] = launch
        return container

    async def owned(self) -> list[Resource]:
        return [record.resource() for record in records.records(self._records)]

    async def remove(self, resource: Resource) -> None:
        await asyncio.to_thread(records.remove_sandbox, self._records, resource.id)

    async def close(self) -> None:
        """Close every container it made. Idempotent."""
        await close_all(tuple(self._running))

    async def _forget(self, container: BubblewrapContainer) -> None:
        await self._clean_up(container.id, self._running.pop(container))

    async def _clean_up(self, sandbox_id: str, launch: _Launch) -> None:
        await launch.end()
        await asyncio.to_thread(records.remove_sandbox, self._records, sandbox_id)


@dataclass(slots=True)
class _Launch:
    """The host's side of one run of bwrap: its process and the socket to the agent."""

    process: subprocess.Popen[bytes] | None = None
    channel: AgentChannel | None = None

    async def start(
        self, bwrap: str, spec: ContainerSpec, image: UnpackedImage, sandbox_id: str, *, has_cgroup: bool
    ) -> int:
        """Run bwrap and wait for the agent. Returns the host's number of the sandbox's first process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel = AgentChannel(ours, sandbox_id, agent_settings(spec, has_cgroup=has_cgroup))
        with (
            theirs,
            _AGENT_SOURCE.open("rb") as agent,
            image.lock.open() as lock,
            tempfile.TemporaryFile() as info,
            tempfile.TemporaryFile() as errors,
            tempfile.TemporaryFile() as system_calls,
        ):
            system_calls.write(seccomp_filter())
            system_calls.seek(0)
            fcntl.flock(lock, fcntl.LOCK_SH)  # inherited: held until the sandbox ends
            fds = (agent.fileno(), theirs.fileno(), info.fileno(), system_calls.fileno(), lock.fileno())
            command = sandbox_command(
                bwrap,
                spec,
                image,
                agent_fd=agent.fileno(),
                control_fd=theirs.fileno(),
                info_fd=info.fileno(),
                filter_fd=system_calls.fileno(),
            )
            self.process = subprocess.Popen(  # noqa: ASYNC220 - a fork, not the wait for its end
                command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, pass_fds=fds, cwd="/"
            )
            theirs.close()
            return await self._first_process(info, errors, sandbox_id)

    async def _first_process(self, info: IO[bytes], errors: IO[bytes], sandbox_id: str) -> int:
        assert self.channel is not None
        await asyncio.wait([self.channel.ready], timeout=_START_TIMEOUT_S)
        if not self.channel.ready.done() or self.channel.ended.done():
            errors.seek(0)
            reason = errors.read().decode(errors="replace").strip() or "it does not start"
            raise SandboxError(f"bubblewrap cannot make the sandbox: {reason}", where=sandbox_id)
        info.seek(0)
        return int(json.load(info)["child-pid"])

    async def end(self) -> None:
        if self.channel is not None:
            self.channel.close()
        if self.process is not None:
            await asyncio.to_thread(_await_end, self.process)


def _await_end(process: subprocess.Popen[bytes]) -> None:
    """bwrap ends once the agent has seen its socket close. Killed earlier, it may leave a half-made child behind."""
    try:
        process.wait(_END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


async def _check_version(bwrap: str) -> None:
    answer = await _run(bwrap, "--version")
    version = re.search(r"(\d+)\.(\d+)", answer[1])
    if version is None or tuple(map(int, version.groups())) < _OLDEST_VERSION:
        oldest = ".".join(map(str, _OLDEST_VERSION))
        raise EngineUnavailableError(
            f"this bubblewrap is too old: {answer[1]!r}", where=bwrap, mend=f"install version {oldest} or newer"
        )


async def _check_allowed(bwrap: str) -> None:
    code, words = await _run(*probe_command(bwrap))
    if code != 0:
        raise EngineUnavailableError(
            f"bubblewrap may not make a sandbox here: {words}",
            where=bwrap,
            mend="allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
            "kernel.apparmor_restrict_unprivileged_userns), run as root, or use Docker",
        )


async def _run(*command: str) -> tuple[int | None, str]:
    """Exit code, and all that a short command said."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode(errors="replace").strip()
