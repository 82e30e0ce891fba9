"""Run the host's own tools for a build, with their last words as the error."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sandboxes.errors import SandboxError

_CLEAN_UP_S = 10.0


def run_tool(
    command: Sequence[str],
    *,
    purpose: str,
    mend: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 900.0,
) -> None:
    """Run ``command`` to its end; where that is missing, failing or hanging, raise a ``SandboxError`` of one line.

    Given up, for whatever reason, it is ended with all that it has started.
    """
    try:
        tool = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise SandboxError(f"cannot {purpose}: {command[0]} is not installed", mend=mend) from None
    with tool:
        try:
            output, errors = tool.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            raise SandboxError(f"cannot {purpose}: {command[0]} took more than {timeout_s:.0f} s", mend=mend) from None
        finally:
            _end_session(tool)
    if tool.returncode:
        raise SandboxError(f"cannot {purpose}: {_reason(errors or output, tool.returncode)}", mend=mend)


def check_free_space(folder: Path, needed_bytes: int) -> None:
    """Refuse to begin what would fill the disk. ``folder`` need not exist yet."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < needed_bytes:
        raise SandboxError(
            f"only {free / 2**30:.1f} GiB of disk are free, the build needs {needed_bytes / 2**30:.1f}",
            where=str(folder),
            mend="free some space, or set WORLDTAPE_CACHE to a folder on another disk",
        )


def _end_session(tool: subprocess.Popen[str]) -> None:
    """End a tool that still runs with everything in its session; asked first, mmdebstrap takes its mounts away."""
    if tool.poll() is not None:
        return
    os.killpg(tool.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        tool.wait(_CLEAN_UP_S)
    with suppress(ProcessLookupError):
        os.killpg(tool.pid, signal.SIGKILL)


def _reason(said: str, exit_code: int) -> str:
    """The first line that calls itself an error, else the last one."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    marked = [line for line in lines if line.lower().startswith(("e:", "err", "npm err", "fatal"))]
    return (marked or lines[-1:] or [f"exit code {exit_code}"])[0]
