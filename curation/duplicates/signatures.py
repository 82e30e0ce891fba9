"""What is read from the turns: signatures of all of them, then the shingle sets of the candidates.

The signatures are made piece by piece (`curation.pieces`), a row group in memory at a time. What a piece gives is a
file of its own, which appears whole or not at all and depends on nothing but the turns and the settings.
`curation.selected_rows` does the same for the shingle sets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from curation.duplicates import kernel
from curation.ngrams import Hashes, texts_of
from curation.passes import row_groups
from curation.pieces import Piece
from curation.search_settings import DuplicateSettings
from curation.text_buffers import buffers_of, in_one_piece
from curation.words import lower_table
from trajectories.files import storage_errors, written_whole

_KEYS = ("turn", "started_at")
TEXTS = ("action", "observation")
_DIGEST_BYTES = 16
DIGEST = pa.binary(_DIGEST_BYTES)

_HASHES: Final[Mapping[str, Any]] = {
    "compression": "none",
    "use_dictionary": False,
    "write_statistics": False,
    "write_page_checksum": True,
}
"""How hashes are written. They have no pattern: looking for one costs more than signing."""
_Word = TypeVar("_Word", np.uint32, np.uint64)


@dataclass(frozen=True, slots=True)
class SignedFiles:
    """What the turns of a piece are to the search; it depends on them and the settings alone, and is kept."""

    signed: Path
    """A row a turn: its ``stretch``, the `_KEYS`, ``digest`` of its texts, whether it has words, and its bands' keys
    ``band_00`` …"""
    stretches: Path
    """A row a stretch, which is what a row group has of a trajectory: ``trajectory_id``, and the signature of its turns
    there, the entries of a band in a column: ``band_00`` … A turn's stretch is the number of the row."""

    @classmethod
    def of(cls, piece: Piece, cache: Path) -> SignedFiles:
        return cls(*(piece.file(cache, kind) for kind in ("signed", "stretches")))

    def paths(self) -> list[Path]:
        return [self.signed, self.stretches]


def band_name(band: int) -> str:
    """The column of a band's keys or entries."""
    return f"band_{band:02d}"


def sign_pieces(turns: Path, cache: Path, pieces: Sequence[Piece], settings: DuplicateSettings) -> None:
    """Write the signatures of every piece that has none yet.

    Args:
        turns: the folder of the turns parts.
        cache: where the files of the pieces go.

    Raises:
        DamagedFileError: a row group cannot be read.
        StorageError: the disk is full or fails.
    """
    size = settings.num_bands * settings.rows_per_band
    drawn = kernel.permutations(np.uint64(settings.seed), size)
    for piece in pieces:
        files = SignedFiles.of(piece, cache)
        if files.signed.exists():
            continue
        num_stretches = 0
        # The file named last takes its place first: a piece whose turns stand is done.
        with (
            storage_errors(files.signed),
            written_whole(files.signed) as signed_file,
            written_whole(files.stretches) as stretches_file,
            pq.ParquetWriter(signed_file, _turns_schema(settings.num_bands), **_HASHES) as signed_writer,
            pq.ParquetWriter(stretches_file, _stretches_schema(settings), **_HASHES) as stretches_writer,
        ):
            for rows in row_groups(turns, piece, ("trajectory_id", *_KEYS, *TEXTS)):
                of_turns, of_stretches = _sign_rows(rows, num_stretches, drawn, settings)
                signed_writer.write_table(of_turns)
                stretches_writer.write_table(of_stretches)
                num_stretches += of_stretches.num_rows


def _turns_schema(num_bands: int) -> pa.Schema:
    return pa.schema(
        [
            pa.field("stretch", pa.int32()),
            pa.field("turn", pa.int32()),
            pa.field("started_at", pa.timestamp("us", tz="UTC")),
            pa.field("digest", DIGEST),
            pa.field("has_words", pa.bool_()),
            *(pa.field(band_name(band), pa.uint64()) for band in range(num_bands)),
        ]
    )


def _stretches_schema(settings: DuplicateSettings) -> pa.Schema:
    entries = pa.binary(settings.rows_per_band * np.uint32().nbytes)
    bands = [pa.field(band_name(band), entries) for band in range(settings.num_bands)]
    return pa.schema([pa.field("trajectory_id", pa.string()), *bands])


