"""The search for volatile spans: two passes over a data set, then the comparison of what replays have otherwise.

The first pass takes digests of every turn; by them the replays are found in this process. The second fetches the
observations that differ, and they are compared group by group. All but the finding is spread over cores or machines. A
search that was killed goes on with what it had done.
"""

from __future__ import annotations

import functools
import shutil
from collections import Counter
from collections.abc import Collection, Sequence
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from curation.fingerprints import fingerprint_of, program
from curation.passes import Workers, turn_pieces
from curation.pieces import Piece, contents_of
from curation.replays.comparing import compare_groups, spans_found
from curation.replays.digests import OBSERVATION, DigestFiles, digest_pieces, stored_observations
from curation.replays.plan import Plan, make_plan
from curation.replays.table import KEYS, SPANS, VolatileSummary, open_volatile
from curation.search_settings import VolatileSettings
from curation.selected_rows import write_selected
from trajectories.dataset import Dataset
from trajectories.files import make_folder


def find_volatile(
    dataset: Dataset,
    *,
    name: str = "default",
    settings: VolatileSettings | None = None,
    without: Collection[str] = (),
    workers: Workers | None = None,
) -> VolatileSummary:
    """Find the spans of observations that differ where the same actions were recorded again.

    Recordings are replays of each other where their domain, their task and the shape of their initial state are the
    same, and their actions up to the turn at hand. Writes ``curation/NAME/volatile/spans.parquet`` and a manifest, in
    the place of what an earlier search with other settings or of other turns left there; the same search is not done
    again, and of a data set that has grown the new parts are read, and what is alike. The same turns and settings give
    the same bytes.

    Args:
        name: of the curation, a folder below ``curation/``.
        settings: when environments have diverged, and how much work a comparison is worth.
        without: the ids of trajectories that take no part: they are nobody's replays.
        workers: who does the work; the cores of this machine unless given. They must see the data set's path.

    Raises:
        InputError: no data set or no turns, no scheduler at the address.
        DamagedFileError: a part cannot be read.
        StorageError: the disk is full or fails; nothing half-written is left, and the next search goes on from there.
        WorldtapeError: the workers were killed again and again.
    """
    settings = settings or VolatileSettings()
    workers = workers or Workers()
    volatile = open_volatile(dataset, name)
    pieces = turn_pieces(dataset, workers.sizes)
    versions = {**program(), "rapidfuzz": version("rapidfuzz")}  # which aligns the texts
    fingerprint = fingerprint_of([settings.canonical_json(), contents_of(pieces), versions, sorted(without)])
    done = volatile.undamaged_summary_of(fingerprint)
    if done is not None:
        return done
    work = volatile.work / fingerprint
    make_folder(work)
    cache = volatile.cache(program())
    volatile.prune(cache, pieces)
    new = volatile.uncached(pieces, lambda piece: DigestFiles.of(piece, cache).paths(piece))
    digest = functools.partial(digest_pieces, dataset.folder, cache)
    workers.do(digest, new, [piece.num_bytes for piece in new], stage="replays")
    plan = _replays(dataset.folder, cache, work, pieces, without, workers)
    spans, counts = _compare(plan, work, pieces, settings, workers)
    summary = VolatileSummary(
        settings=settings,
        fingerprint=fingerprint,
        num_groups=len(plan.groups()),
        num_turns_compared=counts["num_turns_compared"],
        num_turns_with_spans=spans.num_rows,
        code_points_volatile=_num_code_points(spans),
        num_diverged=counts["num_diverged"],
        num_skipped=counts["num_skipped"],
    )
    volatile.replace(spans, summary)
    shutil.rmtree(volatile.work)
    return summary


def _replays(
    dataset: Path, cache: Path, work: Path, pieces: Sequence[Piece], without: Collection[str], workers: Workers
) -> Plan:
    """The plan of all replays, with the observations fetched that it needs."""
    plan, wanted = make_plan(pieces, cache, without)
    fetch = functools.partial(write_selected, dataset / "turns", work, OBSERVATION, stored_observations)
    workers.do(fetch, wanted, [one.piece.num_bytes for one in wanted], stage="replays, what they say")
    return plan


def _compare(
    plan: Plan, work: Path, pieces: Sequence[Piece], settings: VolatileSettings, workers: Workers
) -> tuple[pa.Table, Counter[str]]:
    """The rows of all groups, sorted, and what was counted."""
    plan.save(work / "plan")
    groups = plan.groups()
    compare = functools.partial(compare_groups, work, work / "plan", pieces, settings=settings)
    sizes = [group.num_bytes for group in groups]
    found = map(spans_found, workers.each(compare, groups, sizes, stage="replays, what differs"))
    tables, counts = [SPANS.empty_table()], Counter[str]()
    for table, of_table in found:
        tables.append(table)
        counts.update(of_table)
    return pa.concat_tables(tables).sort_by([(key, "ascending") for key in KEYS]).combine_chunks(), counts


def _num_code_points(spans: pa.Table) -> int:
    every = pc.list_flatten(spans["spans"])
    sizes = pc.subtract(pc.struct_field(every, "end"), pc.struct_field(every, "start"))
    return int(pc.sum(sizes, min_count=0).as_py())
