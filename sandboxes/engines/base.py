"""Where actions happen: one interface for container engines, apart from what runs inside."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

BASE_ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/home/user",
    "LANG": "C.UTF-8",
    "TERM": "xterm-256color",
}
"""What every process of a container finds in its environment, on every engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a container may take. Enforced, or the engine refuses to start (never silently ignored)."""

    memory_bytes: int = 512 * 2**20
    """Memory and swap together."""
    num_processes: int = 128
    num_cpus: float = 1.0
    tmpfs_bytes: int = 64 * 2**20
    """Size of each writable tmpfs."""
    lifetime_s: float = 3600.0
    """The container ends itself after this long, also when nobody is left to end it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSpec:
    """A container to create: hardened unless said otherwise (no network, no capabilities, non-root, read-only root).

    That is what its programs get; the engine's own process in it may have more, out of their reach.
    """

    image: str
    """Name of a sandbox image, such as ``terminal`` (see ``sandboxes.images``)."""
    limits: Limits = field(default_factory=Limits)
    env: Mapping[str, str] = field(default_factory=dict)
    """The whole environment besides ``BASE_ENVIRONMENT``; nothing of the host's enters."""
    workdir: str = "/workspace"
    writable: Sequence[str] = ("/workspace", "/tmp", "/home/user")
    """Folders that are a fresh tmpfs; all else is read-only."""
    hostname: str = "sandbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """What a command did. ``stdout`` and ``stderr`` hold at most ``output_cap`` bytes each."""

    exit_code: int | None
    """None where the time-out ended the command. (Where the container dies, ``exec`` raises.)"""
    stdout: bytes
    stderr: bytes
    bytes_total: int
    """The true size of both together, in bytes."""
    timed_out: bool = False
    truncated: bool = False
    duration_s: float = 0.0


class Stream(Protocol):
    """A running process's two-way byte stream: a pty, or a pipe pair."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Chunks of output as they come (a pipe: stdout only); ends when the process does or the container dies."""
        ...

    async def write(self, data: bytes) -> None:
        """Send all of it, waiting while the process does not read. Raises ``SandboxDiedError`` where it is gone."""
        ...

    async def resize(self, rows: int, columns: int) -> None: ...

    async def exit_code(self) -> int | None:
        """Wait for the process's end: its exit code, or None where ``close`` or the container's death ended it."""
        ...

    async def close(self) -> None:
        """End the process and everything it started. Idempotent."""
        ...


class PipeStream(Stream, Protocol):
    """A process's stdin and stdout as a stream, with the end of its stderr kept beside it."""

    @property
    def stderr_tail(self) -> bytes:
        """The last 64 KiB of stderr so far."""
        ...


class Container(Protocol):
    """A running container. Every call raises ``SandboxDiedError`` where it is gone, except ``alive`` and ``close``."""

    @property
    def id(self) -> str: ...

    @property
    def image_digest(self) -> str: ...

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
        """Run a command to its end. A time-out ends it with all its children and keeps the partial output."""
        ...

    async def open_pty(
        self,
        command: Sequence[str],
        *,
        rows: int,
        columns: int,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Stream:
        """Run a command on a terminal of its own, of that size from its first moment."""
        ...

    async def open_pipes(
        self, command: Sequence[str], *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> PipeStream:
        """Run a command with stdin and stdout as a stream; its last stderr is kept for error messages."""
        ...

    async def write_files(self, files: Mapping[str, bytes], *, root: str = "/workspace") -> None:
        """Put files (relative path → content) below ``root``; a path that leaves it raises ``InputError``."""
        ...

    async def oom_kills(self) -> int:
        """How many processes the memory limit has ended so far."""
        ...

    async def alive(self) -> bool:
        """Whether it could do something now. Asked of itself: a death in progress counts as one."""
        ...

    async def kill(self) -> None:
        """End it at once, as an accident would (for tests and the watchdog)."""
        ...

    async def close(self) -> None:
        """End it with everything in it, and remove what it left. Idempotent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something an engine made outside this process: a container, a network, a volume, a process …"""

    kind: str
    """Such as ``container``, ``network``, ``volume``, ``image``, ``process``, ``cgroup``."""
    id: str
    labels: Mapping[str, str]
    """The labels of the lease it was made under: see ``sandboxes.leases.Lease.labels``."""


class Engine(Protocol):
    """A way to run containers on this machine: Docker, or bubblewrap where there is none."""

    @property
    def name(self) -> str: ...

    async def create(self, spec: ContainerSpec) -> Container:
        """Start a container. On failure or cancellation nothing is left behind.

        Raises ``EngineUnavailableError``, ``ImageMissingError`` or ``SandboxError``.
        """
        ...

    async def owned(self) -> list[Resource]:
        """Everything on this engine that carries a lease's labels, this process's and everybody else's."""
        ...

    async def remove(self, resource: Resource) -> None:
        """End and remove one of ``owned``; not an error where it is gone already."""
        ...

    async def close(self) -> None:
        """Close every container it made. Idempotent."""
        ...
