"""Folders appear whole or not at all: write aside, fsync, rename."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from trajectories.errors import InputError
from trajectories.files import make_folder, sync_folder

_ASIDE: Final = ".part"
_OLD: Final = ".old"


@contextmanager
def folder_written_whole(target: Path) -> Iterator[Path]:
    """An empty folder to fill: it takes ``target``'s place, with all that is in it on disk, when the block ends well.

    The folder that had the place is removed then. What a killed writer left is put in order first.

    Raises:
        InputError: another process is writing the same folder.
    """
    aside = target.with_name(f".{target.name}{_ASIDE}")
    make_folder(aside)
    lock = os.open(aside, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(lock, aside)
        _empty(aside)
        _put_back(target)
        try:
            yield aside
            _sync_all(aside)
            _take_place(aside, target)
        except BaseException:
            shutil.rmtree(aside)
            raise
    finally:
        os.close(lock)


def final_name(name: str) -> str:
    """The name that a folder has, or will have when it takes its place."""
    return name[1 : -len(_ASIDE)] if name.startswith(".") and name.endswith(_ASIDE) else name


def settle(target: Path) -> None:
    """Put in order what killed writers left; the caller sees to it that nobody is writing."""
    _put_back(target)
    shutil.rmtree(target.with_name(f".{target.name}{_ASIDE}"), ignore_errors=True)


def _lock(handle: int, folder: Path) -> None:
    busy = InputError("another process is writing this", where=str(folder), mend="wait for it, or choose another name")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise busy from None
    if not folder.exists() or not os.path.samestat(os.fstat(handle), folder.stat()):
        raise busy  # it was finished between opening and locking


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _sync_all(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir():
            sync_folder(path)
        else:
            with path.open("rb") as file:
                os.fsync(file.fileno())
    sync_folder(folder)


def _take_place(aside: Path, target: Path) -> None:
    old = _old(target)
    if target.exists():
        target.rename(old)
    aside.rename(target)
    sync_folder(target.parent)
    if old.exists():
        shutil.rmtree(old)


def _put_back(target: Path) -> None:
    """Undo, or finish, the exchange in which a writer was killed."""
    old = _old(target)
    if old.exists() and target.exists():
        shutil.rmtree(old)
    elif old.exists():
        old.rename(target)


def _old(target: Path) -> Path:
    return target.with_name(f".{target.name}{_OLD}")
