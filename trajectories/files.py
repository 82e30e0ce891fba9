"""Files appear whole or not at all: write aside, fsync, rename."""

from __future__ import annotations

import errno
import fcntl
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from trajectories.errors import StorageError

_FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def storage_errors(place: Path) -> Iterator[None]:
    """Turn what the operating system says about a disk into one line for a person."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StorageError("the disk is full", where=str(place), mend="free some space and run it again") from error
        raise StorageError(error.strerror or str(error), where=str(place)) from error


class AsideFile:
    """A file that is being written next to the place it will take; the writer's lock tells it from a dead one's."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path, self.file = path, file

    def take_place(self, target: Path, *, durable: bool = True) -> None:
        """Become ``target``, whole, in place of what was there; durable, unless a power cut makes it worthless."""
        self.file.flush()
        if durable:
            sync_file(self.file)
        self._path.replace(target)
        if durable:
            sync_folder(target.parent)

    def duplicate(self) -> int:
        """Another descriptor of the file, which keeps its lock beyond the block that wrote it."""
        return fcntl.fcntl(self.file.fileno(), fcntl.F_DUPFD_CLOEXEC, 0)

    def take_free_place(self, target: Path) -> None:
        """Become ``target``, whole and durable. Raises ``FileExistsError`` where there is one already."""
        sync_file(self.file)
        target.hardlink_to(self._path)
        self._path.unlink()
        sync_folder(target.parent)


@contextmanager
def written_aside(folder: Path) -> Iterator[AsideFile]:
    """A file in ``folder`` that leaves no trace unless it takes a place before the block ends."""
    make_folder(folder)
    path = folder / f".{uuid.uuid4().hex}.part"
    try:
        with _open_locked(path) as file:
            yield AsideFile(path, file)
    finally:
        path.unlink(missing_ok=True)


def _open_locked(path: Path) -> BinaryIO:
    while True:
        file = path.open("xb")
        fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():
            return file
        # Between the two calls it looked abandoned, and was removed.
        file.close()


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A binary file to write: it takes ``path``'s place when the block ends well, and leaves no trace if not.

    Raises ``StorageError`` where the disk is full or fails.
    """
    with storage_errors(path), written_aside(path.parent) as aside:
        yield aside.file
        aside.take_place(path)


def remove_abandoned(folder: Path, *, dry_run: bool = False) -> list[Path]:
    """Remove what writers that were killed left aside in ``folder``, and return it; a living writer's file stays.

    With ``dry_run`` it is only looked for.
    """
    abandoned = []
    for path in sorted(folder.glob(".*.part")):
        with locked_if_free(path) as file:
            if file is not None:
                abandoned.append(path)
                if not dry_run:
                    path.unlink(missing_ok=True)
    return abandoned


@contextmanager
def locked_if_free(path: Path) -> Iterator[BinaryIO | None]:
    """The file opened for update and locked, or None where a living process holds it or it is gone."""
    try:
        file = path.open("r+b")
    except FileNotFoundError:
        yield None
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield file


def append_durably(handle: int, size: int, data: bytes) -> None:
    """Add ``data`` to an open file of ``size`` bytes and have it on disk, or leave the file as it was."""
    try:
        written = 0
        while written < len(data):
            written += os.pwrite(handle, data[written:], size + written)
        os.fsync(handle)
    except BaseException:
        os.ftruncate(handle, size)
        raise


def make_folder(folder: Path) -> None:
    """Make a folder and what is above it, so that the names survive a power cut."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def missing_folders(folder: Path) -> list[Path]:
    """Of a folder and those above it, those that are not there, the innermost first."""
    return [each for each in (folder, *folder.parents) if not each.exists()]


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, the innermost first, up to one in which there is anything."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def sync_file(file: BinaryIO) -> None:
    """Have everything written so far on disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
