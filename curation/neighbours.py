"""Row groups of a turns part, each with a look at the turns just before and just after it.

A trajectory may go over the ends of row groups. What is seen of its neighbours depends on the part alone, and so not
on how the work on it is cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.keys import require_keys
from trajectories.part_files import open_part, reading_part

_ROWS_AT_ONCE = 512
_BYTES_AT_ONCE = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of row group ``group`` of ``part``, which is open."""

    part: pq.ParquetFile
    path: Path
    group: int
    rows: pa.Table

    def last_before(self, columns: Sequence[str]) -> pa.Table:
        """The last turn of the row group before, as a table of one row; of none, where this is the first.

        Raises:
            DamagedFileError: it cannot be read.
        """
        if self.group == 0:
            return self.rows.slice(0, 0).select(columns)
        before = read_row_group(self.part, self.path, self.group - 1, columns)
        return before.slice(max(0, len(before) - 1))

    def first_after(self, columns: Sequence[str]) -> pa.Table:
        """The first turn of the next row group, as a table of one row; of none, where this is the last.

        Raises:
            DamagedFileError: it cannot be read.
        """
        nothing = self.rows.slice(0, 0).select(columns)
        if self.group + 1 == self.part.num_row_groups:
            return nothing
        with reading_part(self.path):
            batches = self.part.iter_batches(batch_size=1, row_groups=[self.group + 1], columns=list(columns))
            first = next(batches, None)
        return nothing if first is None else pa.Table.from_batches([first]).select(columns)


def turns_by_row_group(path: Path, first: int, end: int, columns: Sequence[str]) -> Iterator[Turns]:
    """Row groups ``first`` to ``end`` (excluded) of a turns part, one in memory at a time.

    Raises:
        DamagedFileError: one cannot be read, or holds turns that cannot be told apart.
    """
    with opened_part(path) as part:
        for group in range(first, end):
            rows = read_row_group(part, path, group, columns)
            require_keys(rows, path)
            yield Turns(part, path, group, rows)
            del rows  # or two row groups would be in memory while the next one is read


@contextmanager
def opened_part(path: Path) -> Iterator[pq.ParquetFile]:
    """A part to read row groups of.

    Raises:
        DamagedFileError: it is not a Parquet file.
    """
    with reading_part(path):
        part = open_part(path)
    with part:
        yield part


def read_row_group(part: pq.ParquetFile, path: Path, group: int, columns: Sequence[str]) -> pa.Table:
    """Columns of one row group, in the order they are named.

    In chunks of some rows: what Arrow reads in one piece grows by doubling, and takes several times its memory.

    Raises:
        DamagedFileError: it cannot be read.
    """
    schema = pa.schema([part.schema_arrow.field(name) for name in columns])
    with reading_part(path):
        batches = part.iter_batches(
            batch_size=_rows_at_once(part, group, columns), row_groups=[group], columns=list(columns)
        )
        rows = pa.Table.from_batches([batch.select(list(columns)) for batch in batches], schema=schema)
        if rows.num_rows != part.metadata.row_group(group).num_rows:
            raise pa.ArrowInvalid("rows of a row group are missing")
    return rows


def _rows_at_once(part: pq.ParquetFile, group: int, columns: Sequence[str]) -> int:
    """So many rows that they have `_BYTES_AT_ONCE` if all are alike, and at most `_ROWS_AT_ONCE`."""
    facts = part.metadata.row_group(group)
    named = (facts.column(number) for number in range(facts.num_columns))
    num_bytes: int = sum(column.total_uncompressed_size for column in named if column.path_in_schema in columns)
    num_rows: int = facts.num_rows
    return max(1, min(_ROWS_AT_ONCE, num_rows * _BYTES_AT_ONCE // max(num_bytes, 1)))
