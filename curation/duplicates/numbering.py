"""All texts of a data set, numbered in the order in which they survive, with what their signatures say.

In memory are the keys of every turn, a few numbers each, and one band at a time; the texts stay where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from curation.duplicates.kernel import NO_SHINGLE, Flags, Half, band_keys
from curation.duplicates.signatures import PieceFiles, band_name, digest_of, least_of_groups
from curation.ngrams import Ends, Hashes
from curation.passes import place_of
from curation.pieces import Piece
from curation.search_settings import DuplicateSettings

_TRAJECTORY = ["domain", "run", "trajectory_id"]


class Numbered(Protocol):
    """Texts by their number: turns, or whole trajectories."""

    @property
    def keys(self) -> pl.DataFrame:
        """A row a text: what names it, and ``digest``."""

    @property
    def eligible(self) -> Flags:
        """Whether a text has words and is the first of its exact copies."""

    @property
    def first_copies(self) -> Ends:
        """Of each text the first one that is equal to it."""

    def bands(self) -> Iterator[Hashes]:
        """The keys of all texts, band by band."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Every turn."""

    keys: pl.DataFrame
    eligible: Flags
    first_copies: Ends
    rows: Ends
    """The place of each turn among the rows of all pieces."""
    piece_ends: Ends
    """Where the rows of each piece begin, and the last ones end."""
    files: Sequence[PieceFiles]
    num_bands: int

    @classmethod
    def read(
        cls, pieces: Sequence[Piece], work: Path, settings: DuplicateSettings, without: Collection[str] = ()
    ) -> Turns:
        """Number the turns of signed pieces, but for those of the trajectories ``without``."""
        files = [PieceFiles.of(piece, work) for piece in pieces]
        columns = ["trajectory_id", "turn", "started_at", "digest", "has_words"]
        frames = [
            pl.scan_parquet(of_piece.turns, glob=False, hive_partitioning=False)
            .select(columns)
            .with_columns(domain=pl.lit(domain), run=pl.lit(run))
            for of_piece, (domain, run) in zip(files, map(place_of, pieces), strict=True)
        ]
        frame = pl.concat(frames).with_row_index("row").filter(~pl.col("trajectory_id").is_in(list(without))).collect()
        frame = frame.sort("started_at", "trajectory_id", "turn", "domain", "run")
        first_copies, eligible = _first_copies(frame)
        rows = frame["row"].to_numpy().astype(np.int64)
        keys = frame.select(*_TRAJECTORY, "turn", "started_at", "digest")
        piece_ends = np.cumsum([0, *(pq.read_metadata(of_piece.turns).num_rows for of_piece in files)])
        return cls(keys, eligible, first_copies, rows, piece_ends, files, settings.num_bands)

    def bands(self) -> Iterator[Hashes]:
        for band in range(self.num_bands):
            name = band_name(band)
            keys = [pq.read_table(files.turns, columns=[name])[name].to_numpy() for files in self.files]
            yield np.concatenate(keys)[self.rows]


@dataclass(frozen=True, slots=True)
class WholeTrajectories:
    """Every trajectory; its text is that of all its turns, and its shingles are theirs."""

    keys: pl.DataFrame
    eligible: Flags
    first_copies: Ends
    band_table: Hashes
    of_turns: Ends
    """The trajectory of each turn, by the numbers of both."""

    @classmethod
    def read(cls, turns: Turns, pieces: Sequence[Piece], settings: DuplicateSettings) -> WholeTrajectories:
        """Number the trajectories of signed pieces."""
        frame = (
            turns.keys.sort(*_TRAJECTORY, "turn")
            .group_by(_TRAJECTORY, maintain_order=True)
            .agg(pl.col("started_at").min(), pl.col("digest"))
            .sort("started_at", "trajectory_id", "domain", "run")
            .with_row_index("number")
        )
        digests = [digest_of(of_turns) for of_turns in frame["digest"].to_list()]
        frame = frame.with_columns(digest=pl.Series(digests, dtype=pl.Binary))
        signatures = _signatures(frame, turns.files, pieces, settings.num_bands * settings.rows_per_band)
        frame = frame.with_columns(has_words=(signatures != NO_SHINGLE).any(axis=1))
        first_copies, eligible = _first_copies(frame)
        return cls(
            frame.select(*_TRAJECTORY, "digest"),
            eligible,
            first_copies,
            band_keys(signatures, settings.rows_per_band),
            _numbers(frame, turns.keys.select(_TRAJECTORY)),
        )

    def bands(self) -> Iterator[Hashes]:
        yield from self.band_table


def _first_copies(frame: pl.DataFrame) -> tuple[Ends, Flags]:
    """The first copy of each row's text, by the rows' order; and which rows are one, and have words."""
    numbers = np.arange(frame.height)
    first_copies = frame.with_columns(place=numbers).select(pl.col("place").min().over("digest"))["place"].to_numpy()
    return first_copies, (first_copies == numbers) & frame["has_words"].to_numpy()


_NO_NUMBER = -1


def _numbers(frame: pl.DataFrame, named: pl.DataFrame) -> Ends:
    """The number in ``frame`` of each trajectory that is named; `_NO_NUMBER` of those that it has not."""
    joined = named.join(frame.select(*_TRAJECTORY, "number"), on=_TRAJECTORY, how="left", maintain_order="left")
    return joined["number"].cast(pl.Int64).fill_null(_NO_NUMBER).to_numpy()


def _signatures(frame: pl.DataFrame, files: Sequence[PieceFiles], pieces: Sequence[Piece], size: int) -> Half:
    """The signature of each trajectory of ``frame``, from those of its stretches in the pieces."""
    numbers, stretches = [], []
    for of_piece, (domain, run) in zip(files, map(place_of, pieces), strict=True):
        rows = pq.read_table(of_piece.trajectories)
        names = pl.DataFrame({"trajectory_id": rows["trajectory_id"]}, schema={"trajectory_id": pl.String})
        numbers.append(_numbers(frame, names.with_columns(domain=pl.lit(domain), run=pl.lit(run))))
        stretches.append(rows["signature"].combine_chunks().flatten().to_numpy().reshape(-1, size))
    of_stretches = np.concatenate(numbers)
    taking_part = of_stretches != _NO_NUMBER
    return least_of_groups(of_stretches[taking_part], np.concatenate(stretches)[taking_part])
