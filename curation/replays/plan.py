"""Which turns are replays of which: recordings of one task in which the same has been done up to there.

They are found by digests alone, so that only what differs is read again: every turn of the data set is a few numbers
here, its texts stay where they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from curation.filters.domains import ENVIRONMENTS
from curation.pieces import Piece
from curation.replays.digests import DigestFiles, chained
from curation.selected_rows import SelectedRows
from trajectories.files import storage_errors, written_whole

PLACE = ("domain", "run", "trajectory_id")
_KIND = ("domain", "task_sha256", "initial_shape")
"""What recordings have in common that can be replays of each other at all."""

NO_TEXT = -1
"""The ``text`` of a turn that all its replays have alike: nobody needs to read it."""

_PLANNED = (
    "recording",
    *PLACE,
    "turn",
    "observation",
    "num_bytes",
    "piece",
    "row",
    "prefix",
)


@dataclass(frozen=True, slots=True)
class Group:
    """Rows ``first`` to ``end`` (excluded) of a plan: recordings that begin alike. ``num_bytes`` is what they say."""

    first: int
    end: int
    num_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Every turn that has a replay.

    The columns of ``turns``: ``group`` and ``same`` are the recordings that began with the same action, and that did
    the same up to here, each by its first ``recording``; these are numbered by when they began. ``text`` is the number
    of the observation among those that were fetched from piece number ``piece``; equal ones of one ``same`` have one.
    It is sorted by group, turn, same and recording.
    """

    turns: pl.DataFrame

    def groups(self) -> list[Group]:
        """The groups, in order."""
        sizes = self.turns.group_by("group", maintain_order=True).agg(pl.len(), pl.col("num_bytes").sum())
        ends = sizes["len"].cum_sum().to_list()
        return [
            Group(end - size, end, num_bytes)
            for end, size, num_bytes in zip(ends, sizes["len"], sizes["num_bytes"], strict=True)
        ]

    def save(self, path: Path) -> None:
        """Write it where every worker can read it."""
        with storage_errors(path), written_whole(path) as file:
            self.turns.write_parquet(file)


def make_plan(pieces: Sequence[Piece], cache: Path, without: Collection[str]) -> tuple[Plan, list[SelectedRows]]:
    """The plan of digested pieces, and the observations that it needs; recordings ``without`` take no part."""
    recordings = _recordings(pieces, cache, without)
    turns = _with_prefixes(_turns(pieces, cache, recordings), recordings)
    first = pl.col("recording").first()
    planned = (
        turns.with_columns(group=pl.col("prefix").first().over("recording"))
        .filter(pl.len().over("prefix") > 1)
        .with_columns(same=first.over("prefix"), group=first.over("group"))
        .with_columns(differs=pl.col("observation").n_unique().over("prefix") > 1)
    )
    wanted = _wanted(planned, pieces)
    return Plan(_with_texts(planned, wanted, pieces).sort("group", "turn", "same", "recording")), wanted


def _recordings(pieces: Sequence[Piece], cache: Path, without: Collection[str]) -> pl.DataFrame:
    """The recordings that are not the only one of their kind, numbered by when they began.

    Two texts of a collection have a request in common at most, and no world that could answer otherwise.
    """
    frames = [
        pl.scan_parquet(DigestFiles.of(piece, cache).headers, glob=False, hive_partitioning=False).with_columns(
            domain=pl.lit(piece.domain), run=pl.lit(piece.run)
        )
        for piece in pieces
        if piece.first == 0
    ]
    return (
        pl.concat(frames)
        .filter(pl.col("domain").is_in(list(ENVIRONMENTS)), ~pl.col("trajectory_id").is_in(list(without)))
        .filter(pl.len().over(_KIND) > 1)
        .sort("started_at", "trajectory_id", "domain", "run")
        .with_row_index("recording")
        .collect()
    )


def _turns(pieces: Sequence[Piece], cache: Path, recordings: pl.DataFrame) -> pl.DataFrame:
    """The turns of these recordings, in order, with the piece and the row where each lies."""
    named = recordings.lazy().select("recording", *PLACE)
    frames = [
        pl.scan_parquet(DigestFiles.of(piece, cache).turns, glob=False, hive_partitioning=False)
        .with_row_index("row")
        .with_columns(domain=pl.lit(piece.domain), run=pl.lit(piece.run), piece=pl.lit(number, pl.UInt32))
        .join(named, on=list(PLACE))
        for number, piece in enumerate(pieces)
    ]
    return pl.concat(frames).sort("recording", "turn").collect()


def _with_prefixes(turns: pl.DataFrame, recordings: pl.DataFrame) -> pl.DataFrame:
    """The turns with ``prefix``, a digest of what kind their recording is and of all its actions up to there."""
    kinds = [f"{domain}\0{task}\0".encode() + initial for domain, task, initial in recordings.select(_KIND).iter_rows()]

    def prefixes() -> Iterator[bytes]:
        state, before = b"", -1
        for recording, turn, action in turns.select("recording", "turn", "action").iter_rows():
            state = chained(state if recording == before else kinds[recording], turn, action)
            before = recording
            yield state

    return turns.with_columns(prefix=pl.Series(prefixes(), dtype=pl.Binary)).select(_PLANNED)


def _wanted(planned: pl.DataFrame, pieces: Sequence[Piece]) -> list[SelectedRows]:
    """Of the observations that replays have otherwise, the first of those that are equal, by piece."""
    needed = (
        planned.filter(pl.col("differs"))
        .unique(["prefix", "observation"], keep="first", maintain_order=True)
        .sort("piece", "row")
        .group_by("piece", maintain_order=True)
        .agg("row")
    )
    return [SelectedRows(pieces[piece], np.array(rows, np.int64)) for piece, rows in needed.iter_rows()]


def _with_texts(planned: pl.DataFrame, wanted: Sequence[SelectedRows], pieces: Sequence[Piece]) -> pl.DataFrame:
    """The turns with ``text``; ``piece`` becomes that of the text."""
    numbers = {piece: number for number, piece in enumerate(pieces)}
    texts = pl.concat(
        [
            pl.DataFrame(schema={"piece": pl.UInt32(), "row": pl.UInt32(), "text": pl.Int64()}),
            *(
                pl.DataFrame({"row": one.rows, "text": np.arange(one.rows.size)}).select(
                    pl.lit(numbers[one.piece], pl.UInt32).alias("piece"), pl.col("row").cast(pl.UInt32), "text"
                )
                for one in wanted
            ),
        ]
    )
    equal = ("prefix", "observation")
    with_first = planned.with_columns(pl.col("piece", "row").first().over(equal))
    return with_first.join(texts, on=["piece", "row"], how="left").with_columns(pl.col("text").fill_null(NO_TEXT))