def entries_column(entries: kernel.Half) -> pa.FixedSizeBinaryArray:
    """The entries of a band (stretches × rows of a band) as a column, which Parquet reads faster than one of lists."""
    kind = pa.binary(entries.shape[1] * entries.itemsize)
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(entries), [None, pa.py_buffer(entries.tobytes())])


def column_words(column: pa.ChunkedArray, kind: type[_Word]) -> NDArray[_Word]:
    """A column of binary values of one width, as words (rows × words of a row)."""
    width: int = column.type.byte_width // np.dtype(kind).itemsize
    return np.concatenate([np.empty((0, width), kind), *(_chunk_words(chunk, kind, width) for chunk in column.chunks)])


def _chunk_words(chunk: pa.FixedSizeBinaryArray, kind: type[_Word], width: int) -> NDArray[_Word]:
    words = np.frombuffer(chunk.buffers()[1], kind).reshape(-1, width)
    return words[chunk.offset : chunk.offset + len(chunk)]


def _sign_rows(
    rows: pa.Table, first_stretch: int, drawn: kernel.Half, settings: DuplicateSettings
) -> tuple[pa.Table, pa.Table]:
    """The rows of the turns' file and of the stretches' that a row group gives."""
    rows = rows.combine_chunks()
    signatures = np.empty((rows.num_rows, drawn.shape[1]), np.uint32)
    actions, observations = texts_of(rows["action"]), texts_of(rows["observation"])
    kernel.sign(actions, observations, lower_table(), settings.shingle_words, drawn, signatures)
    identities = in_one_piece(rows["trajectory_id"]).dictionary_encode()
    stretches = identities.indices.to_numpy()
    of_turns = {
        "stretch": stretches + np.int32(first_stretch),
        **{name: rows[name] for name in _KEYS},
        "digest": _digests(rows),
        "has_words": (signatures != kernel.NO_SHINGLE).any(axis=1),
        **{band_name(band): keys for band, keys in enumerate(kernel.band_keys(signatures, settings.rows_per_band))},
    }
    least = kernel.least_of_groups(stretches.astype(np.int64), signatures, len(identities.dictionary))
    entries = [entries_column(of_band) for of_band in np.split(least, settings.num_bands, axis=1)]
    return (
        pa.table(of_turns, schema=_turns_schema(settings.num_bands)),
        pa.table([identities.dictionary, *entries], schema=_stretches_schema(settings)),
    )


def _digests(rows: pa.Table) -> pa.Array:
    """A hash of the exact texts of each turn; a null is not an empty text."""
    digests = [_digest(*texts) for texts in zip(*(_bytes_of(rows[name]) for name in TEXTS), strict=True)]
    return pa.array(digests, DIGEST)


def _bytes_of(column: pa.ChunkedArray) -> Iterator[memoryview | None]:
    array = in_one_piece(column)
    texts = buffers_of(array)
    ends = texts.ends.tolist()
    every = memoryview(texts.text.data)
    for is_valid, start, end in zip(array.is_valid().to_pylist(), ends[:-1], ends[1:], strict=True):
        yield every[start:end] if is_valid else None


def _digest(*texts: memoryview | None) -> bytes:
    state = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for text in texts:
        if text is None:
            state.update(b"-")
        else:
            state.update(b"%d:" % len(text))
            state.update(text)
    return state.digest()


def digest_of(digests: bytes) -> bytes:
    """The digest of a trajectory from those of its turns, one after the other."""
    return hashlib.blake2b(digests, digest_size=_DIGEST_BYTES).digest()


def shingle_sets(settings: DuplicateSettings, rows: pa.Table) -> Iterator[bytes]:
    """The shingles of each turn of a table of `TEXTS`, sorted, 64 bits a shingle."""
    actions, observations = (texts_of(rows[name]) for name in TEXTS)
    for turn in range(rows.num_rows):
        found = kernel.shingles_of(turn, actions, observations, lower_table(), settings.shingle_words)
        yield sorted_set(found).tobytes()


def sorted_set(values: Hashes) -> Hashes:
    """The distinct values, sorted; of many thousand ones, faster than ``np.unique``."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if ordered.size else ordered
