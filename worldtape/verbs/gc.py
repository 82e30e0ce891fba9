"""``worldtape gc``: remove what no live run owns."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from worldtape.console import note, show_json, show_table
from worldtape.extras import extra

if TYPE_CHECKING:
    from sandboxes.engines import Engine, Resource
    from sandboxes.leases import Lease

NAME = "gc"


@extra("collect")
def run(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """Remove what no live run of this machine owns, and nothing else: containers, networks, processes, leases, and what
    killed image builds and half-written files left.

    Example: worldtape gc --dry-run
    """
    removed = asyncio.run(_collect_garbage(dry_run))
    rows = [(resource.kind, resource.id, resource.labels.get("worldtape.run", "")) for resource in removed]
    if as_json:
        show_json([{"kind": kind, "id": name, "run": owner} for kind, name, owner in rows])
    elif rows:
        show_table("Would be removed" if dry_run else "Removed", ("kind", "id", "run"), rows)
    else:
        note("gc: nothing to remove")


async def _collect_garbage(dry_run: bool) -> list[Resource]:
    from sandboxes.gc import collect_garbage
    from sandboxes.leases import Lease

    with Lease.acquire("gc") as lease:
        engines = await _available_engines(lease)
        try:
            return await collect_garbage(engines, dry_run=dry_run)
        finally:
            for engine in engines:
                await engine.close()


async def _available_engines(lease: Lease) -> list[Engine]:
    """Both engines where both are here: a run may have used either."""
    from sandboxes.engines import open_engine
    from sandboxes.errors import EngineUnavailableError

    engines: list[Engine] = []
    for name in ("docker", "bubblewrap"):
        try:
            engines.append(await open_engine(name, lease))
        except EngineUnavailableError as error:
            note(f"gc: {name} is left out: {error.what}")
    return engines
