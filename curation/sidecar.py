"""The sidecar table: a row a turn, saying what it is and whether it stays in the loss.

A sidecar mirrors the turns it judges: part for part by name, row group for row group, row for row. The schema is
explicit and versioned, and pinned by a golden file in the tests.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict

from curation.fingerprints import program
from curation.folder import curation_folder
from curation.manifest_files import damaged_parts, parts_below, read_manifest, refuse_newer, sha256_of, write_manifest
from curation.pieces import part_digest
from curation.profile import CurationProfile
from trajectories.dataset import Dataset
from trajectories.errors import DamagedFileError, InputError
from trajectories.folders import final_name
from trajectories.part_files import read_part, scan_parts

SCHEMA_VERSION = 1

_THIS = "this sidecar"
_AGAIN = "curate again with --overwrite"


SIDECAR = pa.schema(
    [
        pa.field("trajectory_id", pa.string(), nullable=False),
        pa.field("turn", pa.int32(), nullable=False),
        pa.field("ol", pa.float64()),
        pa.field("nov", pa.float64()),
        pa.field("jac", pa.float64()),
        pa.field("r", pa.float64()),
        pa.field("len_action", pa.int64()),
        pa.field("len_observation", pa.int64()),
        pa.field("class", pa.string()),
        pa.field("keep_ratio", pa.float64()),
        pa.field("u", pa.float64(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ],
    metadata={b"schema_version": str(SCHEMA_VERSION).encode()},
)
"""The columns of a sidecar. Lengths are code points; the statistics are those of `curation.statistics`; the nullable
columns are null where the turn is unreadable. ``u`` is the draw of `curation.keep`, ``reason`` one of
`curation.reasons`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOrigin:
    """What a sidecar part is made of; where anything of it is another, the part is judged again."""

    fingerprint: str
    """Of the profile."""
    versions: str
    """What `versions_json` said."""
    turns: str = ""
    """`curation.pieces.part_digest` of the turns."""
    elsewhere: str = ""
    """The digest of what was known of its turns that they do not show."""


def sidecar_schema(profile: CurationProfile, origin: PartOrigin | None = None) -> pa.Schema:
    """`SIDECAR` with what made it in its metadata: the profile, the seed, and the origin of the part, if it is a whole
    one."""
    added = {"profile": profile.canonical_json(), "seed": str(profile.seed), **(asdict(origin) if origin else {})}
    return SIDECAR.with_metadata({**SIDECAR.metadata, **{key.encode(): text.encode() for key, text in added.items()}})


def part_origin(path: Path) -> PartOrigin:
    """What a sidecar part says that it was made of.

    Raises:
        InputError: it is no sidecar part, or a newer worldtape wrote it.
    """
    try:
        metadata = pq.read_schema(path).metadata
        schema_version = int(metadata[b"schema_version"])
        origin = PartOrigin(**{field.name: metadata[field.name.encode()].decode() for field in fields(PartOrigin)})
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise InputError("this is no sidecar part", where=str(path), mend=_AGAIN) from error
    refuse_newer(schema_version, SCHEMA_VERSION, what=_THIS, where=str(path))
    return origin


def versions_json() -> str:
    """What else a judgement depends on, as JSON."""
    return json.dumps(program(), sort_keys=True)


