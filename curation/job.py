"""The curation job: a sidecar of every turn of a data set, spread over cores or machines, the same bytes wherever.

First come the searches (`curation.searches`), whose tables say of turns what they do not show themselves. Then the work
is cut into pieces of turns parts (`curation.pieces`), grouped to tasks of about a second, and each sidecar part is
joined as soon as its last piece is judged. What is done is never done again: a job that was killed goes on where it
stopped, and new turns parts are judged alone. The manifest is written last: a sidecar with one is whole.
"""

from __future__ import annotations

import fcntl
import functools
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from curation.classes import CLASSES, TurnClass
from curation.filters.attempts import superseded_by_part
from curation.fingerprints import fingerprint_of
from curation.judgements import join, judge_pieces
from curation.keys import require_names
from curation.passes import JobSizes, Watch, Workers, done_parts, turn_part_names, unwatched
from curation.pieces import part_digest
from curation.profile import CurationProfile
from curation.reasons import Reason
from curation.sidecar import PartOrigin, Sidecar, open_sidecar, part_origin, versions_json
from trajectories.dataset import Dataset
from trajectories.errors import InputError
from trajectories.files import make_folder, storage_errors
from trajectories.folders import folder_written_whole, settle

if TYPE_CHECKING:
    from curation.searches import Searched

_SUMS = (pl.col("turns").sum(), pl.col("kept").sum())


@dataclass(frozen=True, slots=True)
class ClassCount:
    """Turns of one class, and those of them that stay in the loss."""

    num_turns: int
    num_kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationSummary:
    """What a curation came to. ``classes`` has every class in the order of their rules, ``reasons`` those there are."""

    sidecar: Sidecar
    num_turns: int
    num_kept: int
    num_unreadable: int
    classes: dict[TurnClass, ClassCount]
    reasons: dict[Reason, int]
    """Turns by the reason that is told of them, in the order in which the first that holds is told."""
    searches: Mapping[str, str]
    """The fingerprint of each search that was made, by the name of its tables' folder."""
    num_parts_judged: int
    num_parts_skipped: int
    """Parts that an earlier job had finished with the same profile."""


def curate(
    dataset: Dataset,
    *,
    name: str = "default",
    profile: CurationProfile | None = None,
    benchmarks: Sequence[Path] = (),
    scheduler: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    sizes: JobSizes | None = None,
    watch: Watch = unwatched,
) -> CurationSummary:
    """Judge every turn of a data set that has no judgement of this name yet.

    A turn is judged again where something else is known of it than before: a later attempt, a copy, a benchmark's item.

    Args:
        name: of the sidecar, a folder below ``curation/``.
        profile: the default one unless given.
        benchmarks: files and folders to look for, as `curation.contamination.benchmark_files` reads them.
        scheduler: address of a Dask scheduler, whose workers see the data set at the same path.
        workers: processes to start without one; unless given, all cores, or none for little work.
        overwrite: begin anew. A sidecar of this name stands, and can be read, until the new one takes its place.
        watch: shows how far the job is, stage by stage.

    Raises:
        InputError: no data set or no turns, a sidecar of another profile, a benchmark that cannot be understood, no
            scheduler at the address.
        DamagedFileError: a part cannot be read, or what is in it cannot be told apart.
        StorageError: the disk is full or fails; nothing half-written is left, and the next job goes on from there.
        WorldtapeError: the workers were killed again and again.
    """
    profile = profile or CurationProfile()
    sidecar = open_sidecar(dataset, name)
    parts = turn_part_names(dataset)
    hands = Workers(scheduler=scheduler, number=workers, sizes=sizes or JobSizes(), watch=watch)
    with _only_job(sidecar), hands:
        settle(sidecar.folder)
        anew = overwrite and sidecar.folder.exists()
        with folder_written_whole(sidecar.folder) if anew else nullcontext(sidecar.folder) as folder:
            num_judged = _curate(dataset, parts, Sidecar(folder), profile, benchmarks, hands)
        return _summary(sidecar, num_judged=num_judged, num_skipped=len(parts) - num_judged)


