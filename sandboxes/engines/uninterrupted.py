"""Clean-ups that a cancellation does not cut short."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def uninterrupted(awaitable: Awaitable[T]) -> T:
    """Wait for the result, also when cancelled meanwhile; the cancellation is raised once the result is there."""
    future = asyncio.ensure_future(awaitable)
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        future.exception()  # seen: the cancellation is what the caller hears of
        raise cancelled
    return future.result()