class PartFacts(BaseModel):
    """What a sidecar part holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_turns: int
    num_kept: int
    sha256: str


class Manifest(BaseModel):
    """The whole of ``manifest.json``: how a sidecar was made, and its parts by path."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    name: str
    profile: CurationProfile
    fingerprint: str
    searches: Mapping[str, str]
    """The fingerprint of each search that the judgement knew of, by its table's name."""
    versions: dict[str, str]
    num_turns: int
    num_kept: int
    parts: dict[str, PartFacts]
    """By path, sorted."""

    def tells_of(self, parts: Collection[str], searches: Mapping[str, str]) -> bool:
        """Whether it is the manifest of these parts and searches."""
        return self.parts.keys() == {*parts} and self.searches == searches


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The sidecar in ``folder``: ``domain=…/run=…/part-*.parquet`` as the turns parts are named, and a manifest.

    The manifest is written last: a sidecar that has one is whole.
    """

    folder: Path

    @property
    def name(self) -> str:
        return final_name(self.folder.name)

    @property
    def work(self) -> Path:
        """Where the pieces of parts not yet whole lie."""
        return self.folder / ".work"

    def parts(self) -> list[str]:
        """The paths of the parts that stand, below the folder, sorted."""
        return parts_below(self.folder)

    def manifest(self) -> Manifest | None:
        """The manifest, None where the sidecar is not whole yet.

        Raises:
            InputError: it cannot be understood, or a newer worldtape wrote it.
        """
        return read_manifest(self.folder, Manifest, version=SCHEMA_VERSION, what=_THIS, mend=_AGAIN)

    def write_manifest(self, profile: CurationProfile, searches: Mapping[str, str]) -> Manifest:
        """Declare the parts that stand to be the whole sidecar, and say which searches it knew of."""
        parts = {part: _part_facts(self.folder / part) for part in self.parts()}
        manifest = Manifest(
            name=self.name,
            profile=profile,
            fingerprint=profile.fingerprint,
            searches=searches,
            versions=program(),
            num_turns=sum(facts.num_turns for facts in parts.values()),
            num_kept=sum(facts.num_kept for facts in parts.values()),
            parts=parts,
        )
        write_manifest(self.folder, manifest)
        return manifest

    def remove(self, parts: Collection[str]) -> None:
        """Remove parts, if any; the sidecar is not whole then."""
        if parts:
            (self.folder / "manifest.json").unlink(missing_ok=True)
        for part in parts:
            (self.folder / part).unlink(missing_ok=True)

    def damaged_parts(self) -> list[str]:
        """The parts that are gone or have other bytes than the manifest says, and those that a job which was killed
        before it wrote one has left, and that cannot be read; sorted."""
        manifest = self.manifest()
        written = manifest.parts if manifest else {}
        return damaged_parts(self.folder, {part: facts.sha256 for part, facts in written.items()})

    def refuse(self, damaged: Sequence[str]) -> None:
        """Raise ``DamagedFileError`` where there are damaged files, which are paths below the folder."""
        if damaged:
            raise DamagedFileError(
                "a part of the curation is not what was written",
                where=str(self.folder / damaged[0]),
                mend=f"run: worldtape curate DATASET --name {self.name}",
            )

    def scan(self) -> pl.LazyFrame:
        """The rows of the `whole` sidecar, with the columns ``domain`` and ``run`` of the path.

        Raises:
            InputError: there is no whole sidecar here.
        """
        return scan_parts([str(self.folder / part) for part in self.whole().parts], base=str(self.folder))

    def whole(self) -> Manifest:
        """The manifest, whose parts are all that counts: a job that is under way, or was killed, may have added others.

        Raises:
            InputError: there is no whole sidecar here.
        """
        manifest = self.manifest()
        if manifest is None:
            raise InputError(
                "the data set is not curated", where=str(self.folder), mend="run: worldtape curate DATASET"
            )
        return manifest

    def unjudged_parts(self, dataset: Dataset) -> list[str]:
        """The turns parts of a data set that this sidecar does not tell of, or not as they are now; sorted paths below
        ``turns/``.

        Raises:
            InputError: there is no whole sidecar here.
        """
        turns, judged = dataset.folder / "turns", self.whole().parts
        return [
            part
            for part in (Path(found.path).relative_to(turns).as_posix() for found in dataset.turn_parts())
            if part not in judged or not self.is_of(turns, part)
        ]

    def is_of(self, turns: Path, part: str) -> bool:
        """Whether a part that stands was judged of the turns part of its name below ``turns``, as that is now."""
        return part_origin(self.folder / part).turns == part_digest(turns, part)


def open_sidecar(dataset: Dataset, name: str = "default") -> Sidecar:
    """The sidecar of a data set by its name, whether it is there yet or not.

    Raises:
        InputError: the name cannot be a folder's, or the data set is not a local folder.
    """
    return Sidecar(curation_folder(dataset, name))


def _part_facts(path: Path) -> PartFacts:
    kept = read_part(path, columns=["kept"])["kept"]
    digest = sha256_of(path)
    assert digest is not None
    return PartFacts(num_turns=len(kept), num_kept=pc.sum(kept, min_count=0).as_py(), sha256=digest)
