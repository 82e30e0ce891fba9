"""The search for duplicates: two passes over the turns, spread over cores or machines, and a merge in this process.

The first pass signs every turn; the bands of the signatures say which texts may be alike. The second fetches the
shingles of those, and they are compared in truth: nothing is called similar on the word of a signature. A search that
was killed goes on with the pieces it had done.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from curation.duplicates.clusters import Clusters, candidates, cluster
from curation.duplicates.kernel import Flags, ShingleSets
from curation.duplicates.numbering import Numbered, SignedTurns, WholeTrajectories
from curation.duplicates.shingle_files import trajectory_sets, turn_sets, wanted_turns
from curation.duplicates.signatures import TEXTS, SignedFiles, shingle_sets, sign_pieces
from curation.duplicates.table import SCHEMAS, DuplicatesSummary, Unit, UnitSummary, open_duplicates
from curation.fingerprints import fingerprint_of, program
from curation.passes import Workers, turn_pieces
from curation.pieces import Piece, contents_of
from curation.search_settings import DuplicateSettings
from curation.selected_rows import SelectedFiles, write_selected
from trajectories.dataset import Dataset
from trajectories.files import make_folder


def find_duplicates(
    dataset: Dataset,
    *,
    name: str = "default",
    settings: DuplicateSettings | None = None,
    without: Collection[str] = (),
    workers: Workers | None = None,
) -> DuplicatesSummary:
    """Find exact and near-duplicates among the turns and among the whole trajectories of a data set.

    Writes ``curation/NAME/duplicates/{turns,trajectories}.parquet`` and a manifest, in the place of what an earlier
    search with other settings or of other turns left there; the same search is not done again, and of a data set that
    has grown the new parts are signed alone. The same turns and settings give the same bytes.

    Args:
        name: of the curation, a folder below ``curation/``.
        settings: what counts as a duplicate.
        without: the ids of trajectories that take no part: nothing is a copy of them.
        workers: who does the work; the cores of this machine unless given.

    Raises:
        InputError: no data set or no turns, no scheduler at the address.
        DamagedFileError: a turns part cannot be read.
        StorageError: the disk is full or fails; nothing half-written is left, and the next search goes on from there.
        WorldtapeError: the workers were killed again and again.
    """
    settings = settings or DuplicateSettings()
    workers = workers or Workers()
    duplicates = open_duplicates(dataset, name)
    pieces = turn_pieces(dataset, workers.sizes)
    made_by = [settings.canonical_json(), program()]
    fingerprint = fingerprint_of([*made_by, contents_of(pieces), sorted(without)])
    done = duplicates.undamaged_summary_of(fingerprint)
    if done is not None:
        return done
    cache = duplicates.cache(made_by)
    duplicates.prune(cache, pieces)
    unsigned = duplicates.uncached(pieces, lambda piece: SignedFiles.of(piece, cache).paths())
    sign = functools.partial(sign_pieces, dataset.folder / "turns", cache, settings=settings)
    workers.do(sign, unsigned, [piece.num_bytes for piece in unsigned], stage="duplicates")
    work = duplicates.work / fingerprint
    found = _search(dataset.folder / "turns", cache, work, pieces, settings, without, workers)
    summary = DuplicatesSummary(
        settings=settings,
        fingerprint=fingerprint,
        turns=_summarise(found[Unit.TURNS][1]),
        trajectories=_summarise(found[Unit.TRAJECTORIES][1]),
    )
    duplicates.replace(
        {unit: _table(numbered, clusters, unit) for unit, (numbered, clusters) in found.items()}, summary
    )
    shutil.rmtree(duplicates.work)
    return summary


def _search(
    turns_folder: Path,
    cache: Path,
    work: Path,
    pieces: Sequence[Piece],
    settings: DuplicateSettings,
    without: Collection[str],
    workers: Workers,
) -> dict[Unit, tuple[Numbered, Clusters]]:
    make_folder(work)
    turns = SignedTurns.read(pieces, cache, settings, without)
    trajectories = WholeTrajectories.read(turns, settings)
    alike = {
        Unit.TURNS: candidates(turns.bands(), turns.eligible),
        Unit.TRAJECTORIES: candidates(trajectories.bands(), trajectories.eligible),
    }
    wanted = alike[Unit.TURNS] | alike[Unit.TRAJECTORIES][trajectories.of_turns]
    of_turns = _fetch(wanted, turns, pieces, turns_folder, work, settings, workers)
    of_trajectories = trajectory_sets(alike[Unit.TRAJECTORIES], trajectories, of_turns, work / "trajectory-shingles")

    def clusters(numbered: Numbered, sets: ShingleSets) -> Clusters:
        return cluster(numbered.first_copies, numbered.bands(), numbered.eligible, sets, settings)

    return {
        Unit.TURNS: (turns, clusters(turns, of_turns)),
        Unit.TRAJECTORIES: (trajectories, clusters(trajectories, of_trajectories)),
    }


def _fetch(
    wanted: Flags,
    turns: SignedTurns,
    pieces: Sequence[Piece],
    turns_folder: Path,
    work: Path,
    settings: DuplicateSettings,
    workers: Workers,
) -> ShingleSets:
    """The shingles of the wanted turns, by a second pass over the pieces that have some."""
    tasks = wanted_turns(wanted, turns, pieces)
    workers.do(
        functools.partial(write_selected, turns_folder, work, TEXTS, functools.partial(shingle_sets, settings)),
        tasks,
        [task.piece.num_bytes for task in tasks],
        stage="duplicates, those alike",
    )
    return turn_sets(wanted, turns, [SelectedFiles.of(task.piece, work) for task in tasks], work / "turn-shingles")


def _table(numbered: Numbered, clusters: Clusters, unit: Unit) -> pa.Table:
    """The rows of all clusters of two members at least, sorted by their keys."""
    schema = SCHEMAS[unit]
    members = np.flatnonzero(np.bincount(clusters.survivors)[clusters.survivors] > 1)
    survivors = clusters.survivors[members]
    names = numbered.names(members)
    keys = [name for name in schema.names if name in names.columns]
    rows = names.with_columns(
        cluster=pl.Series([digest.tobytes().hex() for digest in numbered.digests[survivors]], dtype=pl.String),
        survivor=survivors == members,
        exact=clusters.exact[members],
        similarity=clusters.similarity[members],
    )
    return rows.select(schema.names).sort(keys).to_arrow().cast(schema)


def _summarise(clusters: Clusters) -> UnitSummary:
    sizes = np.bincount(clusters.survivors)
    followers = clusters.survivors != np.arange(clusters.survivors.size)
    return UnitSummary(
        num_texts=clusters.survivors.size,
        num_clusters=int((sizes > 1).sum()),
        num_exact=int((followers & clusters.exact).sum()),
        num_near=int((followers & ~clusters.exact).sum()),
        largest_cluster=int(sizes.max(initial=0)) if (sizes > 1).any() else 0,
        num_crowded=clusters.num_crowded,
    )
