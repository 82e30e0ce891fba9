"""The rows of Parquet files as JSON values, some in memory at a time however large a row group is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, time
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.values import Object
from trajectories.model import JsonValue

TABLE: Final = ".parquet"
_BATCH_BYTES: Final = 2**22
_MOST_ROWS: Final = 256
_BUFFER_BYTES: Final = 2**20
"""With a buffer Arrow reads a column page by page; without, a row group's whole column at once."""
_UNREADABLE: Final = (pa.ArrowException, OSError, ValueError)


def column_names(path: Path) -> list[str]:
    """Raises ``UnreadableError`` where the file is no Parquet."""
    with _opened(path) as file:
        return list(file.schema_arrow.names)


def table_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[int, Object] | Problem]:
    """Number, from 1, and value of each row; a row that cannot be read is a problem.

    Args:
        columns: those to read; all unless given.

    Raises:
        UnreadableError: nothing of the file can be read.
    """
    number = 0
    with _opened(path) as file:
        try:
            for batch in file.iter_batches(batch_size=_rows_at_once(file.metadata), columns=columns):
                for index in range(batch.num_rows):
                    number += 1
                    yield _row(batch, index, path, number)
        except _UNREADABLE as error:
            if number == 0:
                raise _unreadable(error, path) from error
            yield Problem(str(path), number + 1, f"cannot be read from here on: {_first_line(error)}")


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    try:
        file = pq.ParquetFile(path, buffer_size=_BUFFER_BYTES)
    except _UNREADABLE as error:
        raise _unreadable(error, path) from error
    with file:
        yield file


def _unreadable(error: Exception, path: Path) -> UnreadableError:
    return UnreadableError(f"the Parquet file cannot be read: {_first_line(error)}", where=str(path))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _rows_at_once(metadata: pq.FileMetaData) -> int:
    """So many that they come to a few MiB, if they are of the mean size."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    num_bytes = max(sum(int(group.total_byte_size) for group in groups), 1)
    return max(1, min(_MOST_ROWS, _BATCH_BYTES * int(metadata.num_rows) // num_bytes))


def _row(batch: pa.RecordBatch, index: int, path: Path, number: int) -> tuple[int, Object] | Problem:
    try:
        columns = zip(batch.schema.names, batch.columns, strict=True)
        return number, plain_row({name: column[index].as_py() for name, column in columns})
    except UnreadableError as error:
        return Problem(str(path), number, error.what)
    except (ValueError, OverflowError) as error:  # Arrow does not look into strings, and has longer times than Python
        return Problem(str(path), number, f"a value cannot be read: {error}")


def plain_row(row: Mapping[str, object]) -> Object:
    """Values of a table as JSON has them: days and times in ISO 8601, bytes as text, all else as Python shows it.

    Empty fields of structs are left out: what is a struct in one row has the fields of all.

    Raises ``UnreadableError`` for bytes that are not UTF-8.
    """
    return {name: _plain(value, name) for name, value in row.items()}


def _plain(value: object, name: str) -> JsonValue:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, name) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_plain(item, name) for item in value]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise UnreadableError(f"'{name}' is not UTF-8: {error}") from error
    return str(value)
