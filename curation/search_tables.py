"""What the tables of all searches have in common: a folder below the curation's, and a summary that is written last."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Protocol, Self, TypeVar, cast

import polars as pl
import pyarrow as pa
from pydantic import BaseModel

from curation.fingerprints import fingerprint_of
from curation.folder import curation_folder
from curation.manifest_files import damaged_tables, read_manifest, replace_tables
from curation.pieces import Piece
from trajectories.dataset import Dataset
from trajectories.errors import InputError
from trajectories.part_files import is_readable


class _Summary(Protocol):
    @property
    def fingerprint(self) -> str:
        """Of all that the search depended on, and of the turns parts that were searched."""


_Found = TypeVar("_Found", bound=_Summary)


@dataclass(frozen=True, slots=True)
class SearchTables(Generic[_Found]):
    """The tables of a search in ``folder``. The manifest is written last: tables that have one are whole."""

    NAME: ClassVar[str]
    """Of the folder, and of the search in a sidecar's manifest."""
    SOUGHT: ClassVar[str]
    """What is looked for, to people."""
    THIS: ClassVar[str]
    """What was found, to people, such as ``these duplicates``."""
    SUMMARY: ClassVar[type[BaseModel]]
    """The model of ``manifest.json``; the default of its ``schema_version`` is the newest that is understood."""

    folder: Path

    @classmethod
    def of(cls, dataset: Dataset, name: str) -> Self:
        """Those of the curation of this name, whether the search has been made yet or not.

        Raises:
            InputError: the name cannot be a folder's, or the data set is not a local folder.
        """
        return cls(curation_folder(dataset, name) / cls.NAME)

    @property
    def work(self) -> Path:
        """Where the files of a search that is not done lie."""
        return self.folder / ".work"

    def cache(self, made_by: object) -> Path:
        """The folder where what each piece gives stays: of a data set that has grown the new ones are read alone.

        Args:
            made_by: a JSON value of all that it depends on beside the piece.
        """
        return self.folder / ".pieces" / fingerprint_of(made_by)

    def prune(self, cache: Path, pieces: Sequence[Piece]) -> None:
        """Remove other caches, and what this one holds of other pieces."""
        names = {piece.file_name for piece in pieces}
        for other in cache.parent.glob("*"):
            if other != cache:
                _remove(other)
        for path in cache.rglob("*"):
            name = path.relative_to(cache).as_posix()
            if path.is_file() and name not in names and name.rpartition(".")[0] not in names:
                path.unlink()

    def uncached(self, pieces: Sequence[Piece], files: Callable[[Piece], Sequence[Path]]) -> list[Piece]:
        """The pieces of which not all cached files are as they were written; what is there of these is removed."""
        uncached = [piece for piece in pieces if not all(map(is_readable, files(piece)))]
        for piece in uncached:
            for path in files(piece):
                path.unlink(missing_ok=True)
        return uncached

    def summary(self) -> _Found | None:
        """What the search came to, None where it is not done.

        Raises:
            InputError: it cannot be understood, or a newer worldtape wrote it.
        """
        newest: int = self.SUMMARY.model_fields["schema_version"].default
        found = read_manifest(
            self.folder,
            self.SUMMARY,
            version=newest,
            what=self.THIS,
            mend="remove the file, and run: worldtape curate DATASET",
        )
        return cast("_Found | None", found)

    def summary_of(self, fingerprint: str | None) -> _Found | None:
        """What the search of this fingerprint came to; None where that is not the one whose tables stand.

        Raises:
            InputError: as of `summary`.
        """
        found = self.summary()
        return found if found is not None and found.fingerprint == fingerprint else None

    def undamaged_summary_of(self, fingerprint: str) -> _Found | None:
        """`summary_of`; None also where its tables are not what was written, for which they are read.

        Raises:
            InputError: as of `summary`.
        """
        found = self.summary_of(fingerprint)
        return None if found is None or damaged_tables(self.folder) else found

    def require(self) -> None:
        """Raise ``InputError`` where the data set has not been searched."""
        if self.summary() is None:
            raise InputError(
                f"nobody has searched for {self.SOUGHT}", where=str(self.folder), mend="run: worldtape curate DATASET"
            )


class SearchTable(SearchTables[_Found]):
    """A search that comes to a single table."""

    __slots__ = ()
    TABLE: ClassVar[str]
    """The name of its file."""

    @property
    def path(self) -> Path:
        return self.folder / self.TABLE

    def scan(self) -> pl.LazyFrame:
        """The table, in the order in which it was written.

        Raises:
            InputError: the data set has not been searched.
        """
        self.require()
        return pl.scan_parquet(self.path, glob=False, hive_partitioning=False)

    def replace(self, table: pa.Table, summary: BaseModel) -> None:
        """Put this table, and what the search came to, in the place of those that stand.

        Raises:
            StorageError: the disk is full or fails.
        """
        replace_tables(self.folder, {self.path: table}, summary)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
