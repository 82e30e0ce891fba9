"""The searches of a curation: which are made, and what their tables say against the turns of a part."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from curation.contamination import (
    Contamination,
    benchmark_name,
    find_contamination,
    open_contamination,
    require_benchmark,
)
from curation.duplicates import Duplicates, Unit, find_duplicates, open_duplicates
from curation.elsewhere import Elsewhere
from curation.filters import Filters, Scope
from curation.passes import Workers
from curation.pieces import place_of_part, trajectory_ids
from curation.profile import CurationProfile
from curation.reasons import REASONS, Reason
from curation.replays import find_volatile
from curation.sidecar import Sidecar
from trajectories.dataset import Dataset
from trajectories.errors import InputError
from trajectories.part_files import reading_part


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What the searches of a curation have found."""

    dataset: Dataset
    filters: Filters
    superseded: Mapping[str, Collection[str]]
    """By part, the trajectories of which a later attempt is recorded."""
    duplicates: Duplicates | None
    threshold: float
    """The similarity from which on a text is a copy."""
    contamination: Contamination | None
    fingerprints: Mapping[str, str]
    """Of each search that was made, by the name of its tables' folder."""

    def elsewhere(self, part: str) -> Elsewhere:
        """What is known of a part's turns (its path below ``turns/``) that they do not show.

        Raises:
            DamagedFileError: the part that holds the trajectories' rows cannot be read.
        """
        said = _Said()
        for trajectory_id in self.superseded.get(part, ()):
            said.against(trajectory_id, 0, Reason.SUPERSEDED)
        tables = list(self._tables())
        ids = trajectory_ids(self.dataset.folder / "trajectories" / part) if tables else []
        for path, table, reason in tables:
            with reading_part(path, mend="remove its folder and curate again"):
                rows = _of_part(table, part, ids)
            for trajectory_id, turn in rows.iter_rows():
                said.against(trajectory_id, turn, reason)
        return Elsewhere(said.trajectories, said.turns)

    def _tables(self) -> Iterator[tuple[Path, pl.LazyFrame, Reason]]:
        """Tables whose rows of (domain, run, trajectory_id, turn) are told for a reason; turn 0 is all turns."""
        everything = pl.lit(0, pl.Int32).alias("turn")
        if self.duplicates is not None and self.filters.duplicate_trajectory:
            copies = self._copies(self.duplicates, Unit.TRAJECTORIES).with_columns(everything)
            yield self.duplicates.path(Unit.TRAJECTORIES), copies, Reason.DUPLICATE_TRAJECTORY
        if self.duplicates is not None and self.filters.duplicate_turn:
            copies = self._copies(self.duplicates, Unit.TURNS)
            yield self.duplicates.path(Unit.TURNS), copies, Reason.DUPLICATE_TURN
        if self.contamination is not None and self.filters.contaminated is not Scope.OFF:
            hits = self.contamination.scan()
            if self.filters.contaminated is Scope.TRAJECTORY:
                hits = hits.with_columns(everything)
            yield self.contamination.path, hits, Reason.CONTAMINATED

    def _copies(self, duplicates: Duplicates, unit: Unit) -> pl.LazyFrame:
        """Those that are as similar as is asked for to the one that stays, not only to a copy of a copy of it."""
        similar = pl.col("exact") | (pl.col("similarity") >= self.threshold)
        return duplicates.scan(unit).filter(~pl.col("survivor") & similar)


class _Said:
    """What is said against trajectories and turns: of several reasons, the first in the order of `Reason`."""

    def __init__(self) -> None:
        self.trajectories: dict[str, Reason] = {}
        self.turns: dict[str, dict[int, Reason]] = {}

    def against(self, trajectory_id: str, turn: int, reason: Reason) -> None:
        """Note it; turn 0 stands for all of the trajectory."""
        if turn:
            told = self.turns.setdefault(trajectory_id, {})
            told[turn] = min(reason, told.get(turn, reason), key=REASONS.index)
        else:
            told_of_all = self.trajectories.get(trajectory_id, reason)
            self.trajectories[trajectory_id] = min(reason, told_of_all, key=REASONS.index)


