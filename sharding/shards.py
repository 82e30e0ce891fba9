"""Token shards in datatrove's layout, read where they lie.

``NAME.ds``: token ids, little-endian u16 or u32, no header. ``NAME.ds.index``: the end of every document, u64, in
tokens. ``NAME.ds.loss``: a byte a token, 1 = in the loss. The mask is aligned with the tokens and not shifted.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharding.manifest import TOKENIZER_FOLDER, FileFacts, Manifest, Width
from sharding.writer import shard_files
from trajectories import DamagedFileError

Tokens = NDArray[np.uint16] | NDArray[np.uint32]


class Document(NamedTuple):
    """One tokenised trajectory: two arrays of shape ``(num_tokens,)``."""

    tokens: Tokens
    loss: NDArray[np.bool_]


class MappedDocuments:
    """The three files of a shard, memory-mapped."""

    def __init__(self, data_file: Path, width: Width) -> None:
        tokens, index, loss = shard_files(data_file)
        self.tokens: Tokens = np.memmap(tokens, np.dtype(width).newbyteorder("<"), mode="r")
        self.loss: NDArray[np.bool_] = np.memmap(loss, np.bool_, mode="r")
        self.ends: NDArray[np.uint64] = np.memmap(index, "<u8", mode="r")

    @property
    def num_documents(self) -> int:
        return len(self.ends)

    @property
    def num_tokens(self) -> int:
        return len(self.tokens)

    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of every document, shape ``(num_documents,)``."""
        return np.diff(self.ends, prepend=np.uint64(0)).astype(np.int64)

    def document(self, number: int) -> Document:
        """Tokens and loss mask of a document, as views of the mapped files.

        Raises:
            IndexError: no such document; they are numbered from 0.
        """
        if not 0 <= number < self.num_documents:
            raise IndexError(f"document {number} of {self.num_documents}")
        start = int(self.ends[number - 1]) if number else 0
        end = int(self.ends[number])
        return Document(self.tokens[start:end], self.loss[start:end])


class TokenShards(MappedDocuments):
    """The token shards in a folder, with their manifest.

    Args:
        path: the folder that ``pack`` wrote.
        verify: also read every file and compare its checksum.

    Raises:
        InputError: no shards there, or a manifest that cannot be read.
        DamagedFileError: files that do not belong together, or a wrong checksum.
    """

    def __init__(self, path: str | Path, *, verify: bool = False) -> None:
        self.path = Path(path)
        self.manifest = Manifest.read(self.path)
        self._check_sizes()
        super().__init__(self.data_file, self.manifest.dtype)
        self._check_index()
        if verify:
            self.verify()

    @property
    def data_file(self) -> Path:
        """The ``.ds`` file; its two companions lie beside it."""
        return self.path / f"{self.manifest.name}.ds"

    @property
    def tokenizer_folder(self) -> Path:
        """The tokenizer that made the ids, with the chat template: what ``AutoTokenizer.from_pretrained`` takes."""
        return self.path / TOKENIZER_FOLDER

    @property
    def num_bytes(self) -> int:
        """The size of all files together."""
        return sum(facts.num_bytes for facts in self.manifest.files.values())

    def verify(self) -> None:
        """Read every file and compare its checksum with the manifest's. Raises ``DamagedFileError``."""
        for name, facts in self.manifest.files.items():
            if FileFacts.of(self.path / name) != facts:
                raise self.damaged(f"{name} does not have the checksum its manifest gives")

    def damaged(self, what: str) -> DamagedFileError:
        return DamagedFileError(what, where=str(self.path), mend="copy the shards again, or pack again")

    def __reduce__(self) -> tuple[type[TokenShards], tuple[Path]]:
        """Another process maps the files itself instead of receiving their bytes."""
        return type(self), (self.path,)

    def _check_sizes(self) -> None:
        for name, facts in self.manifest.files.items():
            path = self.path / name
            if not path.is_file():
                raise self.damaged(f"{name} is missing")
            if path.stat().st_size != facts.num_bytes:
                raise self.damaged(f"{name} has {path.stat().st_size} bytes, its manifest says {facts.num_bytes}")

    def _check_index(self) -> None:
        counted = (self.num_documents, self.num_tokens, len(self.loss), int(self.ends[-1]))
        manifest = self.manifest
        if counted != (manifest.num_documents, manifest.num_tokens, manifest.num_tokens, manifest.num_tokens):
            raise self.damaged(
                f"{self.num_tokens} tokens, {len(self.loss)} loss bytes and "
                f"{self.num_documents} documents ending at {int(self.ends[-1])} do not belong together"
            )
        if not (np.diff(self.ends, prepend=np.uint64(0)).view(np.int64) > 0).all():
            raise self.damaged("the documents' ends do not ascend")
