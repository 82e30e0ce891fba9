"""Collections as Parquet files, some rows in memory at a time however large a row group is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from trajectories.importers.base import Problem, UnreadableError
from trajectories.importers.corpus.columns import Columns
from trajectories.importers.corpus.documents import Document
from trajectories.importers.corpus.plain_values import plain_row

_BATCH_BYTES: Final = 2**22
_MOST_ROWS: Final = 256
_BUFFER_BYTES: Final = 2**20
"""With a buffer Arrow reads a column page by page; without, a row group's whole column at once."""


def parquet_documents(path: Path, columns: Columns, collection: str) -> Iterator[Document | Problem]:
    """A document a row; a row that is none is a problem. Columns that are of no use are not even read.

    Raises ``UnreadableError`` where the file is no Parquet, or has no column of a text.
    """
    number = 0
    try:
        with pq.ParquetFile(path, buffer_size=_BUFFER_BYTES) as file:
            names = file.schema_arrow.names
            columns.check(names)
            used = columns.used(names)
            dropped = [f"row.{name}" for name in names if name not in used]
            for batch in file.iter_batches(batch_size=_rows_at_once(file.metadata), columns=used):
                for index in range(batch.num_rows):
                    number += 1
                    yield _document(batch, index, path, number, columns, collection, dropped)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        if number == 0:
            raise UnreadableError(f"the Parquet file cannot be read: {reason}", where=str(path)) from error
        yield Problem(str(path), number + 1, f"cannot be read from here on: {reason}")


def _document(
    batch: pa.RecordBatch,
    index: int,
    path: Path,
    number: int,
    columns: Columns,
    collection: str,
    dropped: Sequence[str],
) -> Document | Problem:
    try:
        row = {name: column[index].as_py() for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        document = columns.document(plain_row(row), str(path), number, collection)
    except UnreadableError as error:
        return Problem(str(path), number, str(error))
    except (ValueError, OverflowError) as error:  # Arrow does not look into strings, and has longer times than Python
        return Problem(str(path), number, f"a value cannot be read: {error}")
    for name in dropped:
        document.loss.drop(name)
    return document


def _rows_at_once(metadata: pq.FileMetaData) -> int:
    """So many that they come to a few MiB, if they are of the mean size."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    num_bytes = max(sum(int(group.total_byte_size) for group in groups), 1)
    return max(1, min(_MOST_ROWS, _BATCH_BYTES * int(metadata.num_rows) // num_bytes))
