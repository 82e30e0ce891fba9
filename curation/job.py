"""The curation job: a sidecar of every turn of a data set, spread over cores or machines, the same bytes wherever.

The work is cut into pieces of turns parts (`curation.pieces`), grouped to tasks of about a second, and each sidecar
part is joined as soon as its last piece is judged. What is done is never done again: a job that was killed goes on
where it stopped, and new turns parts are judged alone. The manifest is written last: a sidecar with one is whole.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from curation.classes import CLASSES, TurnClass
from curation.pieces import cut, join, judge_pieces, together
from curation.profile import CurationProfile
from curation.sidecar import Sidecar, open_sidecar, part_fingerprint
from curation.spread import spread
from trajectories.dataset import Dataset
from trajectories.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSizes:
    """How the work is cut, in uncompressed bytes of text; the result does not depend on it."""

    task_bytes: int = 128 * 2**20
    """About a second's work, against the few milliseconds that a task costs."""
    in_process_bytes: int = 512 * 2**20
    """With less than this to do, worker processes would take longer to start than to work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCount:
    """Turns of one class, and those of them that stay in the loss."""

    num_turns: int
    num_kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CurationSummary:
    """What a curation came to; ``classes`` has every class, in the order of their rules."""

    sidecar: Sidecar
    num_turns: int
    num_kept: int
    num_unreadable: int
    classes: dict[TurnClass, ClassCount]
    num_parts_judged: int
    num_parts_skipped: int
    """Parts that an earlier job had finished with the same profile."""


def curate(
    dataset: Dataset,
    *,
    name: str = "default",
    profile: CurationProfile | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    sizes: JobSizes | None = None,
) -> CurationSummary:
    """Judge every turn of a data set that has no judgement of this name yet.

    Args:
        name: of the sidecar, a folder below ``curation/``.
        profile: the default one unless given.
        scheduler: address of a Dask scheduler, whose workers see the data set at the same path.
        workers: processes to start without one; all cores unless given, none for little work.
        overwrite: remove the sidecar of this name, if there is one, and begin anew.

    Raises:
        InputError: no data set or no turns, a sidecar of another profile, no scheduler at the address.
        DamagedFileError: a turns part cannot be read.
        StorageError: the disk is full or fails; nothing half-written is left, and the next job goes on from there.
        WorldtapeError: the workers were killed again and again.
    """
    profile = profile or CurationProfile()
    sizes = sizes or JobSizes()
    sidecar = open_sidecar(dataset, name)
    turns = dataset.folder / "turns"
    parts = [Path(part.path).relative_to(turns).as_posix() for part in dataset.turn_parts()]
    if overwrite:
        _remove(sidecar)
    _refuse_other_profile(sidecar, profile)
    standing = sidecar.parts()
    todo = sorted(set(parts) - set(standing))
    stale = set(standing) - set(parts)
    if todo or stale or sidecar.manifest() is None:
        (sidecar.folder / "manifest.json").unlink(missing_ok=True)
        for part in stale:
            (sidecar.folder / part).unlink()
        _judge_parts(turns, todo, sidecar, profile, scheduler=scheduler, workers=workers, sizes=sizes)
        sidecar.write_manifest(profile)
        shutil.rmtree(sidecar.work, ignore_errors=True)
    return _summary(sidecar, num_judged=len(todo), num_skipped=len(parts) - len(todo))


def _remove(sidecar: Sidecar) -> None:
    (sidecar.folder / "manifest.json").unlink(missing_ok=True)
    if sidecar.folder.exists():
        shutil.rmtree(sidecar.folder)


def _refuse_other_profile(sidecar: Sidecar, profile: CurationProfile) -> None:
    for part in sidecar.parts():
        if part_fingerprint(sidecar.folder / part) != profile.fingerprint:
            raise InputError(
                f"curation '{sidecar.name}' was made with another profile",
                where=str(sidecar.folder / part),
                mend="curate under another --name, or with --overwrite",
            )


def _judge_parts(
    turns: Path,
    parts: Sequence[str],
    sidecar: Sidecar,
    profile: CurationProfile,
    *,
    scheduler: str | None,
    workers: int | None,
    sizes: JobSizes,
) -> None:
    """Write the sidecar parts of ``parts``, each as soon as its last piece is judged."""
    pieces = {part: cut(turns, part, sizes.task_bytes) for part in parts}
    waiting = {part: len(of_part) for part, of_part in pieces.items()}
    everything = [piece for of_part in pieces.values() for piece in of_part]
    if workers is None:
        workers = os.cpu_count() or 1
    if sum(piece.num_bytes for piece in everything) < sizes.in_process_bytes:
        workers = 1
    work = sidecar.work / profile.fingerprint
    task = functools.partial(judge_pieces, turns, work, profile=profile)
    for done in spread(task, together(everything, sizes.task_bytes), scheduler=scheduler, workers=workers):
        for piece in done:
            waiting[piece.part] -= 1
            if not waiting[piece.part]:
                join(work, pieces[piece.part], sidecar.folder / piece.part, profile)


def _summary(sidecar: Sidecar, *, num_judged: int, num_skipped: int) -> CurationSummary:
    counts = (
        sidecar.scan().group_by("class").agg(pl.len().alias("turns"), pl.col("kept").sum()).collect(engine="streaming")
    )
    found = {name: ClassCount(num_turns=turns, num_kept=kept) for name, turns, kept in counts.iter_rows()}
    nothing = ClassCount(num_turns=0, num_kept=0)
    return CurationSummary(
        sidecar=sidecar,
        num_turns=sum(count.num_turns for count in found.values()),
        num_kept=sum(count.num_kept for count in found.values()),
        num_unreadable=found.get(None, nothing).num_turns,
        classes={name: found.get(name.value, nothing) for name in CLASSES},
        num_parts_judged=num_judged,
        num_parts_skipped=num_skipped,
    )
