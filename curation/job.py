"""The curation job: a sidecar of every turn of a data set, spread over cores or machines, the same bytes wherever.

The work is cut into pieces of turns parts (`curation.pieces`), grouped to tasks of about a second, and each sidecar
part is joined as soon as its last piece is judged. What is done is never done again: a job that was killed goes on
where it stopped, and new turns parts are judged alone. The manifest is written last: a sidecar with one is whole.
"""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from curation.classes import CLASSES, TurnClass
from curation.filters.attempts import superseded_by_part
from curation.pieces import cut, join, judge_pieces, together
from curation.profile import CurationProfile
from curation.sidecar import Sidecar, open_sidecar, part_origin
from curation.spread import spread
from trajectories.dataset import Dataset
from trajectories.errors import InputError
from trajectories.files import make_folder, storage_errors


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
    progress: Callable[[int, int], None] | None = None,
) -> CurationSummary:
    """Judge every turn of a data set that has no judgement of this name yet.

    Args:
        name: of the sidecar, a folder below ``curation/``.
        profile: the default one unless given.
        scheduler: address of a Dask scheduler, whose workers see the data set at the same path.
        workers: processes to start without one; all cores unless given, none for little work.
        overwrite: remove the sidecar of this name, if there is one, and begin anew.
        progress: called with the number of row groups judged so far, and of all that are to be judged.

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
    with _only_job(sidecar), _set_aside(sidecar) if overwrite else nullcontext():
        _remove_damaged(sidecar)
        _refuse_other_profile(sidecar, profile)
        superseded = superseded_by_part(dataset) if profile.filters.superseded else {}
        standing = _up_to_date(sidecar, superseded)
        todo = sorted(set(parts) - standing)
        stale = set(sidecar.parts()) - set(parts)
        if todo or stale or sidecar.manifest() is None:
            (sidecar.folder / "manifest.json").unlink(missing_ok=True)
            for part in stale:
                (sidecar.folder / part).unlink()
            _judge_parts(
                turns,
                {part: superseded.get(part, frozenset()) for part in todo},
                sidecar,
                profile,
                scheduler=scheduler,
                workers=workers,
                sizes=sizes,
                progress=progress,
            )
            sidecar.write_manifest(profile)
            shutil.rmtree(sidecar.work, ignore_errors=True)
        return _summary(sidecar, num_judged=len(todo), num_skipped=len(parts) - len(todo))


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


@contextmanager
def _set_aside(sidecar: Sidecar) -> Iterator[None]:
    """The sidecar that is to be replaced comes back where the block fails, and goes where it ends well."""
    old = sidecar.folder.with_name(f".{sidecar.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if not sidecar.folder.exists():
        yield
        return
    sidecar.folder.rename(old)
    try:
        yield
    except BaseException:
        shutil.rmtree(sidecar.folder, ignore_errors=True)
        old.rename(sidecar.folder)
        raise
    shutil.rmtree(old)


def _remove_damaged(sidecar: Sidecar) -> None:
    """Parts that have changed since they were written are judged again, as if they had never been."""
    for part in sidecar.damaged_parts():
        (sidecar.folder / part).unlink(missing_ok=True)


def _refuse_other_profile(sidecar: Sidecar, profile: CurationProfile) -> None:
    for part in sidecar.parts():
        if part_origin(sidecar.folder / part).fingerprint != profile.fingerprint:
            raise InputError(
                f"curation '{sidecar.name}' was made with another profile",
                where=str(sidecar.folder / part),
                mend="curate under another --name, or with --overwrite",
            )


def _up_to_date(sidecar: Sidecar, superseded: Mapping[str, Collection[str]]) -> set[str]:
    """The parts that stand, but for those with a trajectory of which a later attempt has been recorded since."""
    return {
        part for part in sidecar.parts() if not part_origin(sidecar.folder / part).is_outdated(superseded.get(part, ()))
    }


def _judge_parts(
    turns: Path,
    parts: Mapping[str, Collection[str]],
    sidecar: Sidecar,
    profile: CurationProfile,
    *,
    scheduler: str | None,
    workers: int | None,
    sizes: JobSizes,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Write the sidecar parts of ``parts``, each as soon as its last piece is judged.

    Args:
        parts: the superseded trajectories of each part.
    """
    pieces = {part: cut(turns, part, sizes.task_bytes) for part in parts}
    waiting = {part: len(of_part) for part, of_part in pieces.items()}
    everything = [piece for of_part in pieces.values() for piece in of_part]
    if workers is None:
        workers = os.cpu_count() or 1
    if sum(piece.num_bytes for piece in everything) < sizes.in_process_bytes:
        workers = 1
    work = sidecar.work / profile.fingerprint
    task = functools.partial(judge_pieces, turns, work, profile=profile)
    num_judged, num_groups = 0, sum(piece.num_groups for piece in everything)
    for done in spread(task, together(everything, sizes.task_bytes), scheduler=scheduler, workers=workers):
        for piece in done:
            waiting[piece.part] -= 1
            if not waiting[piece.part]:
                join(
                    work,
                    pieces[piece.part],
                    sidecar.folder / piece.part,
                    profile,
                    trajectories=turns.parent / "trajectories" / piece.part,
                    superseded=parts[piece.part],
                )
        num_judged += sum(piece.num_groups for piece in done)
        if progress is not None:
            progress(num_judged, num_groups)


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
