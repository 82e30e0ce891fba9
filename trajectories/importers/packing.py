"""Files as what they hold: the compressions that sources come in, read as streams."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa

_BUFFER_BYTES: Final = 2**20
"""Large, because each read of a stream of Arrow's takes a while, however little it is for."""


def _zstd(path: Path) -> BinaryIO:
    # Unlike the bindings of zstandard, Arrow's stream does not take the end of a file that was cut for the end of it.
    return cast("BinaryIO", io.BufferedReader(pa.input_stream(str(path), compression="zstd"), _BUFFER_BYTES))


def _plain(path: Path) -> BinaryIO:
    return path.open("rb")


_OPENERS: Final[Mapping[str, Callable[[Path], Any]]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _zstd,
}
COMPRESSED: Final = tuple(_OPENERS)
"""How the name of a compressed file ends."""
DAMAGE: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading raises where a file cannot be read, or is not what its name says."""


def open_packed(path: Path, packing: str | None = None) -> BinaryIO:
    """A file to read, unpacked as the end of its name, or ``packing``, says. Reading raises what ``DAMAGE`` lists."""
    opener = _OPENERS.get(path.suffix.lower() if packing is None else packing, _plain)
    return cast("BinaryIO", opener(path))


def unpacked_name(name: str) -> str:
    """The name of a file without what says how it is compressed."""
    return next((name[: -len(end)] for end in COMPRESSED if name.lower().endswith(end)), name)
