"""Bytes that do not fit into memory: in files without a name, on whichever disk has the room."""

from __future__ import annotations

import io
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, Final

from trajectories.errors import StorageError
from trajectories.files import make_folder, missing_folders, remove_empty, storage_errors

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_READ_AT_ONCE: Final = 2**16
_FOLDER: Final[ContextVar[Path | None]] = ContextVar("folder of spooled bytes", default=None)


@contextmanager
def spooling_in(folder: Path) -> Iterator[None]:
    """A block in which files without a name lie on the disk of ``folder``, and not in the folder for temporary files,
    which often is in memory. The folder is made once it is needed, and removed if it was made and is empty at the end.
    """
    missing = missing_folders(folder)
    before = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(before)
        remove_empty(missing)


@contextmanager
def spool_folder() -> Iterator[Path | None]:
    """The folder for a file without a name, which exists; None stands for that for temporary files.

    Raises ``StorageError`` for what the operating system says of its disk inside the block.
    """
    folder = _FOLDER.get()
    with _errors_of_temporary_files() if folder is None else storage_errors(folder):
        if folder is not None:
            make_folder(folder)
        yield folder


@contextmanager
def _errors_of_temporary_files() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unusable_temporary_folder(error.strerror) from error


def unusable_temporary_folder(reason: object) -> StorageError:
    """What is said where files without a name find no room in the folder for temporary files."""
    return StorageError(
        f"the folder for temporary files cannot be used: {reason}", mend="free some space or set TMPDIR"
    )


class SpooledBytes:
    """Bytes that are added at the end and read anywhere: in memory while they are few, in a file without a name beyond.

    The file ends with this object. It has no buffer: what did not fit on the disk is not tried again when it is closed.

    Args:
        in_memory: how many bytes are held.

    Methods raise ``StorageError`` where the disk is full or fails; what was there before still is.
    """

    def __init__(self, in_memory: int) -> None:
        self._in_memory = in_memory
        self._file: io.FileIO | None = None
        self._num_in_file = 0
        self._latest = bytearray()
        """Those that are not in the file: they come after all that are."""
        self._is_closed = False

    def __len__(self) -> int:
        return self._num_in_file + len(self._latest)

    def append(self, data: bytes) -> None:
        self._check_open()
        if len(self._latest) + len(data) <= self._in_memory:
            self._latest += data
            return
        with spool_folder() as folder:
            if self._file is None:
                self._file = TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 (closed with this object)
                weakref.finalize(self, self._file.close)
            end = self._num_in_file
            for part in (self._latest, data):
                _write_whole(self._file.fileno(), part, end)
                end += len(part)
        self._num_in_file = end
        self._latest.clear()

    def read(self, begin: int, end: int) -> bytes:
        """Those from ``begin`` to before ``end``, or to the last."""
        self._check_open()
        in_file = self._num_in_file
        held = bytes(self._latest[max(0, begin - in_file) : max(0, end - in_file)])
        size = min(end, in_file) - begin
        if self._file is None or size <= 0:
            return held
        with spool_folder():
            # At a place of its own: whoever reads on somewhere else, or adds, is not disturbed.
            return os.pread(self._file.fileno(), size, begin) + held

    def reader(self, begin: int = 0) -> BinaryIO:
        """A file to read them from there on, as many as there are by then."""
        return io.BufferedReader(_Reader(self, begin), _READ_AT_ONCE)

    def close(self) -> None:
        self._is_closed = True
        self._latest.clear()
        if self._file is not None:
            self._file.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("these bytes were closed")


def _write_whole(handle: int, data: bytes | bytearray, place: int) -> None:
    """The operating system may take a part of what it is given, as at the end of a disk."""
    written = 0
    while written < len(data):
        written += os.pwrite(handle, memoryview(data)[written:], place + written)


class _Reader(io.RawIOBase):
    """Lends the bytes to the readers of the standard library."""

    def __init__(self, spooled: SpooledBytes, place: int) -> None:
        self._spooled, self._place = spooled, place

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        data = self._spooled.read(self._place, self._place + len(view))
        view[: len(data)] = data
        self._place += len(data)
        return len(data)
