"""All texts of a data set, numbered in the order in which they survive, with what their signatures say.

In memory are a few numbers a turn, the name and a few numbers a trajectory, and one band at a time; the texts stay
where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np
import polars as pl
import pyarrow as pa

from curation.duplicates.kernel import Flags, band_keys, least_of_groups
from curation.duplicates.signatures import SignedFiles, band_name, column_words, digest_of
from curation.ngrams import Hashes
from curation.pieces import Piece
from curation.search_settings import DuplicateSettings
from curation.text_buffers import Ends
from trajectories.model import FIRST_TIME
from trajectories.part_files import read_part, reading_part

_TRAJECTORY = ["trajectory_id", "domain", "run"]
_NOBODY = -1
_FIRST_TIME = int(FIRST_TIME.timestamp()) * 10**6
"""In the store's units."""
_LATEST = np.iinfo(np.int64).max
_DIGEST_WORDS = 2
"""A digest is two 64-bit words."""


class Numbered(Protocol):
    """Texts by their number: turns, or whole trajectories."""

    @property
    def digests(self) -> Hashes:
        """Of each text, two words: (texts, 2)."""

    @property
    def eligible(self) -> Flags:
        """Whether a text has words and is the first of its exact copies."""

    @property
    def first_copies(self) -> Ends:
        """Of each text the first one that is equal to it."""

    def names(self, numbers: Ends) -> pl.DataFrame:
        """What names the texts of these numbers, a row each."""

    def bands(self) -> Iterator[Hashes]:
        """The keys of all texts, band by band."""


@dataclass(frozen=True, slots=True)
class Stretches:
    """The trajectories that take part, and the stretches of them that were signed together."""

    names: pl.DataFrame
    """What names each trajectory, a row each; sorted by id, domain and run."""
    trajectories: Ends
    """The row in ``names`` of each stretch, piece by piece; `_NOBODY` where it takes no part."""
    ends: Ends
    """Where the stretches of each piece begin, and the last ones end."""

    @classmethod
    def read(cls, pieces: Sequence[Piece], files: Sequence[SignedFiles], without: Collection[str]) -> Self:
        """Those of signed pieces, but for the trajectories ``without``."""
        found = []
        for of_piece, piece in zip(files, pieces, strict=True):
            ids = pl.from_arrow(_read(of_piece.stretches, "trajectory_id"))
            assert isinstance(ids, pl.DataFrame)
            found.append(ids.with_columns(domain=pl.lit(piece.domain), run=pl.lit(piece.run)))
        every = pl.concat(found)
        names = every.filter(~pl.col("trajectory_id").is_in(list(without))).unique().sort(_TRAJECTORY)
        numbered = every.join(names.with_row_index("row"), on=_TRAJECTORY, how="left", maintain_order="left")
        trajectories = numbered["row"].cast(pl.Int64).fill_null(_NOBODY).to_numpy()
        return cls(names, trajectories, np.cumsum([0, *(frame.height for frame in found)]))


@dataclass(frozen=True, slots=True)
class SignedTurns:
    """Every turn of the trajectories that take part: the earliest first, and then by the trajectory's name."""

    stretches: Stretches
    trajectories: Ends
    """Of each turn, the row of its trajectory in the names."""
    places: Ends
    """Of each turn, its place in its trajectory, from 1."""
    started_at: Ends
    """Of each turn, in the store's units; one without a time comes after all that have one."""
    digests: Hashes
    has_words: Flags
    first_copies: Ends
    rows: Ends
    """Of each turn, its place among the rows of all pieces."""
    piece_ends: Ends
    """Where the rows of each piece begin, and the last ones end."""
    files: Sequence[SignedFiles]
    num_bands: int

    @classmethod
    def read(
        cls, pieces: Sequence[Piece], cache: Path, settings: DuplicateSettings, without: Collection[str] = ()
    ) -> Self:
        """Number the turns of signed pieces, but for those of the trajectories ``without``."""
        files = [SignedFiles.of(piece, cache) for piece in pieces]
        stretches = Stretches.read(pieces, files, without)
        signed = _Signed.read(files, stretches)
        rows = np.flatnonzero(signed.trajectories != _NOBODY)
        keys = (signed.places[rows], signed.trajectories[rows], signed.started_at[rows])
        rows = rows[np.lexsort(keys)]
        digests = signed.digests[rows]
        return cls(
            stretches=stretches,
            trajectories=signed.trajectories[rows],
            places=signed.places[rows],
            started_at=signed.started_at[rows],
            digests=digests,
            has_words=signed.has_words[rows],
            first_copies=_first_copies(digests),
            rows=rows,
            piece_ends=signed.piece_ends,
            files=files,
            num_bands=settings.num_bands,
        )

    @property
    def eligible(self) -> Flags:
        return _eligible(self.first_copies, self.has_words)

    def names(self, numbers: Ends) -> pl.DataFrame:
        return self.stretches.names[self.trajectories[numbers]].with_columns(turn=self.places[numbers])

    def bands(self) -> Iterator[Hashes]:
        for band in range(self.num_bands):
            name = band_name(band)
            keys = [_read(files.signed, name)[name].to_numpy() for files in self.files]
            yield np.concatenate(keys)[self.rows]


