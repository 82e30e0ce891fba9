"""Control groups, version 1 and 2: the limits that hold for a sandbox as a whole."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sandboxes.engines.base import Limits

_CONTROLLERS = ("memory", "pids", "cpu")
_CPU_PERIOD_US = 100_000
_PARENT = "worldtape"


@dataclass(frozen=True, slots=True)
class Mount:
    """Where this process may make groups: one folder a controller (version 1), or one for all (version 2)."""

    version: int
    folders: tuple[Path, ...]


def find_mount() -> Mount | None:
    """None where there are no control groups, or this user may make none."""
    mounts = [_mount_fields(line) for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    v1 = {name: path for path, kind, options in mounts if kind == "cgroup" for name in options if name in _CONTROLLERS}
    if len(v1) == len(_CONTROLLERS):
        folders = tuple(dict.fromkeys(v1[name] for name in _CONTROLLERS))
        return Mount(1, folders) if all(os.access(folder, os.W_OK) for folder in folders) else None
    roots = [path for path, kind, _ in mounts if kind == "cgroup2"]
    return _v2_mount(roots[0]) if roots else None


def group_folders(mount: Mount, name: str) -> tuple[Path, ...]:
    """The folders of the group ``name``, made or not."""
    return tuple(folder / _PARENT / name for folder in mount.folders)


class Cgroup:
    """One sandbox's group. Made with its limits set; processes are moved in by ``add``."""

    def __init__(self, mount: Mount, name: str) -> None:
        self.folders = group_folders(mount, name)
        self._version = mount.version

    def create(self, limits: Limits) -> None:
        """Raises ``OSError`` where a limit cannot be set."""
        for folder in self.folders:
            folder.mkdir(parents=True)
        settings = _v1_settings(limits) if self._version == 1 else _v2_settings(limits)
        if self._version == 2:
            _delegate(self.folders[0].parent)
        for file, value in settings.items():
            self._file(file).write_text(value)
        self._forbid_swap(limits)

    def add(self, pid: int) -> None:
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def oom_kills(self) -> int:
        file = self._file("memory.oom_control" if self._version == 1 else "memory.events")
        return next(int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith("oom_kill "))

    def _forbid_swap(self, limits: Limits) -> None:
        """Swap counts as memory. A kernel that does not account for it has no file for it, and may have no swap."""
        if self._version == 2:
            _write_if_there(self.folders[0] / "memory.swap.max", "0")
        elif not _write_if_there(
            self._file("memory.limit_in_bytes").with_name("memory.memsw.limit_in_bytes"), str(limits.memory_bytes)
        ):
            self._file("memory.swappiness").write_text("0")

    def _file(self, name: str) -> Path:
        return next(folder / name for folder in self.folders if (folder / name).exists())


def remove_group(folders: tuple[Path, ...]) -> bool:
    """Remove a group, but not the folder around it, where others may just be made. False while it has processes."""
    for folder in folders:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            return False
    return True


def members(folders: tuple[Path, ...]) -> set[int]:
    """The processes in a group."""
    files = [folder / "cgroup.procs" for folder in folders]
    return {int(pid) for file in files if file.exists() for pid in file.read_text().split()}


def _v1_settings(limits: Limits) -> dict[str, str]:
    return {
        "memory.limit_in_bytes": str(limits.memory_bytes),
        "pids.max": str(limits.num_processes),
        "cpu.cfs_period_us": str(_CPU_PERIOD_US),
        "cpu.cfs_quota_us": str(round(limits.num_cpus * _CPU_PERIOD_US)),
    }


def _v2_settings(limits: Limits) -> dict[str, str]:
    return {
        "memory.max": str(limits.memory_bytes),
        "pids.max": str(limits.num_processes),
        "cpu.max": f"{round(limits.num_cpus * _CPU_PERIOD_US)} {_CPU_PERIOD_US}",
    }


def _v2_mount(root: Path) -> Mount | None:
    """The outermost group above this process that it may divide: the root for root, else what was delegated to it."""
    own = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    group = root / own.lstrip("/")
    for folder in reversed([group, *(parent for parent in group.parents if parent.is_relative_to(root))]):
        controllers = folder / "cgroup.controllers"
        if not controllers.exists() or not os.access(folder / "cgroup.subtree_control", os.W_OK):
            continue
        if set(_CONTROLLERS) <= set(controllers.read_text().split()) and _delegate(folder):
            return Mount(2, (folder,))
    return None


def _delegate(folder: Path) -> bool:
    """Let the groups below have the controllers. False where processes in the folder itself stand in the way."""
    try:
        (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in _CONTROLLERS))
    except OSError:
        return False
    return True


def _write_if_there(file: Path, value: str) -> bool:
    if not file.exists():
        return False
    file.write_text(value)
    return True


def _mount_fields(line: str) -> tuple[Path, str, list[str]]:
    """Mount point, kind of file system and its own options, of a line of ``/proc/self/mountinfo``."""
    before, _, after = line.partition(" - ")
    kind, _, options = after.split(" ", 2)
    return Path(before.split()[4]), kind, options.split(",")
