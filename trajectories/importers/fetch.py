"""The stage before every importer: from what the user names to files and folders of this machine.

A PATH is a file or folder here, an archive, or a URL of any of these. What is fetched lies in a temporary folder while
it is read, and nobody sees its name: rows and messages name the URL, and ``ARCHIVE!MEMBER``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from trajectories.errors import InputError
from trajectories.files import storage_errors
from trajectories.importers.archives import DamagedArchiveError, archive_stem, unpack
from trajectories.importers.base import Imported, Importer, Result
from trajectories.importers.folders import unreadable_entries
from trajectories.importers.incoming import LIMITS, Limits, Meter, temporary_folder
from trajectories.importers.loss import LossReport
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.remote import copied
from trajectories.urls import local_path, shown_url

_FETCHED: Final = "fetched"
"""Names of folders are part of some formats' trajectory ids; that of the temporary folder must not be near."""


@dataclass(frozen=True, slots=True)
class Source:
    """What an importer reads as one."""

    path: Path
    importer: Importer
    names: tuple[tuple[str, str], ...] = ()
    """Pairs of what a path begins with, where it was fetched, and what to write in its place."""

    @property
    def name(self) -> str:
        return self.public(str(self.path))

    def results(self) -> Iterator[Result]:
        """What it holds, up to where it cannot be read on, which is a problem."""
        try:
            for result in self.importer.read(self.path):
                yield self._public_result(result)
        except UnreadableError as error:
            yield self._public_result(_problem(error, str(self.path)))

    def public(self, text: str) -> str:
        """A text in which nothing tells where the source was put."""
        return _public(text, self.names)

    def _public_result(self, result: Result) -> Result:
        if not self.names:
            return result
        if isinstance(result, Problem):
            mend = result.mend and self.public(result.mend)
            return replace(result, file=self.public(result.file), reason=self.public(result.reason), mend=mend)
        if isinstance(result, Imported):
            return replace(result, place=self.public(result.place), source=self.public(result.source))
        return result


def check_paths(paths: Iterable[Path | str], importer: Importer) -> None:
    """Raises ``InputError`` for a local path at which there is no file or folder. What is elsewhere is met later.

    What can be read only once (a pipe) or has no end (a device) is none: files are read several times.
    """
    for path in map(str, paths):
        if not path:
            raise InputError("the name of what to import is empty", mend="name a file or a folder")
        local = None if _is_collection(path, importer) else local_path(path)
        if local is not None and not local.exists():
            raise InputError("there is no such file or folder", where=str(local), mend="check the path")
        if local is not None and not local.is_file() and not local.is_dir():
            raise InputError(
                "this is a pipe or a device", where=str(local), mend="write what it gives to a file, and import that"
            )


