"""The end of an engine: of every container it has made."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from sandboxes.engines.base import Container


async def close_all(containers: Iterable[Container]) -> None:
    """Close each of them, also where another one cannot be closed; raise the first error once all are done."""
    outcomes = await asyncio.gather(*(container.close() for container in containers), return_exceptions=True)
    for outcome in outcomes:
        if outcome is not None:
            raise outcome
