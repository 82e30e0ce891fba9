"""Files on their way into a container: a tar archive of paths that stay where they are told to."""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Mapping
from pathlib import PurePosixPath

from trajectories import InputError


def tar_archive(files: Mapping[str, bytes]) -> bytes:
    """An archive of files (relative path → content), readable by all.

    Raises ``InputError`` for a path that is absolute, empty or goes up.
    """
    buffer = io.BytesIO()
    now = int(time.time())
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(checked_path(path))
            member.size, member.mode, member.mtime = len(content), 0o644, now
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def checked_path(path: str) -> str:
    """The same path, normalised; ``InputError`` where it would leave the folder it is relative to."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in path:
        raise InputError(
            "a sandbox file must stay in its folder", where=repr(path), mend="give a relative path without '..'"
        )
    return "/".join(parts)
