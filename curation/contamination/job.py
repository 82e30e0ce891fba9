"""The search for benchmark items: one pass over a data set, spread over cores or machines."""

from __future__ import annotations

import functools
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from curation.contamination.benchmark_files import BenchmarkItem, benchmark_name, read_benchmark
from curation.contamination.index import SourceFacts, build_index
from curation.contamination.scan import scan_pieces
from curation.contamination.table import HITS, KEYS, ContaminationSummary, open_contamination
from curation.fingerprints import fingerprint_of, program
from curation.passes import Workers, turn_pieces
from curation.pieces import contents_of
from curation.search_settings import ContaminationSettings
from trajectories.dataset import Dataset
from trajectories.errors import InputError
from trajectories.part_files import read_part, reading_part


def find_contamination(
    dataset: Dataset,
    benchmarks: Sequence[Path],
    *,
    name: str = "default",
    settings: ContaminationSettings | None = None,
    workers: Workers | None = None,
) -> ContaminationSummary:
    """Find items of benchmarks in the turns of a data set, and in the tasks and prompts of its trajectories.

    Writes ``curation/NAME/contamination/hits.parquet`` and a manifest, in the place of what an earlier search left
    there; the same search is not done again, and of a data set that has grown the new parts are searched alone. The
    same input gives the same bytes.

    Args:
        benchmarks: files and folders, as `curation.contamination.benchmark_files` reads them.
        name: of the curation, a folder below ``curation/``.
        settings: what counts as contamination.
        workers: who does the work; the cores of this machine unless given. They must see the data set's path.

    Raises:
        InputError: no data set or no turns; no benchmark, one that cannot be understood or holds no text, or two of one
            name; no scheduler at the address.
        DamagedFileError: a part, or a benchmark, cannot be read.
        StorageError: the disk is full or fails; nothing half-written is left, and the next search goes on from there.
        WorldtapeError: the workers were killed again and again.
    """
    settings = settings or ContaminationSettings()
    workers = workers or Workers()
    contamination = open_contamination(dataset, name)
    pieces = turn_pieces(dataset, workers.sizes)
    texts = (text for path in _distinct(benchmarks) for text in _texts_of(path))
    index, sources = build_index(texts, settings)
    made_by = [settings.canonical_json(), index.fingerprint, program()]
    fingerprint = fingerprint_of([*made_by, contents_of(pieces)])
    done = contamination.undamaged_summary_of(fingerprint)
    if done is not None:
        return done
    work = contamination.work / fingerprint
    cache = contamination.cache(made_by)
    contamination.prune(cache, pieces)
    index.save(work / "index.npz")
    scan = functools.partial(scan_pieces, dataset.folder, cache, work / "index.npz", settings=settings)
    unread = contamination.uncached(pieces, lambda piece: [cache / piece.file_name])
    workers.do(scan, unread, [piece.num_bytes for piece in unread], stage="contamination")
    hits = pl.concat([_hits_in(cache / piece.file_name) for piece in pieces]).sort(KEYS)
    summary = _summarise(hits, settings, fingerprint, sources)
    contamination.replace(hits.to_arrow().cast(HITS), summary)
    shutil.rmtree(contamination.work)
    return summary


def _distinct(benchmarks: Sequence[Path]) -> Sequence[Path]:
    """The benchmarks, whose names must tell them apart."""
    if not benchmarks:
        raise InputError("there is no benchmark to search for", mend="give files or folders of one")
    for name, count in Counter(map(benchmark_name, benchmarks)).items():
        if count > 1:
            raise InputError("two benchmarks have one name", where=name, mend="rename one, or give the folder above")
    return benchmarks


def _texts_of(path: Path) -> Iterator[BenchmarkItem]:
    yielded = False
    for text in read_benchmark(path):
        yielded = True
        yield text
    if not yielded:
        raise InputError("a benchmark holds no text", where=str(path), mend="check the path")


def _hits_in(path: Path) -> pl.DataFrame:
    with reading_part(path, mend="remove its folder and curate again"):
        return pl.DataFrame(read_part(path))


def _summarise(
    hits: pl.DataFrame, settings: ContaminationSettings, fingerprint: str, sources: Mapping[str, SourceFacts]
) -> ContaminationSummary:
    trajectory = ["domain", "run", "trajectory_id"]
    found = dict(hits.group_by("source").agg(pl.col("item").n_unique()).iter_rows())
    return ContaminationSummary(
        settings=settings,
        fingerprint=fingerprint,
        sources=sources,
        num_hits=hits.height,
        num_turns=hits.filter(pl.col("turn") > 0).select(*trajectory, "turn").n_unique(),
        num_trajectories=hits.select(trajectory).n_unique(),
        items_found={source: found.get(source, 0) for source in sources},
    )
