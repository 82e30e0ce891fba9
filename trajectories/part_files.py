"""How the Parquet files of a store are written and read: checksums find damage, and it is told with its place.

Every page that is written carries its CRC-32 (``PARQUET_OPTIONS``). Without it a flipped bit may well decode to another
text in silence: the frames of Zstandard in a Parquet file have no checksum of their own. ``open_part`` and what
stands on it compare it; Polars does not, so what ``scan_parts`` reads from this machine's own disk is taken as
it is. Pages of writers that wrote no checksum are read without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import fsspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from trajectories.errors import DamagedFileError

if TYPE_CHECKING:
    import pyarrow.dataset

PARQUET_OPTIONS: Final[Mapping[str, Any]] = {
    "compression": "zstd",
    "write_page_checksum": True,
    "write_page_index": True,
    # How many rows are written before it is asked whether a page is full. A reader has a page in memory as a whole, and
    # observations may be large.
    "write_batch_size": 8,
}
"""What every Parquet file of a data set is written with: ``pq.ParquetWriter(file, schema, **PARQUET_OPTIONS)``."""

DAMAGE: Final = (
    *(pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowKeyError, pa.ArrowIndexError),
    *(pl.exceptions.ComputeError, pl.exceptions.PanicException),
)
"""What is raised for a damaged part, beside an ``OSError`` without a number; a panic of Polars is no ``Exception``."""

_ROWS_AT_ONCE: Final = 1000
_HIVE: Final = {"domain": pl.String(), "run": pl.String()}
_HIVE_ARROW: Final = pa.schema([("domain", pa.string()), ("run", pa.string())])


def open_part(
    source: str | Path | BinaryIO, *, filesystem: fsspec.AbstractFileSystem | None = None, **options: Any
) -> pq.ParquetFile:
    """A Parquet file opened for reading, whose pages are compared with their checksums as they are read.

    ``options`` are those of ``pq.ParquetFile``. Damage shows as ``OSError`` and ``ArrowInvalid``: see ``reading_part``.
    """
    return pq.ParquetFile(source, filesystem=filesystem, page_checksum_verification=True, **options)


def part_batches(
    source: str | Path | BinaryIO,
    *,
    columns: Sequence[str] | None = None,
    filesystem: fsspec.AbstractFileSystem | None = None,
) -> Iterator[pa.RecordBatch]:
    """All rows of a part, at most 1,000 at a time, a row group in memory; damage shows as with ``open_part``."""
    with open_part(source, filesystem=filesystem) as part:
        num_rows = 0
        for batch in part.iter_batches(batch_size=_ROWS_AT_ONCE, columns=None if columns is None else list(columns)):
            num_rows += batch.num_rows
            yield batch
        _require_all_rows(num_rows, part)


def read_part(
    path: str | Path, *, columns: Sequence[str] | None = None, filesystem: fsspec.AbstractFileSystem | None = None
) -> pa.Table:
    """All rows of a part in memory, without the columns of its folders; damage shows as with ``open_part``."""
    with open_part(path, filesystem=filesystem) as part:
        table = part.read(columns=None if columns is None else list(columns))
        _require_all_rows(table.num_rows, part)
    return table


def is_readable(path: str | Path) -> bool:
    """Whether a part is there, and all of it is as it was written; its rows are in memory meanwhile."""
    try:
        with reading_part(path):
            read_part(path)
    except DamagedFileError:
        return False
    return True


def _require_all_rows(num_rows: int, part: pq.ParquetFile) -> None:
    """Arrow passes a page over whose header says that it holds no rows; headers have no checksum."""
    if num_rows != part.metadata.num_rows:
        raise pa.ArrowInvalid(f"{num_rows} of {part.metadata.num_rows} rows are there")


def parts_dataset(
    paths: Sequence[str], *, base: str, filesystem: fsspec.AbstractFileSystem | None = None
) -> pyarrow.dataset.Dataset:
    """Parts below ``base`` as one Arrow data set, whose pages are compared with their checksums as they are read.

    Args and columns as for ``scan_parts``.
    """
    import pyarrow.dataset  # here, for it loads pandas where that is installed

    compared = pyarrow.dataset.ParquetFragmentScanOptions(page_checksum_verification=True)
    return pyarrow.dataset.dataset(
        list(paths),
        format=pyarrow.dataset.ParquetFileFormat(default_fragment_scan_options=compared),
        filesystem=filesystem,
        partitioning=pyarrow.dataset.partitioning(_HIVE_ARROW, flavor="hive"),
        partition_base_dir=base,
    )


def scan_parts(paths: Sequence[str], *, base: str, filesystem: fsspec.AbstractFileSystem | None = None) -> pl.LazyFrame:
    """The rows of parts below ``base``, with the columns ``domain`` and ``run`` of their folders, as strings.

    Args:
        paths: of the parts, ``base/domain=…/run=…/NAME.parquet``, all of one schema; at least one.
        filesystem: which the paths are of; this machine's own unless given.

    Polars reads this machine's own files itself, in bounded memory, and compares no checksums.
    """
    # Polars would take a folder above the base whose name has a "=" for one more hive key.
    if filesystem is None and "=" not in base:
        return pl.scan_parquet(list(paths), glob=False, hive_schema=_HIVE, try_parse_hive_dates=False)
    return pl.scan_pyarrow_dataset(parts_dataset(paths, base=base, filesystem=filesystem))


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
    except (*DAMAGE, UnicodeDecodeError) as error:
        raise DamagedFileError("a part cannot be read", where=str(path), mend=mend) from error
    except OSError as error:
        # Arrow's own complaints about contents have no number; the operating system's are about the disk.
        if error.errno is not None:
            raise
        raise DamagedFileError("a part cannot be read", where=str(path), mend=mend) from error


def read_whole(path: str, *, base: str, filesystem: fsspec.AbstractFileSystem | None = None) -> None:
    """Read a part from beginning to end, a row group in memory at a time: its checksums, then as ``scan_parts`` does.

    Raises:
        DamagedFileError: that is not possible.
    """
    with reading_part(path):
        deque(part_batches(path, filesystem=filesystem), maxlen=0)
        scan_parts([path], base=base, filesystem=filesystem).select(pl.all().hash().max()).collect(engine="streaming")
