"""What is read a second time of the turns: of some rows of each piece, which depend on all other pieces.

It is made piece by piece (`curation.pieces`), a row group in memory at a time; no other search has use for it. What a
piece gives are files of its own, which appear whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from curation.passes import row_groups
from curation.pieces import Piece
from curation.text_buffers import Ends
from trajectories.files import storage_errors, written_whole


@dataclass(frozen=True, slots=True)
class SelectedRows:
    """The rows of a piece that are selected, by their place in it, ascending."""

    piece: Piece
    rows: Ends


@dataclass(frozen=True, slots=True)
class SelectedFiles:
    """What was made of the selected rows of a piece."""

    values: Path
    """A value a row, as bytes, one after the other."""
    sizes: Path
    """How many bytes each of them has, as NumPy saves it."""

    @classmethod
    def of(cls, piece: Piece, work: Path) -> SelectedFiles:
        return cls(*(piece.file(work, kind) for kind in ("values", "sizes")))


def write_selected(
    turns: Path,
    work: Path,
    columns: Sequence[str],
    values: Callable[[pa.Table], Iterable[bytes]],
    tasks: Sequence[SelectedRows],
) -> None:
    """Write the values of the selected rows of every piece that has none yet.

    Args:
        turns: the folder of the turns parts.
        work: where the files of the pieces go.
        columns: those that the values are made of.
        values: makes those of a table's rows, one each, in order.

    Raises:
        DamagedFileError: a row group cannot be read.
        StorageError: the disk is full or fails.
    """
    for selected in tasks:
        files = SelectedFiles.of(selected.piece, work)
        if files.values.exists():
            continue
        # The file named last takes its place first: a piece whose values stand is done.
        with (
            storage_errors(files.values),
            written_whole(files.values) as values_file,
            written_whole(files.sizes) as sizes_file,
        ):
            tables = _selected(turns, selected, columns)
            sizes = [values_file.write(value) for rows in tables for value in values(rows)]
            np.save(sizes_file, np.array(sizes, np.int64))


def _selected(turns: Path, selected: SelectedRows, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The selected rows of each row group."""
    start = 0
    for rows in row_groups(turns, selected.piece, columns):
        first, end = np.searchsorted(selected.rows, [start, start + rows.num_rows])
        yield rows.take(pa.array(selected.rows[first:end] - start))
        start += rows.num_rows
