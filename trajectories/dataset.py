"""A data set: where its parts lie, and how they are read. Readers see what is committed, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, cast

import fsspec
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trajectories.blobs import BlobStore
from trajectories.errors import DamagedFileError, InputError
from trajectories.files import storage_errors
from trajectories.journal_format import SUFFIX, JournalReader, Record, RecordKind, check_version, last_record
from trajectories.model import Status
from trajectories.part_files import DAMAGE, parts_dataset, read_part, read_whole, reading_part, scan_parts
from trajectories.recording import SessionRecording
from trajectories.rows import Row
from trajectories.schemas import TRAJECTORIES, TURNS, is_stored_as
from trajectories.sessions import session_lines
from trajectories.urls import opened_url, shown_url, without_secrets

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_PART: Final = re.compile(r".*/domain=(?P<domain>[^/]+)/run=(?P<run>[^/]+)/(?P<name>part-[0-9a-f]+\.parquet)")
_ROWS_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """One committed Parquet file. ``path`` is a path of the data set's ``filesystem``."""

    domain: str
    run: str
    path: str


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One trajectory: its row (with ``domain`` and ``run``) and its turns (columns as ``schemas.TURNS``, in order).

    ``status`` and ``ended_at`` are None where it is still open.
    """

    row: dict[str, object]
    turns: pl.DataFrame


class Dataset:
    """A data set at ``url``: a local folder, or any URL that fsspec reads. Recording needs a local folder.

    Making the object touches nothing: the folder may not exist yet. Reading raises ``InputError`` where there is no
    data set, where it is empty, and where a newer version wrote it.

    ``trajectory``, ``recorded`` and ``compacted_ids`` compare the checksums of what they read; scans of a local folder
    are Polars', which compares none.
    """

    def __init__(self, url: str | Path) -> None:
        name = str(url)
        self.url = shown_url(name)
        """As messages name it: without user, password and query."""
        if not name:
            raise InputError("the name of a data set is empty", mend="name a folder")
        try:
            filesystem, root = fsspec.core.url_to_fs(opened_url(name))
        except (ValueError, ImportError) as error:
            what = f"not a place for a data set: {without_secrets(str(error), name)}"
            raise InputError(what, where=self.url) from error
        self.filesystem: fsspec.AbstractFileSystem = filesystem
        self.root: str = root.rstrip("/")
        self._is_local = "file" in filesystem.protocol
        if self._is_local and any(sign in self.root for sign in "\n\r"):
            raise InputError("the path of a data set has a line break in it", where=self.url, mend="rename it")
        if self._is_local and Path(self.root).is_file():
            raise InputError("a data set is a folder, and this is a file", where=self.url, mend="name a folder")
        self._checked: set[str] = set()

    @property
    def folder(self) -> Path:
        """The data set as a local folder. Raises ``InputError`` where it is not one."""
        if not self._is_local:
            raise InputError(
                "this needs a data set in a local folder", where=self.url, mend="work on one and copy it there"
            )
        return Path(self.root)

    def contains(self, path: Path) -> bool:
        """Whether a path of this machine is the data set's folder, or lies in it."""
        return self._is_local and path.resolve().is_relative_to(Path(self.root).resolve())

    @property
    def blobs(self) -> BlobStore:
        folder = self.folder / "blobs" if self._is_local else None
        return BlobStore(self.filesystem, f"{self.root}/blobs", folder)

    def scan_turns(self) -> pl.LazyFrame:
        """Every committed turn: the columns of ``schemas.TURNS``, and ``domain`` and ``run`` as strings."""
        return self._scan(self.turn_parts(), "turns", TURNS)

    def scan_trajectories(self) -> pl.LazyFrame:
        """Every committed trajectory: the columns of ``schemas.TRAJECTORIES``, and ``domain`` and ``run``."""
        return self._scan(self.trajectory_parts(), "trajectories", TRAJECTORIES)

    def turn_parts(self) -> list[Part]:
        """The files that hold the turns, sorted; each has a trajectories file of the same name."""
        table = f"{self.root}/turns"
        parts = [
            Part(part.domain, part.run, f"{table}{part.path.removeprefix(f'{self.root}/trajectories')}")
            for part in self.trajectory_parts()
        ]
        for part in parts:
            self._check(part.path, TURNS)
        return parts

    def uncommitted_turn_parts(self) -> list[str]:
        """The paths of turns' files that do not count, for there is none of the same trajectories; sorted.

        One that is being written may be among them.

        Raises:
            InputError: there is no data set, or nothing in it.
        """
        committed = {part.path for part in self.turn_parts()}
        found = self.filesystem.glob(f"{escape(self.root)}/turns/domain=*/run=*/part-*.parquet")
        return sorted({*found} - committed)

    def trajectory_parts(self) -> list[Part]:
        """The files that hold the trajectories' rows, sorted."""
        parts = self._committed("*", "*")
        if not parts:
            raise self._nothing_to_read()
        return parts

    @contextmanager
    def naming_damage(self) -> Iterator[None]:
        """Around queries of scans: where one meets bytes that cannot be read, find the part they are in.

        Raises:
            DamagedFileError: a query inside failed; every part has been read to name the one that is damaged.
        """
        try:
            yield
        except (*DAMAGE, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the operating system's own, about the disk
            for table, parts in (("trajectories", self.trajectory_parts()), ("turns", self.turn_parts())):
                for part in parts:
                    read_whole(part.path, base=f"{self.root}/{table}", filesystem=self._reached_through)
            damage = str(error).partition("\n")[0]
            raise DamagedFileError(
                f"the data set cannot be read: {damage}", where=self.url, mend="copy it again from its source"
            ) from error

    def trajectory(self, trajectory_id: str, run: str | None = None) -> Trajectory:
        """One trajectory, wherever it lies: in Parquet, or still in its journal (then as far as it has come).

        Raises ``InputError`` where there is none of that id or, unless it is told of which, where several runs have it.
        """
        # The journal first: compaction removes it only after the Parquet is there.
        with suppress(FileNotFoundError):
            return _from_journal(self._journal_records(trajectory_id, run))
        row = self._compacted_row(trajectory_id, run)
        parts = [part for part in self.turn_parts() if part.run == row["run"]]
        turns = self._rows_of(trajectory_id, parts, "turns", TURNS)
        return Trajectory(row, turns.sort("turn"))

    def recording(self, trajectory_id: str, run: str | None = None) -> SessionRecording:
        """The raw events of a trajectory's session.

        Reading it raises ``InputError`` where there is no such trajectory, or it has no recording, or as `trajectory`.
        """
        return SessionRecording(lambda: self._session_lines(trajectory_id, run))

    def recorded(self, run: str) -> dict[str, Status | None]:
        """Every trajectory of a run, compacted or not, and how it ended; None for one that has no ending yet."""
        found: dict[str, Status | None] = {}
        for path in self.journal_paths(run):
            with suppress(FileNotFoundError), path.open("rb") as file:
                last = last_record(file, str(path))
                ended = last is not None and last.kind is RecordKind.END
                found[path.name.removesuffix(SUFFIX)] = Status(str(last.row["status"])) if last and ended else None
        for part in self._committed("*", run):
            table = self._read_columns(part, ["trajectory_id", "status"])
            found |= {str(row["trajectory_id"]): Status(row["status"]) for row in table.to_pylist()}
        return found

    def compacted_ids(self, domain: str, run: str) -> set[str]:
        """The trajectories of a domain and run that are in Parquet."""
        check_name(domain, "domain")
        parts = self._committed(domain, run)
        return {
            str(name)
            for part in parts
            for name in self._read_columns(part, ["trajectory_id"])["trajectory_id"].to_pylist()
        }

    def journal_folder(self, run: str) -> Path:
        """Where the open trajectories of a run lie. Raises ``InputError`` for a name that cannot be a folder's."""
        return self.folder / "journal" / check_name(run, "run")

    def journal_path(self, run: str, trajectory_id: str) -> Path:
        return self.journal_folder(run) / (check_name(trajectory_id, "trajectory id") + SUFFIX)

    def journal_paths(self, run: str) -> list[Path]:
        """The journals of a run, in the order of their trajectory ids."""
        return sorted(self.journal_folder(run).glob(f"*{SUFFIX}"), key=lambda path: path.name.removesuffix(SUFFIX))

    def _committed(self, domain: str, run: str) -> list[Part]:
        self.filesystem.invalidate_cache()
        if self._is_local:
            _check_listable(Path(self.root) / "trajectories", f"domain={domain}", f"run={run}")
        paths = self.filesystem.glob(f"{escape(self.root)}/trajectories/domain={domain}/run={run}/part-*.parquet")
        found = [(_PART.fullmatch(path), path) for path in paths]
        parts = sorted(Part(match["domain"], match["run"], path) for match, path in found if match)
        for part in parts:
            self._check(part.path, TRAJECTORIES)
        return parts

    def _check(self, path: str, schema: pa.Schema) -> None:
        """Refuse a part of a newer schema, or without a column or with one of another type; parts never change, so each
        is looked at once."""
        if path in self._checked:
            return
        with reading_part(path):
            found = pq.read_schema(path, filesystem=self.filesystem)
        check_version(_schema_version(found, path), path)
        for field in schema:
            place = found.get_field_index(field.name)
            if place < 0:
                raise DamagedFileError(
                    f"a part lacks the column {field.name}", where=path, mend="copy it again from its source"
                )
            kind = found.field(place).type
            if not is_stored_as(kind, field.type):
                raise DamagedFileError(
                    f"the column {field.name} of a part is {kind}, and should be {field.type}",
                    where=path,
                    mend="write the part again with it",
                )
        self._checked.add(path)

    def _nothing_to_read(self) -> InputError:
        if not self.filesystem.exists(self.root):
            return InputError("there is no data set", where=self.url, mend="check the path, or record one first")
        if self.filesystem.glob(f"{escape(self.root)}/journal/*/*{SUFFIX}"):
            return InputError("no trajectory is compacted yet", where=self.url, mend="finish or resume the run first")
        return InputError("the data set holds no trajectories", where=self.url, mend="record some first")

    def _scan(self, parts: list[Part], table: str, schema: pa.Schema) -> pl.LazyFrame:
        frame = scan_parts(
            [part.path for part in parts],
            base=f"{self.root}/{table}",
            filesystem=self._reached_through,
        )
        return frame.select(*schema.names, "domain", "run")

    @property
    def _reached_through(self) -> fsspec.AbstractFileSystem | None:
        """The file system, None where Polars opens the files itself."""
        return None if self._is_local else self.filesystem

    def _read_columns(self, part: Part, columns: list[str]) -> pa.Table:
        with reading_part(part.path):
            return read_part(part.path, columns=columns, filesystem=self.filesystem)

    def _compacted_row(self, trajectory_id: str, run: str | None) -> dict[str, object]:
        parts = [part for part in self.trajectory_parts() if run in (None, part.run)]
        found = self._rows_of(trajectory_id, parts, "trajectories", TRAJECTORIES) if parts else pl.DataFrame()
        rows = found.to_dicts()
        if not rows:
            of_run = "" if run is None else f" in the run '{run}'"
            raise InputError(f"there is no trajectory {trajectory_id}{of_run}", where=self.url)
        if len(rows) > 1:
            runs = ", ".join(sorted(str(row["run"]) for row in rows))
            raise InputError(
                f"several runs have the trajectory {trajectory_id}", where=self.url, mend=f"say which run: {runs}"
            )
        return rows[0]

    def _rows_of(self, trajectory_id: str, parts: list[Part], table: str, schema: pa.Schema) -> pl.DataFrame:
        """The rows of one trajectory, with ``domain`` and ``run``; pages of others are passed over by their statistics.

        Raises ``DamagedFileError`` that names the part where a page is not what was written.
        """
        paths = [part.path for part in parts]
        files = parts_dataset(paths, base=f"{self.root}/{table}", filesystem=self._reached_through)
        with self.naming_damage():
            rows = files.to_table(
                columns=[*schema.names, "domain", "run"], filter=pc.field("trajectory_id") == trajectory_id
            )
            rows.validate(full=True)  # a text that is no UTF-8: of a writer without checksums
            return cast("pl.DataFrame", pl.from_arrow(rows))

    def _journal_records(self, trajectory_id: str, run: str | None) -> Iterator[Record]:
        """Raises ``FileNotFoundError`` where the trajectory has no journal."""
        check_name(trajectory_id, "trajectory id")
        folder = "*" if run is None else escape(check_name(run, "run"))
        found = self.filesystem.glob(f"{escape(self.root)}/journal/{folder}/{trajectory_id}{SUFFIX}")
        if not found:
            raise FileNotFoundError(trajectory_id)
        with cast("BinaryIO", self.filesystem.open(found[0], "rb")) as file:
            yield from JournalReader(file, found[0])

    def _session_lines(self, trajectory_id: str, run: str | None) -> Iterator[bytes]:
        with suppress(FileNotFoundError):
            yield from session_lines(self._journal_records(trajectory_id, run), self.blobs)
            return
        blob = self._compacted_row(trajectory_id, run)["recording_blob"]
        if blob is None:
            raise InputError(f"trajectory {trajectory_id} has no recording", where=self.url)
        yield from self.blobs.lines(str(blob))


def is_name(name: str) -> bool:
    """Whether it can be the name of a file or folder everywhere."""
    return _NAME.fullmatch(name) is not None


def check_name(name: str, what: str) -> str:
    """A name that can be a file's or folder's everywhere. Raises ``InputError`` for any other."""
    if not is_name(name):
        raise InputError(f"{name!r} cannot be a {what}", mend="use up to 200 letters, digits, '.', '_' and '-'")
    return name


def _schema_version(schema: pa.Schema, path: str) -> int:
    written = (schema.metadata or {}).get(b"schema_version", b"1").decode(errors="replace")
    try:
        return int(written)
    except ValueError as error:
        raise DamagedFileError(
            f"a part says that its schema version is {written!r}", where=path, mend="copy it again from its source"
        ) from error


def _from_journal(records: Iterator[Record]) -> Trajectory:
    row: Row = {}

    def turns() -> Iterator[Row]:
        for record in records:
            if record.session is not None:
                row.update(domain=record.session.domain, run=record.session.run)
            if record.kind is RecordKind.TURN:
                yield record.row
            else:
                row.update(record.row)

    rows = turns()
    chunks = iter(lambda: list(islice(rows, _ROWS_AT_ONCE)), [])
    table = pa.Table.from_batches([pa.RecordBatch.from_pylist(chunk, schema=TURNS) for chunk in chunks], schema=TURNS)
    place = {"domain": row["domain"], "run": row["run"]}
    header = pa.Table.from_pylist([row | {"num_turns": table.num_rows}], schema=TRAJECTORIES).to_pylist()[0]
    frame = cast("pl.DataFrame", pl.from_arrow(table))
    return Trajectory(header | place, frame.with_columns(**{name: pl.lit(value) for name, value in place.items()}))


def _check_listable(folder: Path, *patterns: str) -> None:
    """Raise ``StorageError`` where a folder on the way to parts may not be listed: a search by name passes over it."""
    with storage_errors(folder), suppress(FileNotFoundError, NotADirectoryError):
        entries = list(folder.iterdir())
        for entry in entries if patterns else ():
            if fnmatchcase(entry.name, patterns[0]):
                _check_listable(entry, *patterns[1:])
