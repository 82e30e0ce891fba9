"""Files on their way into a container: as a tar archive of paths that stay where they are told to."""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Mapping
from pathlib import PurePosixPath

from sandboxes.engines.base import Container
from sandboxes.errors import SandboxError
from trajectories import InputError

_TIMEOUT_S = 120.0


async def unpack_in(container: Container, files: Mapping[str, bytes], root: str) -> None:
    """What ``Container.write_files`` does, by the container's own tar."""
    archive = tar_archive(files)
    result = await container.exec(["tar", "-x", "-C", root], stdin=archive, timeout_s=_TIMEOUT_S)
    if result.exit_code != 0:
        reason = "it took too long" if result.timed_out else result.stderr.decode(errors="replace")
        raise SandboxError(f"files could not be written: {reason}", where=f"{container.id}:{root}")


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
    if not parts or parts[0] == "/" or ".." in parts:
        raise InputError(
            "a sandbox file must stay in its folder", where=repr(path), mend="give a relative path without '..'"
        )
    if "\0" in path or not _is_unicode(path):
        raise InputError("a file's name cannot be stored", where=repr(path), mend="give a name in plain text")
    return "/".join(parts)


def _is_unicode(text: str) -> bool:
    """A name of the host's that is not UTF-8 holds lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
