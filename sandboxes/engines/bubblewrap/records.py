"""A note on disk for each running sandbox, from which another process can remove it when this one is gone."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from sandboxes.engines.base import Resource
from sandboxes.engines.bubblewrap.cgroups import members, remove_group
from sandboxes.errors import SandboxError
from sandboxes.leases import BOOT_LABEL, Host
from trajectories.files import written_aside

KIND = "container"

_REMOVAL_DEADLINE_S = 5.0
_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Record:
    """What a sandbox consists of outside the process that made it. Written before any of it exists."""

    id: str
    labels: Mapping[str, str]
    cgroup: tuple[str, ...] = ()
    pid: int = 0
    """Of the sandbox's first process, as the host sees it; 0 until it runs."""
    started: int = 0
    """When that process started, in clock ticks since boot: tells it from a later one of the same number."""

    def with_process(self, pid: int) -> Record:
        return Record(self.id, self.labels, self.cgroup, pid, start_time(pid) or 0)

    def write(self, folder: Path) -> None:
        with written_aside(folder) as aside:
            aside.file.write(json.dumps(asdict(self)).encode())
            aside.take_place(_path(folder, self.id), durable=False)  # nothing a record names survives a power cut

    def resource(self) -> Resource:
        return Resource(kind=KIND, id=self.id, labels=self.labels)


def records(folder: Path) -> list[Record]:
    return [record for path in sorted(folder.glob("*.json")) if (record := _read(path)) is not None]


def remove_sandbox(folder: Path, sandbox_id: str) -> None:
    """End what a record names, wait until it is gone, and remove the record. Nothing to do where there is none."""
    record = _read(_path(folder, sandbox_id))
    if record is None:
        return
    groups = tuple(Path(group) for group in record.cgroup)
    deadline = time.monotonic() + _REMOVAL_DEADLINE_S
    is_of_this_boot = record.labels.get(BOOT_LABEL) == Host.current(folder.parent).boot
    while is_of_this_boot and (_is_running(record) or not remove_group(groups)):
        if time.monotonic() > deadline:
            raise SandboxError("a sandbox does not end", where=sandbox_id, mend=f"look at process {record.pid}")
        _end(record)
        for pid in members(groups):
            _kill(pid)
        time.sleep(_POLL_S)  # neither another's process nor a cgroup can be waited for
    _path(folder, sandbox_id).unlink(missing_ok=True)


def start_time(pid: int) -> int | None:
    """None where there is no such process, or only its remains."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else int(fields[19])


def _is_running(record: Record) -> bool:
    return bool(record.pid) and start_time(record.pid) == record.started


def _end(record: Record) -> None:
    with _process_handle(record.pid) as handle:
        # Checked under the handle: from here on the number cannot mean another process.
        if handle is not None and _is_running(record):
            signal.pidfd_send_signal(handle, signal.SIGKILL)


@contextmanager
def _process_handle(pid: int) -> Iterator[int | None]:
    try:
        handle = os.pidfd_open(pid)
    except OSError:  # there is none of that number
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _path(folder: Path, sandbox_id: str) -> Path:
    return folder / f"{sandbox_id}.json"


def _read(path: Path) -> Record | None:
    try:
        facts = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    return Record(**{**facts, "cgroup": tuple(facts["cgroup"])})
