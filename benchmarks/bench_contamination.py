"""How fast turns are searched for benchmark items on one core, beside datatrove's decontamination filter on the same.

The texts are those of the statistics' benchmark: Python's own library. The benchmark to find is other code of it, and
every hundredth turn quotes an item.
"""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from datatrove.data import Document
from datatrove.pipeline.decont.n_grams import NGramsDecontConfig, NGramsDecontFilter
from datatrove.utils.text import ngrams, simplify_text

from benchmarks.bench_statistics import sample_turns, speed
from benchmarks.datatrove_words import HASHES, Blanks
from benchmarks.table import Row, Table
from curation.contamination import BenchmarkItem, ContaminationSettings
from curation.contamination.index import build_index
from curation.contamination.scan import hits_of, scan_pieces
from curation.pieces import cut
from trajectories.schemas import TRAJECTORIES

_NUM_ITEMS = 2000
_PEER_TURNS = 200
_TURNS_A_ROW_GROUP = 4000
_PASSES = 5
_PART = "domain=terminal/run=bench/part-0.parquet"


def run() -> Table:
    """Measure; takes some twenty seconds."""
    items = _items()
    turns = _quoting(sample_turns(), items)
    some = turns.slice(0, _PEER_TURNS)
    settings = ContaminationSettings()
    index, _ = build_index(items, settings)
    lookup = index.lookup()

    def search() -> None:
        for name in ("action", "observation"):
            hits_of(turns[name], index, lookup, settings)

    search()  # compiles, or loads what was compiled
    peer = speed(some, _datatrove(some, items, settings.ngram_words), passes=1)
    fast = speed(turns, search, passes=_PASSES)
    with TemporaryDirectory() as folder:
        index.save(Path(folder) / "index.npz")
        scanned = speed(turns, _scanning(turns, Path(folder), settings), passes=_PASSES)
    rows = [
        Row("datatrove's n-gram filter, words split at blanks", (f"{peer:.2f}",), 1.0),
        Row(f"{index.hashes.size:,} n-grams in Arrow arrays", (f"{fast:.0f}",), fast / peer, "50 MB/s, goal 150"),
        Row("from zstd Parquet to hits in Parquet", (f"{scanned:.0f}",), scanned / peer),
    ]
    return Table("contamination, one core", ("MB/s of text",), "datatrove", rows)


def _items() -> list[BenchmarkItem]:
    """Pieces of Python's library that the turns are not made of, some thousand characters each."""
    rng = random.Random(1)
    library = Path(sysconfig.get_path("stdlib"))
    paths = [path for path in sorted(library.glob("*/*.py")) if path.parent.name != "site-packages"]
    text = "".join(path.read_text(errors="ignore") for path in paths[:400])
    starts = (rng.randrange(len(text) - 4000) for _ in range(_NUM_ITEMS))
    return [BenchmarkItem("library", f"item-{start}", text[start : start + 4000]) for start in starts]


def _quoting(turns: pa.Table, items: list[BenchmarkItem]) -> pa.Table:
    """The turns, of which every hundredth quotes an item."""
    observations = turns["observation"].to_pylist()
    for place in range(0, len(observations), 100):
        observations[place] += items[place % len(items)].text
    return turns.set_column(turns.schema.get_field_index("observation"), "observation", pa.array(observations))


def _datatrove(turns: pa.Table, items: list[BenchmarkItem], n: int) -> Callable[[], object]:
    """A run of its filter; it stops at the first n-gram of a text that it knows."""
    step = NGramsDecontFilter("unused", NGramsDecontConfig(n_grams=n, hash_config=HASHES), language=Blanks())
    step._index_hashes = {
        step.hash_func(" ".join(ngram)): item.item
        for item in items
        for ngram in ngrams(simplify_text(item.text).split(), n)
    }
    texts = [text for name in ("action", "observation") for text in turns[name].to_pylist()]
    return lambda: [step.filter(Document(text=text, id="")) for text in texts]


def _scanning(turns: pa.Table, folder: Path, settings: ContaminationSettings) -> Callable[[], object]:
    """A run of the search's own task over a turns part."""
    for table, rows in (("turns", turns), ("trajectories", TRAJECTORIES.empty_table())):
        path = folder / table / _PART
        path.parent.mkdir(parents=True)
        pq.write_table(rows, path, compression="zstd", row_group_size=_TURNS_A_ROW_GROUP)
    pieces = cut(folder / "turns", _PART, piece_bytes=2**40)

    def scan_anew() -> None:
        for piece in pieces:
            (folder / "work" / piece.file_name).unlink(missing_ok=True)
        scan_pieces(folder, folder / "work", folder / "index.npz", pieces, settings)

    return scan_anew
