"""The command line that makes a sandbox: namespaces, mounts and the agent."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator, Sequence

from sandboxes.engines.base import ContainerSpec
from sandboxes.images import UnpackedImage

UID = 1000

_AGENT = "/run/agent.py"
_RUN_BYTES = 2**20
_NAMESPACES = ("ipc", "pid", "net", "uts", "cgroup-try")
_AGENT_CAPABILITIES = ("CAP_CHOWN", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP")
"""What the agent needs to become the sandbox's user; gone once it is."""


def sandbox_command(
    bwrap: str,
    spec: ContainerSpec,
    image: UnpackedImage,
    *,
    agent_fd: int,
    control_fd: int,
    info_fd: int,
    filter_fd: int,
) -> list[str]:
    """bwrap's arguments. It inherits descriptors: the agent's source, its socket, where to report, a seccomp filter."""
    # Not --die-with-parent: when that strikes before the sandbox's first process has been let go, it waits for ever.
    # The agent sees its socket close instead.
    return [
        bwrap,
        *(f"--unshare-{namespace}" for namespace in _NAMESPACES),
        *_identity(),
        *("--hostname", spec.hostname, "--clearenv", "--new-session", "--as-pid-1"),
        *("--info-fd", str(info_fd), "--seccomp", str(filter_fd)),
        *_mounts(spec, image, agent_fd),
        *("--", "/usr/bin/python3", "-I", "-S", _AGENT, str(control_fd)),
    ]


def _identity() -> Iterator[str]:
    """Root's sandboxes belong to an ordinary user id; another user's get that id in a namespace of their own."""
    if os.geteuid() == 0:
        yield from ("--cap-drop", "ALL")
        for capability in _AGENT_CAPABILITIES:
            yield from ("--cap-add", capability)
    else:
        yield from ("--unshare-user", "--disable-userns", "--uid", str(UID), "--gid", str(UID))


def _mounts(spec: ContainerSpec, image: UnpackedImage, agent_fd: int) -> Iterator[str]:
    size = str(spec.limits.tmpfs_bytes)
    yield from ("--ro-bind", str(image.rootfs), "/")
    if image.usr is not None:
        yield from ("--ro-bind", str(image.usr), "/usr")
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--size", size, "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev")
    yield from ("--size", str(_RUN_BYTES), "--tmpfs", "/run", "--ro-bind-data", str(agent_fd), _AGENT)
    yield from ("--remount-ro", "/run")
    for folder in spec.writable:
        yield from ("--size", size, "--perms", "1777" if folder == "/tmp" else "0755", "--tmpfs", folder)
    yield from ("--chdir", spec.workdir)


def agent_settings(spec: ContainerSpec, *, has_cgroup: bool) -> dict[str, object]:
    """The agent's first message: what it does to itself before it starts anything."""
    limits = spec.limits
    rlimits = {"RLIMIT_CORE": 0}
    if not has_cgroup:
        # In a user namespace of its own the count of processes is the sandbox's; the memory is each process's.
        rlimits |= {"RLIMIT_NPROC": limits.num_processes, "RLIMIT_DATA": limits.memory_bytes}
    return {
        "uid": UID,
        "own": [folder for folder in spec.writable if folder != "/tmp"],
        "lifetime_s": max(1, math.ceil(limits.lifetime_s)),
        "rlimits": rlimits,
        "cpus": [] if has_cgroup else _some_cpus(math.ceil(limits.num_cpus)),
    }


def _some_cpus(count: int) -> list[int]:
    """Not the same ones for every sandbox."""
    available = sorted(os.sched_getaffinity(0))
    return random.sample(available, min(count, len(available)))


def probe_command(bwrap: str) -> Sequence[str]:
    """A sandbox that does nothing, to see whether this machine lets this user have one."""
    namespaces = [f"--unshare-{namespace}" for namespace in _NAMESPACES]
    return [
        bwrap,
        *namespaces,
        *_identity(),
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--",
        "/usr/bin/true",
    ]
