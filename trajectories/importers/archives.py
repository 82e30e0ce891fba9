"""Unpacking archives that others made: nothing outside the folder, no links, no more than fits."""

from __future__ import annotations

import errno
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import IO, Final, Self, cast

from trajectories.files import storage_errors
from trajectories.importers.incoming import Meter
from trajectories.importers.loss import LossReport
from trajectories.importers.packing import COMPRESSED, DAMAGE, open_packed
from trajectories.importers.problems import UnreadableError

_ZIP: Final = ".zip"
_TARS: Final[Mapping[str, str]] = {
    ".tar": "",
    **{f".tar{packing}": packing for packing in COMPRESSED},
    ".tgz": ".gz",
    ".tbz": ".bz2",
    ".tbz2": ".bz2",
    ".txz": ".xz",
    ".tzst": ".zst",
}
"""How the name of a tar archive ends → how it is compressed."""
_CHUNK_BYTES: Final = 2**20
_LARGEST_HEADER: Final = 2**20
_HEADERS: Final = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
"""Members of a tar that say more about the next one, and are read whole."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_DAMAGE: Final = (
    *DAMAGE,
    zipfile.BadZipFile,
    tarfile.TarError,
    NotImplementedError,  # a compression that zipfile does not have
    RuntimeError,  # a password
    ValueError,
)


class DamagedArchiveError(UnreadableError):
    """An archive cannot be read to its end. The files before that lie in the folder, each of them whole."""


def archive_stem(name: str) -> str | None:
    """The name of an archive without what says that it is one; None where it is none."""
    return next((name[: -len(end)] for end in (_ZIP, *_TARS) if name.lower().endswith(end)), None)


def unpack(archive: Path, folder: Path, where: str, meter: Meter, loss: LossReport) -> None:
    """Unpack the files of an archive into a folder, which is empty.

    Links and devices are left out and counted: a file that a link inside the archive leads to is there by itself.

    Args:
        where: what messages call the archive.

    Raises:
        DamagedArchiveError: it cannot be read on: it was cut, say, or needs a password.
        UnreadableError: it holds too much, two members take the same place, or the name of one leads out of the folder.
            What has been unpacked by then lies in the folder.
        StorageError: the disk is full or fails.
    """
    with _damage_named(where):
        members = _zip_members(archive) if archive.name.lower().endswith(_ZIP) else _tar_members(archive)
        for member in members:
            meter.add_file()
            if member.kind == "file":
                _unpack(member, folder / _inside(member.name, where), where, meter)
            elif member.kind != "folder":
                loss.skip(f"fetch: {member.kind} in an archive")


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    kind: str
    open: Callable[[], AbstractContextManager[IO[bytes]]]


def _zip_members(archive: Path) -> Iterator[_Member]:
    if not zipfile.is_zipfile(archive):
        raise zipfile.BadZipFile("it lacks the list of its files, which a zip has at its end: it was cut, or is no zip")
    with zipfile.ZipFile(archive) as zipped:
        for info in zipped.infolist():
            mode = info.external_attr >> 16
            # Not ``is_dir()``, which fails on an empty name.
            kind = "folder" if info.filename.endswith("/") else "file"
            if stat.S_IFMT(mode) and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                kind = "link" if stat.S_ISLNK(mode) else "device"
            yield _Member(info.filename, kind, lambda info=info: zipped.open(info))  # type: ignore[misc]


def _tar_members(archive: Path) -> Iterator[_Member]:
    packing = next(packing for end, packing in _TARS.items() if archive.name.lower().endswith(end))
    with (
        open_packed(archive, packing) as stream,
        tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|", tarinfo=_TarMember) as tarred,
    ):
        while (info := tarred.next()) is not None:
            kind = "file" if info.isreg() else "folder" if info.isdir() else "device"
            if info.issym() or info.islnk():
                kind = "link"
            yield _Member(info.name, kind, lambda info=info: _extracted(tarred, info))  # type: ignore[misc]
            # It keeps each member that it has met, for looking back: a million of them are a gigabyte.
            tarred.members.clear()  # type: ignore[attr-defined]


def _extracted(tarred: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    file = tarred.extractfile(info)
    assert file is not None, "only files are opened"
    return file


class _TarMember(tarfile.TarInfo):
    """A header that is read with suspicion: tarfile takes a damaged one for the end of the archive, and reads one that
    says more about the next member whole, whatever its size.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        member = super().frombuf(buf, encoding, errors)
        if member.type in _HEADERS and member.size > _LARGEST_HEADER:
            raise tarfile.ReadError(f"a header of {member.size:,} bytes")
        return member

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile_)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError(str(error)) from error
        except tarfile.EmptyHeaderError as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError("it ends without the mark of its end, so it may have been cut") from error


def _inside(name: str, where: str) -> PurePosixPath:
    """The place of a member in the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise UnreadableError(
            f"the name of a member leads out of the archive: {name[:100]!r}",
            where=where,
            mend="unpack it yourself, if you trust it, and import the folder",
        )
    return path


def _unpack(member: _Member, target: Path, where: str, meter: Meter) -> None:
    """Make the file of a member: whole, or not at all."""
    with _made(target, member.name, where) as output, _removed_on_failure(target), member.open() as content:
        while chunk := content.read(_CHUNK_BYTES):
            meter.add_bytes(len(chunk))
            with storage_errors(target):
                left = memoryview(chunk)
                while left:
                    left = left[output.write(left) :]


@contextmanager
def _removed_on_failure(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        path.unlink()
        raise


def _made(target: Path, name: str, where: str) -> FileIO:
    """The file of a member, new and open; without a buffer, which on a full disk would fail once more when closed."""
    with storage_errors(target):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            return target.open("xb", buffering=0)
        except OSError as error:
            if error.errno in _FULL:
                raise
            raise UnreadableError(
                f"a member cannot take its place: {error.strerror}: {name[:100]!r}",
                where=where,
                mend="unpack it yourself and import the folder",
            ) from error


@contextmanager
def _damage_named(where: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise DamagedArchiveError(
            f"the archive cannot be read to its end: {error}", where=where, mend="fetch or make it again"
        ) from error