@dataclass(frozen=True, slots=True)
class Fetching:
    """How sources are fetched: for which importer, on whose disk, and what is counted of it."""

    importer: Importer
    dataset: Path
    loss: LossReport
    limits: Limits = LIMITS
    tell: Callable[[str], None] | None = None
    """Told now and then how much has been fetched of what."""

    def sources(self, path: Path | str) -> Generator[Source | Problem, None, None]:
        """The sources of a PATH, in order. A source can be read until the next one is asked for.

        Close it, if it is not read to its end: what was fetched is removed then.

        Raises:
            InputError: there is nothing of the format at the path, or it cannot be fetched.
            StorageError: the disk is full or fails.
        """
        text = str(path)
        local = local_path(text)
        if _is_collection(text, self.importer):
            yield Source(Path(text), self.importer)
        elif local is None:
            with temporary_folder(self.dataset) as folder:
                fetched = copied(text, folder / _FETCHED, self._meter(folder, shown_url(text)))
                yield from self._sources(_Place(fetched, ((str(fetched), shown_url(text).rstrip("/")),)))
        else:
            yield from self._sources(_Place(local))

    def _meter(self, folder: Path, where: str, packed_bytes: int | None = None) -> Meter:
        return Meter(folder, where, self.limits, packed_bytes=packed_bytes, tell=self.tell)

    def _sources(self, place: _Place) -> Iterator[Source | Problem]:
        if place.path.is_dir():
            yield from self._sources_in_folder(place)
        elif archive_stem(place.path.name) is None:
            yield Source(place.path, self.importer, place.names)
        elif (yield from self._sources_in_archive(place.path, place)) == 0:
            raise InputError("the archive holds nothing of the format", where=place.public(place.path))

    def _sources_in_folder(self, place: _Place) -> Iterator[Source | Problem]:
        """Those that lie there, and those of the archives that do."""
        found = False
        yield from (
            replace(problem, file=place.public(Path(problem.file))) for problem in unreadable_entries(place.path)
        )
        for source in self._sources_by_name(place):
            found = True
            yield source
        for archive in _archives(place.path):
            found = True
            if (yield from self._sources_in_archive(archive, place)) == 0:
                self.loss.skip("fetch: archive that holds nothing of the format")
        if not found:
            raise InputError("the folder holds nothing of the format", where=place.public(place.path))

    def _sources_by_name(self, place: _Place) -> Iterator[Source]:
        """Those that the importer finds in a folder."""
        importer = _within(self.importer, place.path)
        return (Source(path, importer, place.names) for path in importer.sources(place.path))

    def _sources_in_archive(self, archive: Path, place: _Place) -> Generator[Source | Problem, None, int]:
        """Those in an archive that lies at a place, and why it cannot be unpacked. Returns how many that is.

        Of one that was cut, what stands before it is given.
        """
        count = 0
        try:
            with self._unpacked(archive, place) as (inside, damage):
                for source in self._sources_by_name(inside):
                    count += 1
                    yield source
                self.loss.skip("fetch: archive in an archive", sum(1 for _ in _archives(inside.path)))
            if damage is not None:
                raise damage
        except UnreadableError as error:
            count += 1
            yield _problem(error, place.public(archive))
        return count

    @contextmanager
    def _unpacked(self, archive: Path, place: _Place) -> Iterator[tuple[_Place, DamagedArchiveError | None]]:
        """The files of an archive that lies at a place, and why these are not all."""
        name = place.public(archive)
        with temporary_folder(self.dataset) as folder:
            inside = folder / _FETCHED / (archive_stem(archive.name) or "archive")
            with storage_errors(inside):
                inside.mkdir(parents=True)
            damage = None
            try:
                unpack(archive, inside, name, self._meter(folder, name, archive.stat().st_size), self.loss)
            except DamagedArchiveError as error:
                damage = error
            if place.names:  # it was fetched, and is not needed any more
                archive.unlink()
            yield _Place(inside, ((f"{inside}/", f"{name}!"), (str(inside), name))), damage


@dataclass(frozen=True, slots=True)
class _Place:
    """A file or folder of this machine, and what to call what was fetched."""

    path: Path
    names: tuple[tuple[str, str], ...] = ()

    def public(self, path: Path) -> str:
        return _public(str(path), self.names)


def _problem(error: UnreadableError, place: str) -> Problem:
    """The same as a problem, at a place unless the error tells a better one."""
    return Problem(error.where or place, None, error.what, error.mend)


def _public(text: str, names: tuple[tuple[str, str], ...]) -> str:
    for here, name in names:
        text = text.replace(here, name)
    return text


def _is_collection(text: str, importer: Importer) -> bool:
    """Whether it is a name that the importer itself knows how to read, and neither a path nor a URL."""
    scheme = getattr(importer, "SCHEME", None)
    return isinstance(scheme, str) and text.startswith(scheme)


def _within(importer: Importer, folder: Path) -> Importer:
    """The importer of what lies in a folder."""
    within: Callable[[Path], Importer] | None = getattr(importer, "within", None)
    return importer if within is None else within(folder)


def _archives(folder: Path) -> Iterator[Path]:
    """The archives in a folder, in order; not those in hidden folders."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in sorted(files) if archive_stem(name) is not None)
