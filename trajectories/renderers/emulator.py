"""The terminal emulator itself: the vt100 crate, in a WebAssembly instance of its own for each screen."""

from __future__ import annotations

from typing import Final

import vt100wasm
from wasmtime import Config, Engine, Module

_NO_SCROLLBACK: Final = 0


def _do_without_signals() -> None:
    """Give vt100wasm an engine whose traps are errors and nothing else.

    In its own engine a trap is a SIGILL, to be caught by a handler. Where somebody has set another handler since
    (``faulthandler.enable()`` does), what a program prints could end the process.
    """
    config = Config()
    config.signals_based_traps = False
    vt100wasm._engine = Engine(config)
    vt100wasm._module = Module.from_file(vt100wasm._engine, str(vt100wasm._WASM_PATH))


# When imported, not when first needed: that may be in a fork, where the threads that compile the module are missing.
_do_without_signals()


class Emulator:
    """A thin wrapper around one instance. Every call may raise ``wasmtime.Trap``; the instance is lost then.

    ``vt100wasm.Screen`` is not used, because it shares one instance among all the screens of a thread: what makes the
    crate panic (a wide character cut in two by a resize, say) would take them all down, and an instance never gives
    memory back.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self._columns = columns
        self._runtime = vt100wasm._Runtime()
        self._handle: int = self._runtime.create(rows, columns, _NO_SCROLLBACK)

    def process(self, data: bytes) -> None:
        self._runtime.process(self._handle, data)

    def resize(self, rows: int, columns: int) -> None:
        self._columns = columns
        self._runtime.resize(self._handle, rows, columns)

    def rows_text(self, rows: int) -> str:
        """All visible rows, each on a line of its own.

        The crate joins a row that was continued with the next one. A copy that is one column wider has forgotten
        which rows were.
        """
        copy: int = self._runtime.restore(self._runtime.snapshot(self._handle))
        try:
            self._runtime.resize(copy, rows, self._columns + 1)
            text: str = self._runtime.screen_contents(copy)
        finally:
            self._runtime.destroy(copy)
        return text

    def formatted(self) -> bytes:
        picture: bytes = self._runtime.screen_contents_formatted(self._handle)
        return picture

    def close(self) -> None:
        self._runtime._store.close()
