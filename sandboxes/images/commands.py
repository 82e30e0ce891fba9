"""Run the host's own tools for a build, with their last words as the error."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandboxes.errors import SandboxError


def run_tool(
    command: Sequence[str],
    *,
    purpose: str,
    mend: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 900.0,
) -> None:
    """Run ``command`` to its end; where that is missing, failing or hanging, raise a ``SandboxError`` of one line."""
    try:
        subprocess.run(command, cwd=cwd, env=env, timeout=timeout_s, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise SandboxError(f"cannot {purpose}: {command[0]} is not installed", mend=mend) from None
    except subprocess.TimeoutExpired:
        raise SandboxError(f"cannot {purpose}: {command[0]} took more than {timeout_s:.0f} s", mend=mend) from None
    except subprocess.CalledProcessError as error:
        raise SandboxError(f"cannot {purpose}: {_reason(error)}", mend=mend) from None


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


def _reason(error: subprocess.CalledProcessError) -> str:
    """The first line that calls itself an error, else the last one."""
    lines = [line.strip() for line in (error.stderr or error.stdout or "").splitlines() if line.strip()]
    marked = [line for line in lines if line.lower().startswith(("e:", "err", "npm err", "fatal"))]
    return (marked or lines[-1:] or [f"exit code {error.returncode}"])[0]
