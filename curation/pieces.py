"""The units of every pass over the turns: pieces of turns parts.

A piece is a range of row groups of one turns part. What is made of it is a file of its own, which appears whole or not
at all and depends on nothing but the part and the settings, so it does not matter who makes it, when, or how often.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from trajectories.part_files import read_part, reading_part

TEXT_COLUMNS = ("trajectory_id", "turn", "action", "observation")
"""The columns of a turn that make up the size of a piece."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Row groups ``first`` to ``end`` (excluded) of a turns part.

    ``part`` is the part's path below ``turns/``; ``num_bytes`` the size of the texts, uncompressed; ``digest`` is
    `part_digest` of the part.
    """

    part: str
    first: int
    end: int
    num_bytes: int
    digest: str = ""

    @property
    def domain(self) -> str:
        return place_of_part(self.part)[0]

    @property
    def run(self) -> str:
        return place_of_part(self.part)[1]

    @property
    def file_name(self) -> str:
        return f"{self.part}.{self.digest}.{self.first:06d}-{self.end:06d}"

    def file(self, folder: Path, kind: str) -> Path:
        """One of several files in a folder that are made of it."""
        return folder / f"{self.file_name}.{kind}"


def place_of_part(part: str) -> tuple[str, str]:
    """Domain and run of a part, by its path below the folder of its table."""
    domain, run, _ = part.split("/")
    return domain.removeprefix("domain="), run.removeprefix("run=")


def cut(turns: Path, part: str, piece_bytes: int) -> list[Piece]:
    """The pieces of a part: as few row groups as make up ``piece_bytes`` each. An empty part is one empty piece.

    Raises:
        DamagedFileError: the part is not a Parquet file.
    """
    sizes = _group_sizes(turns / part)
    digest = part_digest(turns, part)
    pieces = []
    first, num_bytes = 0, 0
    for end, size in enumerate(sizes, start=1):
        num_bytes += size
        if num_bytes >= piece_bytes or end == len(sizes):
            pieces.append(Piece(part, first, end, num_bytes, digest))
            first, num_bytes = end, 0
    return pieces or [Piece(part, 0, 0, 0, digest)]


def part_digest(turns: Path, part: str) -> str:
    """16 hexadecimal digits that change where a turns part, or that of its trajectories, is another.

    They are of the two footers, which hold the hash of all that stands before them (`trajectories.row_groups`).
    Footers that other programs wrote have no hash, but the place, the size and the least and the greatest value of
    every page, which differ for nearly any other content. A byte that was changed within a page does not show.

    Args:
        turns: the folder of the turns parts; that of the trajectories parts is beside it.
        part: the path of both parts below their folders.

    Raises:
        DamagedFileError: one of them is not a Parquet file.
    """
    footers = (_footer(turns / part), _footer(turns.parent / "trajectories" / part))
    return hashlib.sha256(b"".join(footers)).hexdigest()[:16]


def _footer(path: Path) -> bytes:
    """The length of a Parquet file, and its footer."""
    with reading_part(path), path.open("rb") as file:
        if path.stat().st_size < _FOOTER_END.size:
            raise pa.ArrowInvalid("there is no footer")
        file.seek(-_FOOTER_END.size, os.SEEK_END)
        (num_bytes,) = _FOOTER_END.unpack(file.read())
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - _FOOTER_END.size - num_bytes))
        return f"{end} ".encode() + file.read()


_FOOTER_END = struct.Struct("<I4x")
"""The length of the footer before it, and the file's magic number."""


def _group_sizes(path: Path) -> list[int]:
    """Uncompressed bytes of the texts, by row group."""
    with reading_part(path):
        metadata = pq.read_metadata(path)
    names = metadata.schema.names
    columns = [names.index(name) for name in TEXT_COLUMNS]
    return [
        sum(metadata.row_group(group).column(column).total_uncompressed_size for column in columns)
        for group in range(metadata.num_row_groups)
    ]


def contents_of(pieces: Iterable[Piece]) -> list[tuple[str, str]]:
    """What a pass over pieces depends on: the parts by name, sorted, each with its `part_digest`."""
    return sorted({(piece.part, piece.digest) for piece in pieces})


def trajectory_ids(trajectories: Path) -> list[str]:
    """The ids of a trajectories part.

    Raises:
        DamagedFileError: it cannot be read.
    """
    with reading_part(trajectories):
        ids: list[str] = read_part(trajectories, columns=["trajectory_id"])["trajectory_id"].to_pylist()
    return ids
