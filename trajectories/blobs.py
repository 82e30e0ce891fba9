"""Large pieces of a data set (recordings, screenshots, full outputs), each a file named by the hash of its content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

import zstandard
from fsspec import AbstractFileSystem

from trajectories.errors import DamagedFileError, InputError
from trajectories.files import make_folder, storage_errors, written_aside

_COMPRESSED: Final = ".zst"
_LEVEL: Final = 3
_CHUNK_BYTES: Final = 2**20
_NAME: Final = re.compile(r"[0-9a-f]{64}(\.[a-z0-9]+)+")


class BlobStore:
    """The folder ``blobs/`` of a data set. A blob never changes; equal content is stored once.

    Args:
        filesystem, root: where the blobs are read.
        folder: the same place as a local folder, where it is one; only then can blobs be put.
    """

    def __init__(self, filesystem: AbstractFileSystem, root: str, folder: Path | None) -> None:
        self._filesystem, self._root, self._folder = filesystem, root, folder

    def put(self, content: bytes | Iterable[bytes], suffix: str) -> str:
        """Store ``content`` whole and durable, or not at all, and return its name.

        Args:
            content: the bytes, or chunks of them (memory holds one at a time).
            suffix: such as ``.png`` or ``.cast.zst``; content under a name that ends in ``.zst`` is compressed, always
                to the same bytes.

        Returns:
            The SHA-256 of the content (before compression) in hex, and the suffix.

        Raises:
            StorageError: the disk is full or fails.
        """
        assert self._folder is not None, "blobs are put into a local data set"
        chunks = (content,) if isinstance(content, bytes) else content
        with storage_errors(self._folder), written_aside(self._folder) as aside:
            name = _write(chunks, aside.file, compressed=suffix.endswith(_COMPRESSED)) + suffix
            target = self._folder / name[:2] / name
            if not target.exists():
                make_folder(target.parent)
                aside.take_place(target)
        return name

    def chunks(self, name: str) -> Iterator[bytes]:
        """The content of a blob, at most 1 MiB at a time.

        Raises ``InputError`` where there is no blob of that name, and ``DamagedFileError``, at the latest at its end,
        where it is not what was put.
        """
        digest = hashlib.sha256()
        with self._opened(name) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
                yield chunk
        # A decompressor takes the end of a file that was cut off for the end of the content.
        if digest.hexdigest() != name[: digest.digest_size * 2]:
            raise _damaged("its content is not what its name says", self._path(name))

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a blob, each with its newline; memory holds a few at a time. Raises like ``chunks``."""
        rest = b""
        for chunk in self.chunks(name):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line + b"\n" for line in whole)
        if rest:
            yield rest

    def _path(self, name: str) -> str:
        return f"{self._root}/{name[:2]}/{name}"

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!r} is not the name of a blob")
        path = self._path(name)
        try:
            file = cast("BinaryIO", self._filesystem.open(path, "rb"))
        except FileNotFoundError as error:
            raise InputError(
                "a blob is missing", where=path, mend="copy it from where the data set came from"
            ) from error
        with file:
            try:
                if not name.endswith(_COMPRESSED):
                    yield file
                    return
                with zstandard.ZstdDecompressor().stream_reader(file) as stream:
                    yield cast("BinaryIO", stream)
            except zstandard.ZstdError as error:
                raise _damaged(str(error), path) from error


def _damaged(how: str, path: str) -> DamagedFileError:
    return DamagedFileError(f"a blob is damaged: {how}", where=path, mend="copy it again from its source")


def _write(chunks: Iterable[bytes], file: BinaryIO, *, compressed: bool) -> str:
    digest = hashlib.sha256()
    if not compressed:
        for chunk in chunks:
            digest.update(chunk)
            file.write(chunk)
        return digest.hexdigest()
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    with compressor.stream_writer(file, closefd=False) as sink:
        for chunk in chunks:
            digest.update(chunk)
            sink.write(chunk)
    return digest.hexdigest()
