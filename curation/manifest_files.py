"""Manifests: written last, so that tables that have one are whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

from trajectories.errors import DamagedFileError, InputError
from trajectories.files import remove_abandoned, storage_errors, written_whole
from trajectories.part_files import PARQUET_OPTIONS, read_whole

_ROWS_A_GROUP = 100_000
_NAME = "manifest.json"
_CHECKSUMS = "checksums.json"

_Manifest = TypeVar("_Manifest", bound=BaseModel)


def read_manifest(folder: Path, kind: type[_Manifest], *, version: int, what: str, mend: str) -> _Manifest | None:
    """The manifest of the tables in ``folder``; None where they are not whole yet.

    Args:
        version: the newest ``schema_version`` that is understood.
        what: the tables are, for people, such as ``this sidecar``.
        mend: what helps where it is damaged.

    Raises:
        InputError: it cannot be understood, or a newer worldtape wrote it.
    """
    path = folder / _NAME
    try:
        written = json.loads(path.read_bytes())
        refuse_newer(written["schema_version"], version, what=what, where=str(path))
        return kind.model_validate(written)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"the manifest of {what} cannot be understood", where=str(path), mend=mend) from error


def refuse_newer(found: int, newest: int, *, what: str, where: str) -> None:
    """Raise ``InputError`` for what a newer version of worldtape has written."""
    if found > newest:
        raise InputError(f"a newer worldtape wrote {what}", where=where, mend="upgrade worldtape")


def write_manifest(folder: Path, manifest: BaseModel) -> None:
    """Declare the tables in ``folder`` to be whole."""
    with written_whole(folder / _NAME) as file:
        file.write(manifest.model_dump_json(indent=2).encode() + b"\n")


def replace_tables(folder: Path, tables: Mapping[Path, pa.Table], manifest: BaseModel) -> None:
    """Put tables, each at its path in ``folder``, and their manifest in the place of those that stand.

    Raises:
        StorageError: the disk is full or fails.
    """
    remove_abandoned(folder)
    (folder / _NAME).unlink(missing_ok=True)
    for path, table in tables.items():
        with storage_errors(path), written_whole(path) as file:
            pq.write_table(table, file, row_group_size=_ROWS_A_GROUP, **PARQUET_OPTIONS)
    write_checksums(folder, [path.relative_to(folder).as_posix() for path in tables])
    write_manifest(folder, manifest)


def write_checksums(folder: Path, tables: Iterable[str]) -> None:
    """Note what the tables are that the manifest is about to declare whole; they are paths below ``folder``."""
    written = {table: sha256_of(folder / table) for table in sorted(tables)}
    with written_whole(folder / _CHECKSUMS) as file:
        file.write(json.dumps(written, indent=2).encode() + b"\n")


def damaged_tables(folder: Path) -> list[str]:
    """The tables that are gone or have other bytes than were written, sorted.

    Polars, which reads them, takes a flipped bit for what was written. Where the checksums themselves are not there, or
    cannot be read, they are what is damaged.
    """
    written = written_checksums(folder)
    return [_CHECKSUMS] if written is None else _changed(folder, written)


def damaged_parts(folder: Path, written: Mapping[str, str]) -> list[str]:
    """The parts below a folder that are gone, have other bytes than were written, or are not known of and cannot be
    read: a job that was killed left them. Sorted.

    Args:
        written: the digests of those that are known of, by path.
    """
    unknown = {*parts_below(folder)} - {*written}
    return sorted([*_changed(folder, written), *(part for part in unknown if not _can_be_read(folder, part))])


def written_checksums(folder: Path) -> Mapping[str, str] | None:
    """The digest of each table as it was written, by path; None where that is not there, or cannot be read."""
    try:
        written = json.loads((folder / _CHECKSUMS).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return written if isinstance(written, dict) else None


def _can_be_read(folder: Path, part: str) -> bool:
    try:
        read_whole(str(folder / part), base=str(folder))
    except DamagedFileError:
        return False
    return True


def _changed(folder: Path, written: Mapping[str, str]) -> list[str]:
    return sorted(table for table, digest in written.items() if sha256_of(folder / table) != digest)


def sha256_of(path: Path) -> str | None:
    """The digest of a file; None where there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def parts_below(folder: Path) -> list[str]:
    """The paths of the parts that stand below a folder that mirrors the turns, sorted."""
    found = (path.relative_to(folder) for path in folder.glob("domain=*/run=*/*.parquet"))
    return sorted(path.as_posix() for path in found)