def _curate(
    dataset: Dataset,
    parts: Sequence[str],
    sidecar: Sidecar,
    profile: CurationProfile,
    benchmarks: Sequence[Path],
    workers: Workers,
) -> int:
    """Make a sidecar of the turns parts whole; returns how many had to be judged for it."""
    from curation.searches import check_benchmarks, search  # here, for they load Numba

    sidecar.remove(sidecar.damaged_parts())
    _refuse_other_profile(sidecar, profile)
    require_names(dataset)
    check_benchmarks(sidecar, benchmarks)
    superseded = superseded_by_part(dataset) if profile.filters.superseded else {}
    searched = search(
        dataset, sidecar.folder.name, profile, benchmarks=benchmarks, superseded=superseded, workers=workers
    )
    wanted = {part: _origin(dataset, part, profile, searched) for part in parts}
    todo = {part: wanted[part] for part in sorted(set(parts) - _up_to_date(sidecar, wanted))}
    _judge_parts(dataset.folder, todo, sidecar, profile, searched, workers)
    sidecar.remove(sorted(set(sidecar.parts()) - set(parts)))
    manifest = sidecar.manifest()
    if manifest is None or not manifest.tells_of(parts, searched.fingerprints):
        sidecar.write_manifest(profile, searched.fingerprints)
    shutil.rmtree(sidecar.work, ignore_errors=True)
    return len(todo)


def _origin(dataset: Dataset, part: str, profile: CurationProfile, searched: Searched) -> PartOrigin:
    """What the sidecar part of a turns part should be made of.

    What is known of it is asked for again when it is joined: of all parts together it may be as large as the data set.
    """
    return PartOrigin(
        fingerprint=profile.fingerprint,
        versions=versions_json(),
        turns=part_digest(dataset.folder / "turns", part),
        elsewhere=searched.elsewhere(part).digest,
    )


@contextmanager
def _only_job(sidecar: Sidecar) -> Iterator[None]:
    """Two jobs of one sidecar would remove each other's pieces. The lock goes with the process, however it ends."""
    path = sidecar.folder.with_name(f".{sidecar.name}.lock")
    with storage_errors(path):
        make_folder(path.parent)
        file = path.open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                "another job is curating this", where=str(sidecar.folder), mend="wait for it, or choose another name"
            ) from None
        yield


def _refuse_other_profile(sidecar: Sidecar, profile: CurationProfile) -> None:
    for part in sidecar.parts():
        if part_origin(sidecar.folder / part).fingerprint != profile.fingerprint:
            raise InputError(
                f"curation '{sidecar.name}' was made with another profile",
                where=str(sidecar.folder / part),
                mend="curate under another --name, or with --overwrite",
            )


def _up_to_date(sidecar: Sidecar, wanted: Mapping[str, PartOrigin]) -> set[str]:
    """The parts that stand and are made of what they should be."""
    return {part for part in sidecar.parts() if part in wanted and part_origin(sidecar.folder / part) == wanted[part]}


def _judge_parts(
    dataset: Path,
    parts: Mapping[str, PartOrigin],
    sidecar: Sidecar,
    profile: CurationProfile,
    searched: Searched,
    workers: Workers,
) -> None:
    """Write the sidecar parts of ``parts``, each as soon as its last piece is judged.

    Args:
        parts: what each of them is to be made of.
    """
    sidecar.remove(sorted({*parts} & {*sidecar.parts()}))
    work = sidecar.work / fingerprint_of([profile.fingerprint, versions_json()])
    judge = functools.partial(judge_pieces, dataset / "turns", work, profile=profile)
    for pieces in done_parts(judge, dataset, list(parts), workers, stage="statistics"):
        part = pieces[0].part
        join(
            work,
            pieces,
            sidecar.folder / part,
            profile,
            trajectories=dataset / "trajectories" / part,
            origin=parts[part],
            elsewhere=searched.elsewhere(part),
        )


def _summary(sidecar: Sidecar, *, num_judged: int, num_skipped: int) -> CurationSummary:
    manifest = sidecar.manifest()
    assert manifest is not None, "it was written a moment ago"
    counts = (
        sidecar.scan()
        .group_by("class", "reason")
        .agg(pl.len().alias("turns"), pl.col("kept").sum())
        .collect(engine="streaming")
    )
    by_class = {name: (turns, kept) for name, turns, kept in counts.group_by("class").agg(_SUMS).iter_rows()}
    by_reason = {name: turns for name, turns, _ in counts.group_by("reason").agg(_SUMS).iter_rows()}
    return CurationSummary(
        sidecar=sidecar,
        num_turns=manifest.num_turns,
        num_kept=manifest.num_kept,
        num_unreadable=by_reason.get(Reason.UNREADABLE, 0),
        classes={name: ClassCount(*by_class.get(name.value, (0, 0))) for name in CLASSES},
        reasons={reason: by_reason[reason] for reason in Reason if reason in by_reason},
        searches=manifest.searches,
        num_parts_judged=num_judged,
        num_parts_skipped=num_skipped,
    )
