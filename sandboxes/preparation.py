"""What a task wants done in a fresh container before its sandbox starts: files, then shell commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandboxes.engines.base import Container, ExecResult
from sandboxes.errors import SandboxError

_TIMEOUT_S = 60.0
_OUTPUT_CAP = 64 * 2**10
_REASON_CHARACTERS = 300


async def prepare(container: Container, files: Mapping[str, bytes], commands: Sequence[str]) -> None:
    """Put ``files`` (relative path → content) into ``/workspace`` and run ``commands`` there, one after the other.

    Raises :class:`~trajectories.InputError` for a path that leaves the workspace, and
    :class:`~sandboxes.errors.SandboxError` for a command that fails or takes more than a minute.
    """
    if files:
        await container.write_files(files)
    for command in commands:
        result = await container.exec(
            ("bash", "-c", command), cwd="/workspace", timeout_s=_TIMEOUT_S, output_cap=_OUTPUT_CAP
        )
        if result.exit_code != 0:
            raise _failure(command, result)


def _failure(command: str, result: ExecResult) -> SandboxError:
    ended = "takes too long" if result.timed_out else f"failed with exit code {result.exit_code}"
    last_line = (result.stderr or result.stdout).decode(errors="replace").strip().rpartition("\n")[2]
    reason = f": {last_line[:_REASON_CHARACTERS]}" if last_line else ""
    return SandboxError(f"a set-up command {ended}{reason}", where=command.strip()[:_REASON_CHARACTERS])
