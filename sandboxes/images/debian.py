"""A Debian root file system without a registry: mmdebstrap, straight from Debian's archive."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from sandboxes.errors import SandboxError
from sandboxes.images.commands import check_free_space, run_tool
from sandboxes.images.definition import DEBIAN_SUITE
from sandboxes.images.folders import SHARED_MEMORY, scratch_folder
from sandboxes.leases import Lease

PYTHON_VERSION = "3.11"
"""Of Debian's ``python3`` in this suite."""

_SCRATCH_BYTES = 2 * 2**30
_UNWANTED = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")
_MEND = "run it as root with mmdebstrap installed (apt-get install mmdebstrap) and Debian's archive in reach"


def can_bootstrap() -> bool:
    """Whether mmdebstrap is installed and may run: as root, or with a range of user ids at hand."""
    if shutil.which("mmdebstrap") is None:
        return False
    return os.geteuid() == 0 or (shutil.which("newuidmap") is not None and Path("/etc/subuid").exists())


def bootstrap(tar: Path, lease: Lease, *, packages: Sequence[str] = (), hooks: Sequence[str] = ()) -> None:
    """Write a Debian root with ``packages`` to ``tar``. ``hooks`` are mmdebstrap customize hooks (``$1`` is the root).

    Takes 18–60 s on two cores. Raises ``SandboxError`` with mmdebstrap's own reason.
    """
    if not can_bootstrap():
        raise SandboxError("cannot make a Debian root file system", mend=_MEND)
    check_free_space(tar.parent, _SCRATCH_BYTES)
    with scratch_folder(lease, _place_to_work(tar.parent)) as scratch:
        Path(scratch).chmod(0o755)  # apt fetches as a user of its own
        run_tool(
            [
                *("mmdebstrap", "--quiet", "--variant=minbase", '--aptopt=Acquire::Languages "none"'),
                *('--aptopt=APT::Install-Recommends "false"',),
                *(f"--dpkgopt=path-exclude={pattern}" for pattern in _UNWANTED),
                *([f"--include={','.join(packages)}"] if packages else []),
                *(f"--customize-hook={hook}" for hook in hooks),
                *("--format=tar", DEBIAN_SUITE, str(tar)),
            ],
            env={**os.environ, "TMPDIR": scratch},
            purpose="make a Debian root file system",
            mend=_MEND,
        )


def _place_to_work(fallback: Path) -> Path:
    """Memory if there is plenty that may hold device files and programs: it is five times faster than a disk."""
    if SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > _SCRATCH_BYTES:
        forbids = os.statvfs(SHARED_MEMORY).f_flag & (os.ST_NODEV | os.ST_NOEXEC)
        if not forbids:
            return SHARED_MEMORY
    return fallback
