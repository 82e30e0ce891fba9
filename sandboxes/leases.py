"""Who owns a container: a lease is a locked file, and what carries its labels may live while the lock is held."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from trajectories import WorldtapeError
from trajectories.files import remove_abandoned, written_aside

RUN_LABEL = "worldtape.run"
LEASE_LABEL = "worldtape.lease"
BOOT_LABEL = "worldtape.boot"
HOST_LABEL = "worldtape.host"
EXPIRES_LABEL = "worldtape.expires"


def state_folder() -> Path:
    """Where this machine's leases lie: ``$WORLDTAPE_STATE``, or the platform's folder for a user's state."""
    return Path(os.environ.get("WORLDTAPE_STATE") or platformdirs.user_state_dir("worldtape"))


@dataclass(frozen=True, slots=True)
class Host:
    """One state folder on one machine since its last boot: the reach within which a lease can be judged."""

    id: str
    boot: str

    @classmethod
    def current(cls, state: Path | None = None) -> Host:
        """This machine, as seen by those who share its state folder.

        The id mixes the machine's own with one kept in the state folder: two state folders on one machine, or one
        home folder on two machines, cannot see each other's locks and so count as strangers.
        """
        identity = f"{_first_line('/etc/machine-id') or socket.gethostname()} {_state_id(state or state_folder())}"
        return cls(hashlib.sha256(identity.encode()).hexdigest()[:16], _first_line("/proc/sys/kernel/random/boot_id"))


@dataclass(slots=True)
class Lease:
    """The right of one process to own containers, held until ``release`` or the process's death, however it comes."""

    run: str
    id: str
    host: Host
    path: Path
    _handle: int

    @classmethod
    @contextmanager
    def acquire(cls, run: str, *, state: Path | None = None) -> Iterator[Lease]:
        """Hold a lease for ``run`` while the ``with`` block runs."""
        lease = cls.take(run, state=state)
        try:
            yield lease
        finally:
            lease.release()

    @classmethod
    def take(cls, run: str, *, state: Path | None = None) -> Lease:
        """Hold a lease for ``run`` until ``release``."""
        state = state or state_folder()
        lease_id = uuid.uuid4().hex[:16]
        path = lease_path(state, lease_id)
        try:
            host = Host.current(state)
            facts = {"run": run, "pid": os.getpid(), "boot": host.boot, "host": host.id, "started": time.time()}
            # Locked before it has its name: nobody ever sees the file of a living lease unlocked.
            with written_aside(path.parent) as aside:
                aside.file.write(json.dumps(facts).encode() + b"\n")
                aside.take_place(path)
                return cls(run, lease_id, host, path, aside.duplicate())
        except OSError as error:
            raise WorldtapeError(
                f"a lease cannot be written: {error.strerror}",
                where=str(path.parent),
                mend="make room there, or set WORLDTAPE_STATE to a folder you may write to",
            ) from error

    def labels(self, lifetime_s: float) -> dict[str, str]:
        """What to mark a resource with that is made now and may live for ``lifetime_s`` seconds at most."""
        return {
            RUN_LABEL: self.run,
            LEASE_LABEL: self.id,
            BOOT_LABEL: self.host.boot,
            HOST_LABEL: self.host.id,
            EXPIRES_LABEL: str(int(time.time() + lifetime_s)),
        }

    def release(self) -> None:
        """Give it up: what still carries its labels is garbage from now on. Idempotent."""
        if self._handle >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = -1


def lease_path(state: Path, lease_id: str) -> Path:
    return state / "leases" / f"{lease_id}.json"


def is_live(lease_id: str, *, state: Path | None = None) -> bool:
    """Whether the lease's file is there and somebody holds its lock."""
    try:
        file = lease_path(state or state_folder(), lease_id).open()
    except FileNotFoundError:
        return False
    with file:
        try:
            # Shared, so that two who look at the same time do not take each other for the owner.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@dataclass(frozen=True, slots=True)
class DeadLease:
    """What a killed owner left of its lease."""

    id: str
    run: str
    path: Path


def dead_leases(*, state: Path | None = None) -> list[DeadLease]:
    """The leases in the state folder whose lock nobody holds."""
    state = state or state_folder()
    return [
        DeadLease(path.stem, run, path)
        for path in sorted((state / "leases").glob("*.json"))
        if not is_live(path.stem, state=state) and (run := _run_of(path)) is not None
    ]


def remove_leavings(*, state: Path | None = None, dry_run: bool = False) -> list[Path]:
    """Remove the files that processes killed while they wrote them left in the state folder, and return them.

    With ``dry_run`` they are only looked for.
    """
    state = state or state_folder()
    return [path for folder in (state, *state.glob("*/")) for path in remove_abandoned(folder, dry_run=dry_run)]


def expired(labels: Mapping[str, str]) -> bool:
    """Whether a resource has outlived the lifetime it was made with."""
    expires = labels.get(EXPIRES_LABEL, "")
    return expires.isdecimal() and int(expires) < time.time()


def _run_of(path: Path) -> str | None:
    """The run of a lease; empty where a crash of the machine spoilt the file, None where it is gone by now."""
    try:
        run: str = json.loads(path.read_text())["run"]
    except FileNotFoundError:
        return None
    except ValueError:
        return ""
    return run


def _state_id(state: Path) -> str:
    """The state folder's own random name, made by whoever comes first."""
    path = state / "host-id"
    if not path.exists():
        with written_aside(state) as aside, suppress(FileExistsError):
            aside.file.write(uuid.uuid4().hex.encode() + b"\n")
            aside.take_free_place(path)  # it never replaces another process's choice
    return path.read_text().strip()


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except FileNotFoundError:
        return ""
