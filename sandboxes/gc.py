"""Removes what killed processes left behind: everything of ours that no live lease owns, and nothing else."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sandboxes.engines.base import Engine, Resource
from sandboxes.errors import SandboxError
from sandboxes.images.folders import abandoned_scratch
from sandboxes.leases import (
    BOOT_LABEL,
    HOST_LABEL,
    LEASE_LABEL,
    RUN_LABEL,
    Host,
    dead_leases,
    expired,
    is_live,
    remove_leavings,
)


async def collect_garbage(
    engines: Iterable[Engine], *, dry_run: bool = False, state: Path | None = None
) -> list[Resource]:
    """Remove the garbage of this host from the engines, then the leases that owned it, and what it was working on.

    Args:
        engines: where to look.
        dry_run: change nothing.
        state: the state folder (default: this user's).

    Returns what was removed, or would be. Raises ``SandboxError``, once all else is removed, where something cannot be.
    """
    host = Host.current(state)
    garbage = [
        (engine, resource)
        for engine in engines
        for resource in await engine.owned()
        if is_garbage(resource.labels, host, state=state)
    ]
    leases = dead_leases(state=state)
    leavings = remove_leavings(state=state, dry_run=dry_run)
    scratch = abandoned_scratch(state=state)
    if not dry_run:
        await _remove_all(garbage)
        for lease in leases:
            lease.path.unlink(missing_ok=True)
        for folder in scratch:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    return [
        *(resource for _, resource in garbage),
        *(
            Resource(kind="lease", id=lease.id, labels={RUN_LABEL: lease.run, LEASE_LABEL: lease.id})
            for lease in leases
        ),
        *(Resource(kind="file", id=str(path), labels={}) for path in leavings),
        *(Resource(kind="folder", id=str(path), labels={}) for path in scratch),
    ]


def is_garbage(labels: Mapping[str, str], host: Host, *, state: Path | None = None) -> bool:
    """Whether this host made it and nobody owns it any more: outlived, of an earlier boot, or of a dead lease."""
    if labels.get(HOST_LABEL) != host.id:
        return False
    return (
        expired(labels) or labels.get(BOOT_LABEL) != host.boot or not is_live(labels.get(LEASE_LABEL, ""), state=state)
    )


async def _remove_all(garbage: Sequence[tuple[Engine, Resource]]) -> None:
    """What cannot be removed keeps nothing else from being so."""
    failures = []
    for engine, resource in garbage:
        try:
            await engine.remove(resource)
        except SandboxError as error:
            failures.append(error)
    if failures:
        raise SandboxError(
            f"{len(failures)} of {len(garbage)} resources could not be removed, the first because: {failures[0]}"
        )
