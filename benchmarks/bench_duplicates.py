"""How fast duplicates are found on one core, beside datatrove's MinHash signatures of the same turns.

The texts are those of the statistics' benchmark, and of every tenth turn there is a copy with a line more.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature

from benchmarks.bench_statistics import sample_turns, speed
from benchmarks.datatrove_words import HASHES, Blanks
from benchmarks.table import Row, Table
from curation.duplicates import DuplicateSettings, find_duplicates, open_duplicates
from curation.duplicates.kernel import permutations, sign
from curation.ngrams import texts_of
from curation.passes import Workers
from curation.words import lower_table
from trajectories import Dataset
from trajectories.schemas import TRAJECTORIES, TURNS

_PEER_TURNS = 100
_TURNS_A_ROW_GROUP = 4000
_PASSES = 5
_PART = "domain=terminal/run=bench/part-0.parquet"


def run() -> Table:
    """Measure; takes some twenty seconds."""
    turns = _with_copies(sample_turns())
    some = turns.slice(0, _PEER_TURNS)
    settings = DuplicateSettings()
    size = settings.num_bands * settings.rows_per_band
    drawn = permutations(np.uint64(0), size)
    signatures = np.empty((turns.num_rows, size), np.uint32)

    def sign_all() -> None:
        actions, observations = texts_of(turns["action"]), texts_of(turns["observation"])
        sign(actions, observations, lower_table(), settings.shingle_words, drawn, signatures)

    sign_all()  # compiles, or loads what was compiled
    peer = speed(some, _datatrove(some), passes=1)
    signed = speed(turns, sign_all, passes=_PASSES)
    with TemporaryDirectory() as folder:
        search = _search(turns, Path(folder))
        search()
        searched = speed(turns, search, passes=_PASSES)
    rows = [
        Row("datatrove, 112 permutations, words split at blanks", (f"{peer:.2f}",), 1.0),
        Row(f"signatures of {size} permutations, from Arrow arrays", (f"{signed:.0f}",), signed / peer),
        Row("the whole search, from zstd Parquet to tables", (f"{searched:.0f}",), searched / peer),
    ]
    return Table("duplicates, one core", ("MB/s of text",), "datatrove", rows)


def _with_copies(turns: pa.Table) -> pa.Table:
    began = pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * turns.num_rows, pa.timestamp("us", tz="UTC"))
    turns = turns.append_column("started_at", began)
    copies = turns.take(pa.array(range(0, turns.num_rows, 10)))
    observations = [f"{text}\nand a line more" for text in copies["observation"].to_pylist()]
    names = [f"{name}-again" for name in copies["trajectory_id"].to_pylist()]
    copies = copies.set_column(3, "observation", pa.array(observations))
    return pa.concat_tables([turns, copies.set_column(0, "trajectory_id", pa.array(names))]).combine_chunks()


def _whole(turns: pa.Table) -> pa.Table:
    """The turns with all columns of the store."""
    nothing = {pa.string(): "", pa.bool_(): False}
    columns = [
        turns[field.name]
        if field.name in turns.column_names
        else pa.repeat(pa.scalar(nothing.get(field.type, 0), field.type), turns.num_rows)
        for field in TURNS
    ]
    return pa.table(columns, schema=TURNS)


def _datatrove(turns: pa.Table) -> Callable[[], object]:
    step = MinhashDedupSignature("unused", MinhashConfig(hash_config=HASHES), language=Blanks())
    texts = [f"{action}\n{observation}" for action, observation in zip(*_texts(turns), strict=True)]
    return lambda: [step.get_signature(step.get_shingles(text)) for text in texts]


def _texts(turns: pa.Table) -> tuple[list[str], list[str]]:
    return turns["action"].to_pylist(), turns["observation"].to_pylist()


def _search(turns: pa.Table, folder: Path) -> Callable[[], object]:
    """A run of the whole search over a data set of one part."""
    for table, rows in (("turns", _whole(turns)), ("trajectories", TRAJECTORIES.empty_table())):
        path = folder / table / _PART
        path.parent.mkdir(parents=True)
        pq.write_table(rows, path, compression="zstd", row_group_size=_TURNS_A_ROW_GROUP)
    dataset = Dataset(folder)

    def search_anew() -> None:
        rmtree(open_duplicates(dataset).folder, ignore_errors=True)
        find_duplicates(dataset, workers=Workers(number=1))

    return search_anew
