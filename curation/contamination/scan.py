"""What of the benchmarks is in a data set: in the pieces of its turns, and in the headers of its trajectories."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from curation.contamination import kernel
from curation.contamination.index import NgramIndex
from curation.contamination.layout import as_laid_out
from curation.contamination.table import HITS
from curation.ngrams import texts_of
from curation.passes import texts_to_search
from curation.pieces import Piece
from curation.search_settings import ContaminationSettings
from curation.text_buffers import Ends, Texts
from curation.words import lower_table
from trajectories.files import storage_errors, written_whole
from trajectories.part_files import PARQUET_OPTIONS


class Field(StrEnum):
    """A column that is searched: of the turns, or of the header of a trajectory, which counts as its turn 0."""

    ACTION = "action"
    OBSERVATION = "observation"
    INSTRUCTION = "instruction"
    TASK_DESCRIPTION = "task_description"
    INITIAL_STATE = "initial_state"
    DEMONSTRATIONS = "demonstrations"


_OF_TURNS = (Field.ACTION, Field.OBSERVATION)
_OF_HEADERS = tuple(field for field in Field if field not in _OF_TURNS)


@functools.lru_cache(maxsize=1)
def _loaded(path: Path) -> tuple[NgramIndex, kernel.Lookup]:
    """An index, read once by each process."""
    index = NgramIndex.load(path)
    return index, index.lookup()


def scan_pieces(
    dataset: Path, cache: Path, index_path: Path, pieces: Sequence[Piece], settings: ContaminationSettings
) -> None:
    """Write the hits of every piece that has none yet, one row group in memory at a time.

    The first piece of a part searches the headers of its trajectories too.

    Args:
        dataset: the folder of the data set.
        cache: where the hits go, each under its piece's file name.
        index_path: a saved `NgramIndex`.

    Raises:
        DamagedFileError: a row group cannot be read.
        StorageError: the disk is full or fails.
    """
    index, lookup = _loaded(index_path)
    for piece in pieces:
        path = cache / piece.file_name
        if path.exists():
            continue
        tables = texts_to_search(dataset, piece, of_headers=_OF_HEADERS, of_turns=_OF_TURNS)
        found = [HITS.empty_table()]  # a part may have no row at all
        for rows in tables:
            hits = _hits(rows, index, lookup, settings).with_columns(domain=pl.lit(piece.domain), run=pl.lit(piece.run))
            found.append(hits.select(HITS.names).to_arrow().cast(HITS))
        with storage_errors(path), written_whole(path) as file:
            pq.write_table(pa.concat_tables(found), file, **PARQUET_OPTIONS)


def _hits(rows: pa.Table, index: NgramIndex, lookup: kernel.Lookup, settings: ContaminationSettings) -> pl.DataFrame:
    """The hits in the fields that a table has, without domain and run."""
    fields = [field for field in Field if field in rows.column_names]
    found = [hits_of(rows[field], index, lookup, settings).with_columns(field=pl.lit(field.value)) for field in fields]
    hits = pl.concat(found)
    places = hits["row"].to_numpy()
    named = {name: pl.Series(rows[name].take(places)) for name in ("trajectory_id", "turn")}
    return hits.with_columns(**named)


def hits_of(
    column: pa.ChunkedArray, index: NgramIndex, lookup: kernel.Lookup, settings: ContaminationSettings
) -> pl.DataFrame:
    """A row for each text of a column and item of a benchmark that it holds, in the reading that has more of it."""
    texts = texts_of(column)
    found = [_hits_of(read, index, lookup, settings) for read in (texts, as_laid_out(texts))]
    fullest = pl.concat(found).sort("num_ngrams", descending=True, maintain_order=True)
    return fullest.unique(["row", "source", "item"], keep="first", maintain_order=True)


def _hits_of(texts: Texts, index: NgramIndex, lookup: kernel.Lookup, settings: ContaminationSettings) -> pl.DataFrame:
    num_ngrams = np.zeros(texts.ends.size - 1, np.int64)
    matches = kernel.match(texts, lower_table(), settings.ngram_words, lookup, num_ngrams)
    by_group = _by_group(matches, index)
    found = _enough(by_group, index, settings)
    by_item = by_group.filter(pl.col("group") == pl.col("item")).join(found, on=["row", "item"], how="semi")
    hits = (
        by_item.group_by("row", "item")
        .agg(pl.col("ngram").n_unique().alias("num_ngrams"), num_places=pl.len())
        .join(_longest_runs(by_item), on=["row", "item"])
    )
    rows, items = hits["row"].to_numpy(), hits["item"].to_numpy()
    return hits.with_columns(
        item_share=hits["num_ngrams"].to_numpy() / index.sizes[items],
        text_share=hits["num_places"].to_numpy() / num_ngrams[rows],
        longest_run=pl.col("longest_run") + settings.ngram_words - 1,
        source=pl.Series([index.sources[item] for item in items], dtype=pl.String),
        item=pl.Series([index.names[item] for item in items], dtype=pl.String),
    )


def _by_group(matches: Ends, index: NgramIndex) -> pl.DataFrame:
    """A row for each match and group that has its n-gram."""
    ngrams = matches[:, kernel.NGRAM]
    starts = index.starts[ngrams]
    counts = index.starts[ngrams + 1] - starts
    repeated = np.repeat(np.arange(ngrams.size), counts)
    within = np.arange(repeated.size) - np.repeat(np.cumsum(counts) - counts, counts)
    groups = index.postings[starts[repeated] + within]
    return pl.DataFrame(
        {
            "row": matches[repeated, kernel.ROW],
            "position": matches[repeated, kernel.POSITION],
            "ngram": ngrams[repeated],
            "group": groups,
            "item": index.items[groups],
        }
    )


def _enough(by_group: pl.DataFrame, index: NgramIndex, settings: ContaminationSettings) -> pl.DataFrame:
    """Each text and item of which it has enough: a number of n-grams, or a share of those of a group that is a text."""
    counted = by_group.group_by("row", "item", "group").agg(pl.col("ngram").n_unique().alias("num_ngrams"))
    share = counted["num_ngrams"].to_numpy() / index.sizes[counted["group"].to_numpy()]
    is_share = (pl.col("group") != pl.col("item")) & (pl.lit(pl.Series(share)) >= settings.min_share)
    return counted.filter((pl.col("num_ngrams") >= settings.min_ngrams) | is_share).select("row", "item").unique()


def _longest_runs(by_item: pl.DataFrame) -> pl.DataFrame:
    """The most n-grams in a row that each text has of each item."""
    texts = ["row", "item"]
    # Along a run, position and rank grow together.
    rank = pl.int_range(pl.len()).over(texts, order_by="position")
    runs = by_item.with_columns(run=pl.col("position") - rank).group_by(*texts, "run").agg(longest_run=pl.len())
    return runs.group_by(texts).agg(pl.col("longest_run").max().cast(pl.Int64))
