"""``manifest.json``: what a folder of token shards is made of, from what, and the checksums of its files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trajectories import InputError

MANIFEST_FILE = "manifest.json"
DOCUMENTS_FILE = "documents.parquet"
PACKS_FILE = "packs.parquet"
TOKENIZER_FOLDER = "tokenizer"
FORMAT_VERSION = 2

UNREADABLE = "unreadable"
"""What stands for the class of a turn that has none: its action or observation is missing or not UTF-8."""

NO_KEPT_TURN = "no kept turn"
"""Why a trajectory is refused that would train nothing."""

Width = Literal["uint16", "uint32"]
"""The integer type of the token ids."""

Overflow = Literal["split", "drop"]
"""What becomes of a document longer than the context: cut into slices, or left out of the packs."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TokenizerFacts(_Part):
    """Which tokenizer made the ids; it lies beside, in ``tokenizer/``, as transformers saves it.

    ``sha256`` is that of its serialised form, wherever it was loaded from.
    """

    name: str
    sha256: str
    vocabulary_size: int
    """Every id is smaller than this."""
    pad_token_id: int


class TemplateFacts(_Part):
    """Which chat template laid the conversations out; its text lies beside, in ``tokenizer/``."""

    origin: Literal["file", "tokenizer", "chatml"]
    reason: str
    """Why this one was chosen, as a clause for people."""
    sha256: str
    stop_token: str
    stop_token_id: int


class CurationFacts(_Part):
    """Which curation said what is in the loss; ``fingerprint`` changes with any setting of its profile, and
    ``searches`` has that of each search it knew of."""

    name: str
    fingerprint: str
    searches: dict[str, str] = Field(default_factory=dict)


class ClassTokens(_Part):
    """What the documents hold of the turns of one class.

    ``observation_tokens`` are those that would be in the loss, were all turns in it whole: the observations' own and
    the stop token of each. The share of them that ``loss_tokens`` are is what the keep ratio, the filters and the
    volatile spans have come to.
    """

    turns: int
    kept_turns: int
    observation_tokens: int
    loss_tokens: int


class PackFacts(_Part):
    """The packs of ``packs.parquet`` and what the overflow policy did."""

    context: int
    overflow: Overflow
    num_packs: int
    num_tokens: int
    """Tokens in packs, padding not counted."""
    fill: float
    """``num_tokens / (num_packs × context)``."""
    num_split_documents: int
    num_dropped_documents: int
    num_dropped_tokens: int
    """Of documents dropped as too long, and of slices without a label."""


class FileFacts(_Part):
    """Size and checksum of a file."""

    num_bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Self:
        with path.open("rb") as file:
            return cls(sha256=hashlib.file_digest(file, "sha256").hexdigest(), num_bytes=file.tell())

    @classmethod
    def below(cls, folder: Path) -> dict[str, Self]:
        """The facts of every file below a folder, by its path in there."""
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): cls.of(path) for path in files}


class Manifest(_Part):
    """The whole of ``manifest.json``. Counts are of the ``.ds`` file; ``refused`` counts documents by reason, and
    ``redactions`` by kind the secrets and personal data that placeholders stand for.

    Version 1 had neither ``classes`` nor ``num_volatile_tokens``.
    """

    format_version: int = FORMAT_VERSION
    name: str
    dtype: Width
    num_documents: int
    num_tokens: int
    num_loss_tokens: int
    num_turns: int
    num_kept_turns: int
    num_volatile_tokens: int = 0
    """Tokens of kept turns that are out of the loss only because they show what is volatile."""
    classes: dict[str, dict[str, ClassTokens]] = Field(default_factory=dict)
    """By domain and class."""
    refused: dict[str, int]
    redactions: dict[str, int] = Field(default_factory=dict)
    tokenizer: TokenizerFacts
    chat_template: TemplateFacts
    curation: CurationFacts
    packs: PackFacts
    files: dict[str, FileFacts]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The manifest of a folder of shards.

        Raises:
            InputError: there is none, it is not one, or a newer worldtape wrote it.
        """
        path = folder / MANIFEST_FILE
        try:
            text = path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError) as error:
            raise InputError("no token shards here", where=str(folder), mend="run: worldtape pack DATASET") from error
        version = _parsed(_Versioned, text, path).format_version
        if version > FORMAT_VERSION:
            raise InputError(
                f"shards of format {version}; this worldtape reads up to {FORMAT_VERSION}",
                where=str(path),
                mend="upgrade worldtape",
            )
        return _parsed(cls, text, path)

    def to_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"


class _Versioned(BaseModel):
    """Just the version, of a manifest whose other fields may be unknown."""

    format_version: int


_Model = TypeVar("_Model", bound=BaseModel)


def _parsed(model: type[_Model], text: str, path: Path) -> _Model:
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(f"bad manifest: {key}: {first['msg']}", where=str(path), mend="pack again") from error
