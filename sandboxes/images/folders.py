"""Where built images lie, and where they are built: what a killed build left there is known by its lease."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from pathlib import Path
from typing import Final

import platformdirs

from sandboxes.leases import Host, Lease, is_live

SHARED_MEMORY: Final = Path("/dev/shm")

_SCRATCH: Final = "worldtape-build"
_SCRATCH_NAME: Final = re.compile(rf"{_SCRATCH}-(?P<host>[0-9a-f]{{16}})-(?P<lease>[0-9a-f]{{16}})-\w+")


def cache_folder() -> Path:
    """Where images lie: ``$WORLDTAPE_CACHE``, or the platform's folder for a user's cache."""
    return Path(os.environ.get("WORLDTAPE_CACHE") or platformdirs.user_cache_dir("worldtape"))


def images_folder() -> Path:
    """Where bubblewrap's images lie, unpacked."""
    return cache_folder() / "images"


def scratch_folder(lease: Lease, parent: Path | None = None) -> tempfile.TemporaryDirectory[str]:
    """A folder to build in, in ``parent`` (or where temporary files go), that goes at the end of its ``with`` block.

    Its name says who owns it: where the block never ends, ``abandoned_scratch`` knows it.
    """
    return tempfile.TemporaryDirectory(prefix=f"{_SCRATCH}-{lease.host.id}-{lease.id}-", dir=parent)


def abandoned_scratch(*, state: Path | None = None) -> list[Path]:
    """The folders of this host's builds whose lease is dead."""
    host = Host.current(state)
    found = [path for parent in _parents() for path in sorted(parent.glob(f"{_SCRATCH}-{host.id}-*"))]
    names = {path: _SCRATCH_NAME.fullmatch(path.name) for path in found if _is_our_folder(path)}
    return [path for path, name in names.items() if name is not None and not is_live(name["lease"], state=state)]


def _parents() -> list[Path]:
    """Everywhere that builds put their folders."""
    return sorted({images_folder(), SHARED_MEMORY, Path(tempfile.gettempdir())})


def _is_our_folder(path: Path) -> bool:
    """In a folder that all may write to, a name alone proves nothing."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()
