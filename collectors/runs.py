"""What one run has done so far, and that only one process goes on with it."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from trajectories import DamagedFileError, Dataset, InputError, StorageError, WorldtapeError, compact, recover
from trajectories.files import make_folder


class RunBusyError(WorldtapeError):
    """Another process is collecting this run."""


@contextmanager
def exclusive_run(dataset: Dataset, run: str) -> Iterator[None]:
    """Be the only process that works on ``run``, until the end of the block or of the process, however it comes.

    Raises ``InputError`` for a name that cannot be a run's, :class:`RunBusyError` where another process has it.
    """
    folder = dataset.journal_folder(run)
    make_folder(folder.parent)
    # No run's name begins with a dot: beside the folder of a run 'x' there may be one of a run 'x.lock'.
    with folder.with_name(f".{run}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunBusyError(
                f"another process is collecting the run '{run}'",
                where=str(dataset.folder),
                mend="wait for it, or name another run",
            ) from None
        yield


def settle_run(dataset: Dataset, run: str) -> None:
    """Close what a dead process left open, and put every ended trajectory of the run into Parquet.

    Raises ``DamagedFileError`` or ``InputError``, once all the others are in Parquet, where a journal cannot be read.
    """
    try:
        recover(dataset, run)
    except (DamagedFileError, InputError):
        with suppress(DamagedFileError, InputError):  # of what the first error has named already
            compact(dataset, run)
        raise
    compact(dataset, run)


def require_space(dataset: Dataset, min_free_bytes: int) -> None:
    """Raises ``StorageError`` where the data set's file system has less room than that."""
    free = shutil.disk_usage(dataset.folder).free
    if free < min_free_bytes:
        raise StorageError(
            f"only {free / 2**20:.0f} MiB are free, and collecting needs {min_free_bytes / 2**20:.0f}",
            where=str(dataset.folder),
            mend="make room, then start the same run again",
        )
