"""What packing has counted: kept beside the report, so that one that is written again can tell the tokens too."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from curation.fingerprints import fingerprint_of
from curation.report.amounts import Count, Tokens
from curation.sidecar import Sidecar
from trajectories.files import written_whole

_NAME = "tokens.json"


class PackedDocuments(BaseModel):
    """What packing made of the trajectories: so many documents; the others it refused, by reason."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_documents: Count
    refused: dict[str, Count]


class Packed(PackedDocuments):
    """What packing came to. The tokens are those of the documents: of a refused trajectory none are counted."""

    tokens: Tokens


class _Remembered(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    sidecar: str
    """The fingerprint of the parts of the sidecar by which it was packed."""
    packed: Packed


def remember_packed(sidecar: Sidecar, packed: Packed) -> None:
    """Keep what packing by this sidecar came to.

    Raises:
        StorageError: the disk is full or fails.
    """
    remembered = _Remembered(sidecar=_fingerprint(sidecar), packed=packed)
    with written_whole(sidecar.folder / _NAME) as file:
        file.write(remembered.model_dump_json(indent=2).encode() + b"\n")


def remembered_packed(sidecar: Sidecar) -> Packed | None:
    """What packing by this very sidecar came to; None where it was another, or nobody has packed."""
    try:
        remembered = _Remembered.model_validate_json((sidecar.folder / _NAME).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
    return remembered.packed if remembered.sidecar == _fingerprint(sidecar) else None


def _fingerprint(sidecar: Sidecar) -> str:
    manifest = sidecar.manifest()
    return fingerprint_of(manifest.model_dump(mode="json")["parts"] if manifest else None)
