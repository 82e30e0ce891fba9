"""Writing token shards: documents one after the other into ``NAME.ds``, ``NAME.ds.index`` and ``NAME.ds.loss``."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

import numpy as np

from sharding.manifest import Width
from trajectories.files import sync_file

if TYPE_CHECKING:
    from sharding.tokenise import TokenisedConversation


class ShardWriter:
    """Appends documents to the three files of a shard; leaving its ``with`` block flushes them to the disk."""

    def __init__(self, data_file: Path, width: Width) -> None:
        self._dtype = np.dtype(width).newbyteorder("<")
        self._num_tokens = 0
        self._tokens, self._index, self._loss = (file.open("wb") for file in shard_files(data_file))

    def append(self, document: TokenisedConversation) -> None:
        """Add one document of at least one token."""
        self._num_tokens += len(document.tokens)
        self._tokens.write(document.tokens.astype(self._dtype).tobytes())
        self._loss.write(document.loss.tobytes())
        self._index.write(np.array([self._num_tokens], "<u8").tobytes())

    def append_shard(self, data_file: Path) -> None:
        """Add all documents of another shard of the same width."""
        tokens, index, loss = shard_files(data_file)
        _append_file(tokens, self._tokens)
        _append_file(loss, self._loss)
        ends = np.fromfile(index, "<u8") + np.uint64(self._num_tokens)
        self._index.write(ends.tobytes())
        self._num_tokens += loss.stat().st_size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self._tokens, self._index, self._loss):
            sync_file(file)
            file.close()


def shard_files(data_file: Path) -> tuple[Path, Path, Path]:
    """A shard's three files: tokens, index, loss."""
    return data_file, data_file.with_name(f"{data_file.name}.index"), data_file.with_name(f"{data_file.name}.loss")


def _append_file(source: Path, target: BinaryIO) -> None:
    with source.open("rb") as file:
        shutil.copyfileobj(file, target, 2**20)
