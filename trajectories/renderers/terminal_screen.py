"""``terminal-screen@1``: what a terminal shows after the bytes it was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from wasmtime import Trap

from trajectories.renderers.dialect import Dialect
from trajectories.renderers.emulator import Emulator

RENDERER: Final = "terminal-screen@1"

_SLICE_BYTES: Final = 2**16
_LARGEST: Final = 1000

_Picture = TypeVar("_Picture")


class Screen:
    """A terminal of ``rows`` × ``columns`` character cells (1 to 1000 each) that is fed bytes and read as text.

    It never raises for what it is fed: unknown sequences and bytes that are not UTF-8 are skipped, and where the
    emulator itself fails, the screen starts again blank, as after a reset. One thread at a time may use it. ``close``
    frees its memory (about 2 MiB) at once; without it, the garbage collector does.
    """

    def __init__(self, rows: int, columns: int) -> None:
        _check_size(rows, columns)
        self.rows, self.columns = rows, columns
        self._dialect = Dialect()
        self._emulator = Emulator(rows, columns)

    def feed(self, data: bytes) -> None:
        """Take output in, in chunks of any size, cut anywhere."""
        for start in range(0, len(data), _SLICE_BYTES):
            self._process(self._dialect.translate(data[start : start + _SLICE_BYTES]))

    def text(self) -> str:
        """The visible rows, joined by newlines; blanks at the ends of rows and empty rows at the end are left out.

        A wide character is itself, once; combining marks follow their letter; a row that continues the one above it
        is a row of its own.
        """
        rows = self._read(lambda emulator: emulator.rows_text(self.rows), blank="").split("\n")
        return "\n".join(row.rstrip(" ") for row in rows).rstrip("\n")

    def formatted(self) -> bytes:
        """Bytes that draw the same picture, with colours and cursor, on a fresh screen of this size."""
        return self._read(Emulator.formatted, blank=b"")

    def resize(self, rows: int, columns: int) -> None:
        """Change the size; what no longer fits is cut off."""
        _check_size(rows, columns)
        self.rows, self.columns = rows, columns
        try:
            self._emulator.resize(rows, columns)
        except Trap:
            self._start_again()

    def close(self) -> None:
        """Free the emulator. Idempotent; the screen cannot be used afterwards."""
        self._emulator.close()

    def _process(self, data: bytes) -> None:
        try:
            self._emulator.process(data)
        except Trap:
            self._start_again()

    def _read(self, read: Callable[[Emulator], _Picture], *, blank: _Picture) -> _Picture:
        try:
            return read(self._emulator)
        except Trap:
            self._start_again()
            return blank

    def _start_again(self) -> None:
        self._emulator.close()
        self._emulator = Emulator(self.rows, self.columns)


def _check_size(rows: int, columns: int) -> None:
    if not (1 <= rows <= _LARGEST and 1 <= columns <= _LARGEST):
        raise ValueError(f"a screen has 1 to {_LARGEST} rows and columns, not {rows} × {columns}")
