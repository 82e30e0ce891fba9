"""The daemon's way of sending stdout and stderr through one connection: frames with an 8-byte header."""

from __future__ import annotations

import asyncio
from enum import IntEnum
from typing import NamedTuple

_HEADER_BYTES = 8
_MAX_READ_BYTES = 2**16


class Channel(IntEnum):
    STDIN = 0
    STDOUT = 1
    STDERR = 2


class Frame(NamedTuple):
    channel: Channel
    data: bytes


class FrameReader:
    """Frames, or the parts of large ones, as they come. A cancelled ``next`` loses nothing."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._channel = Channel.STDOUT
        self._left = 0

    async def next(self) -> Frame | None:
        """None where the connection has ended."""
        try:
            while self._left == 0:
                header = await self._reader.readexactly(_HEADER_BYTES)
                self._channel, self._left = Channel(header[0]), int.from_bytes(header[4:], "big")
            data = await self._reader.read(min(self._left, _MAX_READ_BYTES))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        self._left -= len(data)
        return Frame(self._channel, data) if data else None
