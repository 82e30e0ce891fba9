"""The output of a command, kept up to a cap and counted to its end."""

from __future__ import annotations


class CappedOutput:
    """The first ``cap`` bytes of a stream of any length, and how long it really was."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._kept = bytearray()
        self.bytes_total = 0

    def add(self, data: bytes) -> None:
        self.bytes_total += len(data)
        self._kept += data[: max(0, self._cap - len(self._kept))]

    @property
    def kept(self) -> bytes:
        return bytes(self._kept)

    @property
    def truncated(self) -> bool:
        return self.bytes_total > len(self._kept)