def _of_part(table: pl.LazyFrame, part: str, ids: Sequence[str]) -> pl.DataFrame:
    """(trajectory_id, turn) of a table's rows that belong to the part with these trajectories, sorted."""
    domain, run = place_of_part(part)
    of_run = (pl.col("domain") == domain) & (pl.col("run") == run)
    if not ids:
        return pl.DataFrame(schema={"trajectory_id": pl.String, "turn": pl.Int32})
    return (
        table.filter(of_run & pl.col("trajectory_id").is_between(pl.lit(min(ids)), pl.lit(max(ids))))
        .filter(pl.col("trajectory_id").is_in(list(ids)))
        .select("trajectory_id", "turn")
        .unique()
        .sort("trajectory_id", "turn")
        .collect(engine="streaming")
    )


def search(
    dataset: Dataset,
    name: str,
    profile: CurationProfile,
    *,
    benchmarks: Sequence[Path],
    superseded: Mapping[str, Collection[str]],
    workers: Workers,
) -> Searched:
    """Make the searches that the profile wants, each unless it has been made: of the same turns for the same.

    Args:
        name: of the curation; the tables are folders below it.
        benchmarks: files and folders to look for; none for no search of that kind.
        superseded: by part, the trajectories of which a later attempt is recorded. They are no copies of anything, and
            nothing is a copy of them.

    Raises:
        InputError: a benchmark cannot be understood; no scheduler at the address.
        DamagedFileError: a part cannot be read.
        StorageError: the disk is full or fails; the next search goes on from there.
        WorldtapeError: the workers were killed again and again.
    """
    without = frozenset(trajectory_id for of_part in superseded.values() for trajectory_id in of_part)
    fingerprints = {}
    contaminated = None
    if benchmarks:  # first: what is wrong with one is then told before the other searches, which may take hours
        contaminated = find_contamination(
            dataset, benchmarks, name=name, settings=profile.contamination, workers=workers
        )
    if profile.searches.secrets:
        from curation.secrets.job import find_secrets

        fingerprints["secrets"] = find_secrets(dataset, name=name, workers=workers).fingerprint
    if profile.searches.duplicates:
        fingerprints["duplicates"] = find_duplicates(
            dataset, name=name, settings=profile.duplicates, without=without, workers=workers
        ).fingerprint
    if contaminated is not None:
        fingerprints["contamination"] = contaminated.fingerprint
    if profile.searches.volatile:
        fingerprints["volatile"] = find_volatile(
            dataset, name=name, settings=profile.volatile, without=without, workers=workers
        ).fingerprint
    return Searched(
        dataset=dataset,
        filters=profile.filters,
        superseded=superseded,
        duplicates=open_duplicates(dataset, name) if "duplicates" in fingerprints else None,
        threshold=profile.duplicates.threshold,
        contamination=open_contamination(dataset, name) if "contamination" in fingerprints else None,
        fingerprints=fingerprints,
    )


def check_benchmarks(sidecar: Sidecar, benchmarks: Sequence[Path]) -> None:
    """Raise ``InputError`` where a benchmark is not there, or one is not given that an earlier job of the sidecar knew
    of: what it masked would be in the loss again.
    """
    for path in benchmarks:
        require_benchmark(path)
    given = {*map(benchmark_name, benchmarks)}
    contamination = Contamination(sidecar.folder / Contamination.NAME)
    found, manifest = contamination.summary(), sidecar.manifest()
    forgotten = sorted({*found.sources} - given) if found else []
    was_searched = contamination.folder.exists() or (manifest and Contamination.NAME in manifest.searches)
    if forgotten or (was_searched and not given):
        what = f"the benchmark {', '.join(forgotten)}" if forgotten else "benchmarks"
        raise InputError(
            f"curation '{sidecar.name}' was made with {what}",
            where=str(sidecar.folder),
            mend="give it again with --benchmark, or begin anew with --overwrite",
        )
