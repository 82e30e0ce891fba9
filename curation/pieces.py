"""The units of every pass over the turns: pieces of turns parts.

A piece is a range of row groups of one turns part. What is made of it is a file of its own, which appears whole or not
at all and depends on nothing but the part and the settings, so it does not matter who makes it, when, or how often.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from trajectories.errors import InputError
from trajectories.part_files import reading_part

TEXT_COLUMNS = ("trajectory_id", "turn", "action", "observation")
"""The columns of a turn that make up the size of a piece."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Row groups ``first`` to ``end`` (excluded) of a turns part.

    ``part`` is the part's path below ``turns/``; ``num_bytes`` the size of the texts, uncompressed.
    """

    part: str
    first: int
    end: int
    num_bytes: int

    @property
    def domain(self) -> str:
        return self.part.split("/")[0].removeprefix("domain=")

    @property
    def file_name(self) -> str:
        return f"{self.part}.{self.first:06d}-{self.end:06d}"


def cut(turns: Path, part: str, piece_bytes: int) -> list[Piece]:
    """The pieces of a part: as few row groups as make up ``piece_bytes`` each. An empty part is one empty piece.

    Raises:
        DamagedFileError: the part is not a Parquet file.
        InputError: it has not the columns of turns.
    """
    sizes = _group_sizes(turns / part)
    pieces = []
    first = 0
    for end in range(1, len(sizes) + 1):
        num_bytes = sum(sizes[first:end])
        if num_bytes >= piece_bytes or end == len(sizes):
            pieces.append(Piece(part, first, end, num_bytes))
            first = end
    return pieces or [Piece(part, 0, 0, 0)]


def _group_sizes(path: Path) -> list[int]:
    """Uncompressed bytes of the texts, by row group."""
    with reading_part(path):
        metadata = pq.read_metadata(path)
    names = metadata.schema.names
    missing = set(TEXT_COLUMNS) - set(names)
    if missing:
        raise InputError(f"a turns part lacks {', '.join(sorted(missing))}", where=str(path))
    columns = [names.index(name) for name in TEXT_COLUMNS]
    return [
        sum(metadata.row_group(group).column(column).total_uncompressed_size for column in columns)
        for group in range(metadata.num_row_groups)
    ]
