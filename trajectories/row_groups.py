"""Parquet files whose row groups are cut by bytes, so that writers and readers need one row group's memory."""

from __future__ import annotations

import hashlib
from types import TracebackType
from typing import BinaryIO, Final, Self

import pyarrow as pa
import pyarrow.parquet as pq

from trajectories.part_files import PARQUET_OPTIONS
from trajectories.rows import Row

ROW_GROUP_BYTES: Final = 64 * 2**20
_BATCH_BYTES: Final = 2**20
_FIXED_BYTES: Final = 128
"""What a row takes beside its texts, roughly."""
_TEXT_COLUMNS: Final = {"action", "action_json", "reasoning", "observation"}


CONTENT_SHA256: Final = "content_sha256"


class _Hashed:
    """A file that is written from its beginning on, as Arrow wants one, and the hash of what is in it."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        self._file.flush()


class RowGroupWriter:
    """Writes rows to a Parquet file; a row group ends as soon as it holds ``row_group_bytes`` of text.

    The same rows always make the same bytes. The footer has the SHA-256 of all that stands before it under
    `CONTENT_SHA256`, so that files of other rows have other footers.
    """

    def __init__(self, file: BinaryIO, schema: pa.Schema, *, row_group_bytes: int = ROW_GROUP_BYTES) -> None:
        self._schema = schema
        self._row_group_bytes = row_group_bytes
        self._rows: list[Row] = []
        self._batches: list[pa.RecordBatch] = []
        self._row_bytes = 0
        self._batch_bytes = 0
        keys = [name for name in schema.names if name not in _TEXT_COLUMNS]
        self._file = _Hashed(file)
        self._writer = pq.ParquetWriter(
            self._file,
            schema,
            use_dictionary=keys,
            write_statistics=keys,
            **PARQUET_OPTIONS,
        )

    def add(self, row: Row) -> None:
        self._rows.append(row)
        self._row_bytes += _FIXED_BYTES + sum(len(value.encode()) for value in row.values() if isinstance(value, str))
        if self._row_bytes >= min(_BATCH_BYTES, self._row_group_bytes - self._batch_bytes):
            self._end_batch()
        if self._batch_bytes >= self._row_group_bytes:
            self._end_row_group()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is left and the footer, unless the block has failed; the caller closes the file."""
        if error is None:
            self._end_batch()
            self._end_row_group()
            self._writer.add_key_value_metadata({CONTENT_SHA256: self._file.digest.hexdigest()})
            self._writer.close()
        # Else it would try to write the footer again when it is collected, into a closed file.
        self._writer.is_open = False

    def _end_batch(self) -> None:
        if self._rows:
            self._batches.append(pa.RecordBatch.from_pylist(self._rows, schema=self._schema))
            self._batch_bytes += self._row_bytes
            self._rows, self._row_bytes = [], 0

    def _end_row_group(self) -> None:
        if self._batches:
            table = pa.Table.from_batches(self._batches)
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))
            self._batches, self._batch_bytes = [], 0
