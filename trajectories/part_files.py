"""Reading the Parquet files of a store: their folders say domain and run, and damage is told with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import fsspec
import polars as pl
import pyarrow as pa
import pyarrow.dataset

from trajectories.errors import DamagedFileError

_HIVE: Final = {"domain": pl.String(), "run": pl.String()}
_HIVE_ARROW: Final = pa.schema([("domain", pa.string()), ("run", pa.string())])


def scan_parts(paths: Sequence[str], *, base: str, filesystem: fsspec.AbstractFileSystem | None = None) -> pl.LazyFrame:
    """The rows of parts below ``base``, with the columns ``domain`` and ``run`` of their folders, as strings.

    Args:
        paths: of the parts, ``base/domain=…/run=…/NAME.parquet``, all of one schema; at least one.
        filesystem: which the paths are of; this machine's own unless given.
    """
    # Polars would take a folder above the base whose name has a "=" for one more hive key.
    if filesystem is None and "=" not in base:
        return pl.scan_parquet(list(paths), glob=False, hive_schema=_HIVE, try_parse_hive_dates=False)
    files = pyarrow.dataset.dataset(
        list(paths),
        filesystem=filesystem,
        partitioning=pyarrow.dataset.partitioning(_HIVE_ARROW, flavor="hive"),
        partition_base_dir=base,
    )
    return pl.scan_pyarrow_dataset(files)


@contextmanager
def reading_part(path: str | Path, *, mend: str = "copy it again from its source") -> Iterator[None]:
    """Turn what Arrow and Polars say about a damaged part into one line that names it.

    Raises:
        DamagedFileError: the part is gone, or what is read inside is not Parquet.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise DamagedFileError("a part is missing", where=str(path), mend=mend) from error
    except (pa.ArrowInvalid, pl.exceptions.ComputeError, UnicodeDecodeError) as error:
        raise DamagedFileError("a part cannot be read", where=str(path), mend=mend) from error
    except OSError as error:
        # Arrow's own complaints about contents have no number; the operating system's are about the disk.
        if error.errno is not None:
            raise
        raise DamagedFileError("a part cannot be read", where=str(path), mend=mend) from error


def read_whole(path: str, *, base: str, filesystem: fsspec.AbstractFileSystem | None = None) -> None:
    """Read a part from beginning to end, a row group in memory at a time, as ``scan_parts`` does.

    Raises:
        DamagedFileError: that is not possible.
    """
    with reading_part(path):
        scan_parts([path], base=base, filesystem=filesystem).select(pl.all().hash().max()).collect(engine="streaming")
