"""Keys that have been met: as many as there are, in the memory of a page cache."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Self

from trajectories.spooled_bytes import unusable_temporary_folder

_CACHE_KIB: Final = 8 * 1024


class KnownKeys:
    """Keys, and a value for each, in a database without a name that ends with this object.

    SQLite keeps what does not fit into its cache in the folder for temporary files. Methods raise ``StorageError``
    where that disk is full or fails.
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._close = weakref.finalize(self, self._database.close)
        # Nobody ever reads what a crash leaves of it.
        for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KIB}"):
            self._database.execute(f"PRAGMA {setting}")
        self._database.execute("CREATE TABLE known (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        self._database.execute("BEGIN")

    def add(self, key: bytes, value: bytes = b"") -> bytes | None:
        """Note a key; where it is known, nothing changes and its value is given."""
        with _usable():
            added = self._database.execute("INSERT OR IGNORE INTO known VALUES (?, ?)", (key, value)).rowcount
            if added:
                return None
            (known,) = self._database.execute("SELECT value FROM known WHERE key = ?", (key,)).fetchone()
        return bytes(known)

    def __contains__(self, key: bytes) -> bool:
        with _usable():
            return self._database.execute("SELECT 1 FROM known WHERE key = ?", (key,)).fetchone() is not None

    def close(self) -> None:
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


@contextmanager
def _usable() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise unusable_temporary_folder(error) from error