class _Signed(NamedTuple):
    """What stands in the files of the pieces, row by row."""

    trajectories: Ends
    places: Ends
    started_at: Ends
    digests: Hashes
    has_words: Flags
    piece_ends: Ends

    @classmethod
    def read(cls, files: Sequence[SignedFiles], stretches: Stretches) -> Self:
        columns = ("stretch", "turn", "started_at", "digest", "has_words")
        tables = [_read(of_piece.signed, *columns) for of_piece in files]
        of_pieces = zip(tables, stretches.ends[:-1], strict=True)
        every = pa.concat_tables(tables)
        started_at = every["started_at"].cast(pa.int64()).to_numpy()
        return cls(
            trajectories=stretches.trajectories[
                np.concatenate([table["stretch"].to_numpy() + k for table, k in of_pieces])
            ],
            places=every["turn"].to_numpy(),
            started_at=np.where(started_at < _FIRST_TIME, _LATEST, started_at),
            digests=column_words(every["digest"], np.uint64),
            has_words=every["has_words"].to_numpy(),
            piece_ends=np.cumsum([0, *(table.num_rows for table in tables)]),
        )


@dataclass(frozen=True, slots=True)
class WholeTrajectories:
    """Every trajectory, the earliest first; its text is that of all its turns, and its shingles are theirs."""

    stretches: Stretches
    rows: Ends
    """Of each trajectory, its row in the names."""
    digests: Hashes
    has_words: Flags
    first_copies: Ends
    of_turns: Ends
    """The trajectory of each turn, by the numbers of both."""
    files: Sequence[SignedFiles]
    settings: DuplicateSettings

    @classmethod
    def read(cls, turns: SignedTurns, settings: DuplicateSettings) -> Self:
        """Number the trajectories of the turns."""
        by_trajectory = np.lexsort((turns.places, turns.trajectories))
        starts = _starts(turns.trajectories[by_trajectory])
        rows = np.argsort(np.minimum.reduceat(turns.started_at[by_trajectory], starts), kind="stable")
        digests = _joined(turns.digests[by_trajectory], starts)[rows]
        return cls(
            stretches=turns.stretches,
            rows=rows,
            digests=digests,
            has_words=np.logical_or.reduceat(turns.has_words[by_trajectory], starts)[rows],
            first_copies=_first_copies(digests),
            of_turns=_inverse(rows)[turns.trajectories],
            files=turns.files,
            settings=settings,
        )

    @property
    def eligible(self) -> Flags:
        return _eligible(self.first_copies, self.has_words)

    def names(self, numbers: Ends) -> pl.DataFrame:
        return self.stretches.names[self.rows[numbers]]

    def bands(self) -> Iterator[Hashes]:
        numbers = self.stretches.trajectories.copy()
        numbers[numbers != _NOBODY] = _inverse(self.rows)[numbers[numbers != _NOBODY]]
        for band in range(self.settings.num_bands):
            name = band_name(band)
            every = pa.concat_tables([_read(files.stretches, name) for files in self.files])
            entries = least_of_groups(numbers, column_words(every[name], np.uint32), self.rows.size)
            yield band_keys(entries, self.settings.rows_per_band)[0]


def _read(path: Path, *columns: str) -> pa.Table:
    """Columns of a signed piece's file. Raises ``DamagedFileError`` where it is not as it was written."""
    with reading_part(path, mend="remove its folder and curate again"):
        return read_part(path, columns=columns)


def _starts(groups: Ends) -> Ends:
    """Where each group begins, of groups that are numbered from 0 and stand in order."""
    return np.flatnonzero(np.diff(groups, prepend=-1))


def _inverse(order: Ends) -> Ends:
    """Of each place, where ``order`` has it."""
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    return places


def _joined(digests: Hashes, starts: Ends) -> Hashes:
    """The digest of each trajectory from those of its turns, which stand together from each start on, in order."""
    bounds = np.append(starts, len(digests)).tolist()
    whole = b"".join(digest_of(digests[start:end].tobytes()) for start, end in pairwise(bounds))
    return np.frombuffer(whole, np.uint64).reshape(-1, _DIGEST_WORDS)


def _first_copies(digests: Hashes) -> Ends:
    """Of each text the least number of those that have its digest."""
    order = np.lexsort((digests[:, 0], digests[:, 1]))  # which is stable
    ordered = digests[order]
    is_first = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: order.size]
    first_copies = np.empty_like(order)
    first_copies[order] = order[is_first][np.cumsum(is_first) - 1]
    return first_copies


def _eligible(first_copies: Ends, has_words: Flags) -> Flags:
    eligible: Flags = (first_copies == np.arange(first_copies.size)) & has_words
    return eligible
