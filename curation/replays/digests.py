"""What is read from the turns: digests of all of them, then the observations that replays have otherwise.

The digests are made piece by piece (`curation.pieces`), a row group in memory at a time. What a piece gives is a file
of its own, which appears whole or not at all and depends on nothing but the turns and the settings.
`curation.selected_rows` does the same for the observations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curation.passes import header_rows, row_groups
from curation.pieces import Piece
from curation.replays.shapes import shape
from curation.selected_rows import SelectedFiles
from curation.text_buffers import Ends
from trajectories.files import storage_errors, written_whole
from trajectories.part_files import PARQUET_OPTIONS

_DIGEST_BYTES = 16
_DIGEST = pa.binary(_DIGEST_BYTES)

_TURNS = pa.schema(
    [
        pa.field("trajectory_id", pa.string()),
        pa.field("turn", pa.int32()),
        pa.field("action", _DIGEST),
        pa.field("observation", _DIGEST),
        pa.field("num_bytes", pa.int64()),
    ]
)
_HEADERS = pa.schema(
    [
        pa.field("trajectory_id", pa.string()),
        pa.field("task_sha256", pa.string()),
        pa.field("initial_shape", _DIGEST),
        pa.field("started_at", pa.timestamp("us", tz="UTC")),
    ]
)


@dataclass(frozen=True, slots=True)
class DigestFiles:
    """What a piece is to the search; it depends on nothing else, and is kept."""

    turns: Path
    """A row a turn, in order: `_TURNS`, of which ``num_bytes`` is the size of the observation."""
    headers: Path
    """Of a part's first piece: a row a trajectory, `_HEADERS`."""

    @classmethod
    def of(cls, piece: Piece, cache: Path) -> DigestFiles:
        return cls(*(piece.file(cache, kind) for kind in ("turns", "headers")))

    def paths(self, piece: Piece) -> list[Path]:
        """Those that this piece has."""
        return [self.turns, self.headers] if piece.first == 0 else [self.turns]


def digest_pieces(dataset: Path, cache: Path, pieces: Sequence[Piece]) -> None:
    """Write the digests of every piece that has none yet.

    Args:
        dataset: the folder of the data set.
        cache: where the files of the pieces go.

    Raises:
        DamagedFileError: a row group cannot be read.
        StorageError: the disk is full or fails.
    """
    for piece in pieces:
        files = DigestFiles.of(piece, cache)
        if files.turns.exists():
            continue
        if piece.first == 0:
            _write(files.headers, _HEADERS, _headers(dataset, piece))
        groups = row_groups(dataset / "turns", piece, ("trajectory_id", "turn", "action", "observation"))
        _write(files.turns, _TURNS, map(_digested, groups))


def _write(path: Path, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    with storage_errors(path), written_whole(path) as file, pq.ParquetWriter(file, schema, **PARQUET_OPTIONS) as writer:
        for table in tables:
            writer.write_table(table)


def _headers(dataset: Path, piece: Piece) -> Iterator[pa.Table]:
    columns = ("trajectory_id", "task_sha256", "initial_state", "started_at")
    for rows in header_rows(dataset, piece, columns):
        shapes = [_digest(shape(decoded(text)).encode()) for text in _stored(rows["initial_state"])]
        named = {name: rows[name] for name in ("trajectory_id", "task_sha256", "started_at")}
        yield pa.table({**named, "initial_shape": pa.array(shapes, _DIGEST)}).select(_HEADERS.names).cast(_HEADERS)


def _digested(rows: pa.Table) -> pa.Table:
    actions, observations = _stored(rows["action"]), _stored(rows["observation"])
    columns = {
        "trajectory_id": rows["trajectory_id"],
        "turn": rows["turn"],
        "action": pa.array(map(_digest, actions), _DIGEST),
        "observation": pa.array(map(_digest, observations), _DIGEST),
        "num_bytes": pa.array(map(len, observations), pa.int64()),
    }
    return pa.table(columns, schema=_TURNS)


def _stored(column: pa.ChunkedArray) -> list[bytes]:
    """The bytes of a column's texts; what is missing is empty."""
    return [value or b"" for value in column.cast(pa.binary()).to_pylist()]


def _digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).digest()


def chained(state: bytes, turn: int, action: bytes) -> bytes:
    """The digest of all actions up to one, from that of those before it."""
    return _digest(b"%b%d:%b" % (state, turn, action))


def decoded(text: bytes) -> str:
    """A stored text; what is not UTF-8 in it has U+FFFD, as where it is packed, so that spans mean the same there."""
    return text.decode(errors="replace")


OBSERVATION = ("observation",)


def stored_observations(rows: pa.Table) -> list[bytes]:
    """The observations of a table of `OBSERVATION` as they are stored."""
    return _stored(rows["observation"])


def fetched(files: SelectedFiles, place: int) -> str:
    """The observation number ``place`` (from 0) of those that were fetched from a piece."""
    ends = _ends(files.sizes)
    start = int(ends[place - 1]) if place else 0
    with files.values.open("rb") as file:
        file.seek(start)
        return decoded(file.read(int(ends[place]) - start))


@lru_cache(maxsize=1000)
def _ends(sizes: Path) -> Ends:
    ends: Ends = np.cumsum(np.load(sizes))
    return ends
