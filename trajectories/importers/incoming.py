"""Where sources that were fetched lie while they are read: a folder on the disk of the data set, and how much fits."""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trajectories.errors import StorageError
from trajectories.files import make_folder, missing_folders, remove_empty, storage_errors
from trajectories.importers.problems import UnreadableError

_PREFIX: Final = ".incoming-"
_SPARE_BYTES: Final = 2**26
"""Left free on the disk: the data set itself is still to be written."""
_LOOK_EVERY_BYTES: Final = 2**26


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one PATH may bring: more is refused, for a hostile archive or listing can name any amount."""

    num_files: int = 1_000_000
    """Files, folders and links together."""
    num_bytes: int = 256 * 2**30
    ratio: int = 200
    """Unpacked bytes for each byte of an archive, once they are more than ``free_bytes``."""
    free_bytes: int = 2**30


LIMITS: Final = Limits()


class Meter:
    """Counts what is put into a folder, and tells of it now and then.

    What is beyond the limits raises ``UnreadableError``.
    """

    def __init__(
        self,
        folder: Path,
        where: str,
        limits: Limits,
        *,
        packed_bytes: int | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._folder, self._where, self._limits, self._tell = folder, where, limits, tell
        self._bytes_of_this_archive = limits.num_bytes if packed_bytes is None else packed_bytes * limits.ratio
        self._num_files = self._num_bytes = self._looked_at = 0

    def add_file(self) -> None:
        self._num_files += 1
        if self._num_files > self._limits.num_files:
            raise UnreadableError(f"it holds more than {self._limits.num_files:,} files", where=self._where)

    def add_bytes(self, count: int) -> None:
        """Raises ``StorageError`` where the disk would be all but full."""
        self._num_bytes += count
        if self._num_bytes > self._limits.num_bytes:
            raise UnreadableError(f"it holds more than {self._limits.num_bytes / 2**30:g} GiB", where=self._where)
        if self._num_bytes > max(self._limits.free_bytes, self._bytes_of_this_archive):
            raise UnreadableError(
                f"an archive bomb: it unpacks to more than {self._limits.ratio} times its size",
                where=self._where,
                mend="unpack it yourself, if you trust it, and import the folder",
            )
        if self._num_bytes >= self._looked_at + _LOOK_EVERY_BYTES:
            self._looked_at = self._num_bytes
            self.check_room(0)
            if self._tell is not None:
                self._tell(f"{self._num_bytes / 2**20:,.0f} MiB of {self._where}")

    def check_room(self, count: int) -> None:
        """Raises ``StorageError`` where ``count`` bytes more would leave too little."""
        if shutil.disk_usage(self._folder).free < count + _SPARE_BYTES:
            raise StorageError(
                "there is no room on the disk of the data set for what is fetched",
                where=self._where,
                mend="free some space and run it again",
            )


@contextmanager
def temporary_folder(dataset: Path) -> Iterator[Path]:
    """An empty folder in that of the data set, which is made where it is missing; both leave no trace.

    What importers that were killed left behind is removed first.

    Raises ``StorageError`` where the disk is full or fails.
    """
    missing = missing_folders(dataset)
    with storage_errors(dataset):
        make_folder(dataset)
        _remove_abandoned(dataset)
        folder, handle = _made_locked(dataset)
    try:
        yield folder
    finally:
        with storage_errors(dataset):
            shutil.rmtree(folder)
        os.close(handle)
        remove_empty(missing)


def _made_locked(dataset: Path) -> tuple[Path, int]:
    while True:
        folder = dataset / f"{_PREFIX}{uuid.uuid4().hex}"
        folder.mkdir()
        with suppress(FileNotFoundError):  # until it is locked it looks abandoned, and may be removed
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if folder.exists():
                return folder, handle
            os.close(handle)


def _remove_abandoned(dataset: Path) -> None:
    for folder in dataset.glob(f"{_PREFIX}*"):
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(handle)
