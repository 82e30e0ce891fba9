"""The curation that says what is in the loss: whether it is whole, of these turns, and of the searches that stand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from curation.profile import Draw
from curation.replays import Volatile, open_volatile
from curation.sidecar import Manifest, Sidecar, open_sidecar
from sharding.manifest import CurationFacts
from sharding.sources import SourcePart, Sources
from trajectories import InputError
from trajectories.dataset import Dataset


def curated_sources(dataset: Dataset, parts: Sequence[SourcePart], curation: str) -> tuple[Sources, CurationFacts]:
    """Where the parts of the data set and of the sidecar lie, and how the latter is to be read.

    Raises:
        InputError: there is no whole sidecar of this name, or it lacks some of the parts, or it knew of other volatile
            spans than those that stand.
        DamagedFileError: a part of the sidecar is not what was written.
    """
    sidecar = open_sidecar(dataset, curation)
    again = f"run: worldtape curate DATASET --name {curation}"
    manifest = sidecar.manifest()
    if manifest is None:
        raise InputError(f"there is no whole curation '{curation}'", where=str(sidecar.folder), mend=again)
    missing = {part.path for part in parts} - set(manifest.parts)
    if missing:
        raise InputError(
            f"curation '{curation}' does not cover {len(missing)} of {len(parts)} turns parts",
            where=str(sidecar.folder),
            mend=again,
        )
    sidecar.refuse(sidecar.damaged_parts())
    _refuse_other_turns(dataset, sidecar, parts, again)
    sources = Sources(
        dataset=dataset.folder,
        sidecar=sidecar.folder,
        seed=manifest.profile.seed,
        by_token=manifest.profile.draw is Draw.TOKEN,
        volatile=_volatile_table(dataset, curation, manifest),
    )
    facts = CurationFacts(name=curation, fingerprint=manifest.fingerprint, searches=dict(manifest.searches))
    return sources, facts


def _refuse_other_turns(dataset: Dataset, sidecar: Sidecar, parts: Sequence[SourcePart], again: str) -> None:
    """Raise ``InputError`` where a part is another than the one that was judged."""
    for part in parts:
        if not sidecar.is_of(dataset.folder / "turns", part.path):
            raise InputError(
                f"a part is another than curation '{sidecar.name}' has judged",
                where=str(dataset.folder / "turns" / part.path),
                mend=again,
            )


def _volatile_table(dataset: Dataset, curation: str, manifest: Manifest) -> Path | None:
    """The table of volatile spans, if the curation has searched for them."""
    if Volatile.NAME not in manifest.searches:
        return None
    volatile = open_volatile(dataset, curation)
    if volatile.undamaged_summary_of(manifest.searches[Volatile.NAME]) is None:
        raise InputError(
            f"the volatile spans are not those that curation '{curation}' knew of",
            where=str(volatile.folder),
            mend=f"run: worldtape curate DATASET --name {curation}",
        )
    return volatile.path
