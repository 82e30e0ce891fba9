"""Finds the recordings of a source: a file, compressed or not, an archive of them, or a URL of either."""

from __future__ import annotations

import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import BinaryIO, Final, cast

import fsspec

from trajectories.importers.base import UnreadableError
from trajectories.importers.sources import opened

_RECORDING: Final = ".cast"
_ZIP: Final = (".zip",)
_TAR: Final = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_CHUNK_BYTES: Final = 2**20
_DAMAGE: Final = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError)
PATTERNS: Final = (
    *(f"*{_RECORDING}{packing}" for packing in ("", ".gz", ".zst", ".xz", ".bz2")),
    *(f"*{end}" for end in (*_ZIP, *_TAR)),
)
"""Names of files that can be sources."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording, wherever it lies."""

    url: str
    """A path, or a URL that fsspec opens: of the recording, or of the archive that holds it."""
    member: str | None = None
    """Its name in the archive."""

    @property
    def place(self) -> str:
        """What messages call it."""
        return self.url if self.member is None else f"{self.url}/{self.member}"

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Its bytes, unpacked. Raises ``UnreadableError`` where they cannot be read."""
        if self.member is None:
            return _opened_file(self.url)
        return _opened_zip(self, self.member) if self.url.lower().endswith(_ZIP) else _opened_tar(self, self.member)

    def digest(self) -> str:
        """SHA-256 of its bytes, in hex."""
        digest = hashlib.sha256()
        with self.open() as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
        return digest.hexdigest()


def recordings(source: Path | str) -> list[Recording]:
    """The recordings of a source, in the order of their names. Raises ``UnreadableError`` for a damaged archive."""
    url = str(source)
    if not url.lower().endswith((*_ZIP, *_TAR)):
        return [Recording(url)]
    try:
        names = _names_in_zip(url) if url.lower().endswith(_ZIP) else _names_in_tar(url)
    except _DAMAGE as error:
        raise UnreadableError(f"the archive cannot be read: {error}", where=url) from error
    found = [Recording(url, name) for name in sorted(names) if name.endswith(_RECORDING)]
    if not found:
        raise UnreadableError(f"the archive holds no *{_RECORDING} file", where=url)
    return found


def _names_in_zip(url: str) -> list[str]:
    with fsspec.open(url, "rb") as file, zipfile.ZipFile(file) as archive:
        return archive.namelist()


def _names_in_tar(url: str) -> list[str]:
    with fsspec.open(url, "rb") as file, tarfile.open(fileobj=file) as archive:
        return [member.name for member in archive if member.isfile()]


@contextmanager
def _opened_file(url: str) -> Iterator[BinaryIO]:
    with opened(url) as stream:
        # The streams of some compressions have no lines of their own.
        yield BufferedReader(cast("RawIOBase", stream))


@contextmanager
def _opened_zip(recording: Recording, name: str) -> Iterator[BinaryIO]:
    with (
        _damage_named(recording),
        fsspec.open(recording.url, "rb") as file,
        zipfile.ZipFile(file) as archive,
        archive.open(name) as member,
    ):
        yield cast("BinaryIO", member)


@contextmanager
def _opened_tar(recording: Recording, name: str) -> Iterator[BinaryIO]:
    with (
        _damage_named(recording),
        fsspec.open(recording.url, "rb") as file,
        tarfile.open(fileobj=file) as archive,
    ):
        member = archive.extractfile(name)
        assert member is not None, "only files were listed"
        with member:
            yield cast("BinaryIO", member)


@contextmanager
def _damage_named(recording: Recording) -> Iterator[None]:
    try:
        yield
    except (*_DAMAGE, RuntimeError) as error:  # a password makes zipfile raise RuntimeError
        raise UnreadableError(f"the archive cannot be read: {error}", where=recording.place) from error
