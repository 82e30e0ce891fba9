"""What packing has counted: kept beside the report, so that one that is written again can tell the tokens too."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from curation.fingerprints import fingerprint_of
from curation.report.amounts import Tokens
from curation.sidecar import Sidecar
from trajectories.files import written_whole

_NAME = "tokens.json"


class _Packed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    sidecar: str
    """The fingerprint of the parts of the sidecar by which it was packed."""
    tokens: Tokens


def remember_tokens(sidecar: Sidecar, tokens: Tokens) -> None:
    """Keep what packing by this sidecar came to.

    Raises:
        StorageError: the disk is full or fails.
    """
    packed = _Packed(sidecar=_fingerprint(sidecar), tokens=tokens)
    with written_whole(sidecar.folder / _NAME) as file:
        file.write(packed.model_dump_json(indent=2).encode() + b"\n")


def remembered_tokens(sidecar: Sidecar) -> Tokens | None:
    """What packing by this very sidecar came to; None where it was another, or nobody has packed."""
    try:
        packed = _Packed.model_validate_json((sidecar.folder / _NAME).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
    return packed.tokens if packed.sidecar == _fingerprint(sidecar) else None


def _fingerprint(sidecar: Sidecar) -> str:
    manifest = sidecar.manifest()
    return fingerprint_of(manifest.model_dump(mode="json")["parts"] if manifest else None)
