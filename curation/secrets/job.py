"""The search for secrets and personal data: one pass over a data set, spread over cores or machines.

What is found in a piece (`curation.pieces`) is a file of its own, and a part of the table is joined as soon as its last
piece is searched. Parts that stand are not searched again while the rules are the same.
"""

from __future__ import annotations

import functools
import itertools
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.fingerprints import fingerprint_of
from curation.manifest_files import damaged_parts, written_checksums
from curation.passes import Workers, done_parts, texts_to_search, turn_part_names
from curation.pieces import Piece, part_digest
from curation.program_digest import digest
from curation.secrets.detector import find, screen_columns
from curation.secrets.finding import Finding
from curation.secrets.table import FINDINGS, SecretFindings, SecretsSummary, open_secrets
from trajectories.dataset import Dataset
from trajectories.files import remove_abandoned, storage_errors, written_whole
from trajectories.part_files import PARQUET_OPTIONS, open_part, reading_part
from trajectories.schemas import CONTEXT_COLUMNS

_OF_TURNS = ("action", "observation")
_SEARCHED = (b"num_texts", b"code_points")
"""What a file of findings says in its metadata of the texts that were searched."""


def find_secrets(dataset: Dataset, *, name: str = "default", workers: Workers | None = None) -> SecretsSummary:
    """Find secrets and personal data in the turns of a data set, and in what its trajectories say before them.

    Writes ``curation/NAME/secrets/…`` and a manifest. The same search is not done again, and of a data set that has
    grown the new parts are searched alone. The same input gives the same bytes.

    Args:
        name: of the curation, a folder below ``curation/``.
        workers: who does the work; the cores of this machine unless given. They must see the data set's path.

    Raises:
        InputError: no data set or no turns, no scheduler at the address.
        DamagedFileError: a part cannot be read.
        StorageError: the disk is full or fails; nothing half-written is left, and the next search goes on from there.
        WorldtapeError: the workers were killed again and again.
    """
    workers = workers or Workers()
    findings = open_secrets(dataset, name)
    turns = dataset.folder / "turns"
    parts = {part: part_digest(turns, part) for part in turn_part_names(dataset)}
    rules = digest("secrets")[:16]
    fingerprint = fingerprint_of([rules, parts])
    done = findings.undamaged_summary_of(fingerprint)
    if done is not None:
        return done
    damaged = damaged_parts(findings.folder, written_checksums(findings.folder) or {})
    (findings.folder / "manifest.json").unlink(missing_ok=True)
    for part in findings.parts():
        if part in damaged or part not in parts or not _is_of(findings.folder / part, rules, parts[part]):
            (findings.folder / part).unlink()
    _search(dataset, sorted({*parts} - {*findings.parts()}), findings, rules, workers)
    searched = [_searched(findings.folder / part) for part in findings.parts()]
    num_texts, code_points = (sum(counts) for counts in zip(*searched, strict=True))
    shutil.rmtree(findings.work, ignore_errors=True)
    return findings.write_summary(fingerprint, num_texts=num_texts, code_points=code_points)


def _search(dataset: Dataset, parts: Sequence[str], findings: SecretFindings, rules: str, workers: Workers) -> None:
    """Write the parts of the table that do not stand yet, each as soon as its last piece is searched."""
    work = findings.work / rules
    search = functools.partial(search_pieces, dataset.folder, work)
    for pieces in done_parts(search, dataset.folder, parts, workers, stage="secrets"):
        files = [work / piece.file_name for piece in pieces]
        _join(files, findings.folder / pieces[0].part, rules=rules, turns=pieces[0].digest)


def search_pieces(dataset: Path, work: Path, pieces: Sequence[Piece]) -> list[Piece]:
    """Write what is found in every piece that has not been searched yet, one row group in memory at a time.

    The first piece of a part searches what its trajectories say before their turns too.

    Args:
        dataset: the folder of the data set.
        work: where the findings go, each under its piece's file name.

    Raises:
        DamagedFileError: a row group cannot be read.
        StorageError: the disk is full or fails.
    """
    for piece in pieces:
        path = work / piece.file_name
        if not path.exists():
            found = _Found(screen_columns(piece.domain))
            for rows in texts_to_search(dataset, piece, of_headers=CONTEXT_COLUMNS, of_turns=_OF_TURNS):
                found.search(rows)
            _write(path, found.table(), num_texts=found.num_texts, code_points=found.code_points)
    return list(pieces)


class _Found:
    """What is found in the texts of a piece.

    Args:
        columns: of the screen that the texts are of, as `find` wants them.
    """

    def __init__(self, columns: int | None) -> None:
        self._columns = columns
        self._tables = [FINDINGS.empty_table()]
        self._rows: dict[str, list[str | int]] = {name: [] for name in FINDINGS.names}
        self.num_texts = 0
        self.code_points = 0

    def search(self, rows: pa.Table) -> None:
        """Search the texts of a table that has ``trajectory_id`` and ``turn`` beside them."""
        for field in (name for name in (*CONTEXT_COLUMNS, *_OF_TURNS) if name in rows.column_names):
            for row, text in _texts(rows[field]):
                self.num_texts += 1
                self.code_points += len(text)
                found = find(text, columns=self._columns)
                if found:
                    place = {name: rows[name][row].as_py() for name in ("trajectory_id", "turn")}
                    self._add(found, field=field, **place)
            self._pack()

    def _add(self, found: Sequence[Finding], **place: str | int) -> None:
        for name, value in place.items():
            self._rows[name] += itertools.repeat(value, len(found))
        for name, values in zip(Finding._fields, zip(*found, strict=True), strict=True):
            self._rows[name] += values

    def _pack(self) -> None:
        """Values of Python take many times the memory of Arrow's."""
        self._tables.append(pa.Table.from_pydict(self._rows, FINDINGS))
        self._rows = {name: [] for name in FINDINGS.names}

    def table(self) -> pa.Table:
        return pa.concat_tables(self._tables)


def _texts(column: pa.ChunkedArray) -> Iterator[tuple[int, str]]:
    """The texts of a column by row, one in memory at a time; what is not UTF-8 has U+FFFD for it."""
    for row, value in enumerate(column.cast(pa.binary())):
        if value.is_valid:
            yield row, value.as_py().decode(errors="replace")


def _join(pieces: Sequence[Path], target: Path, *, rules: str, turns: str) -> None:
    """Make a part of the table of its pieces' findings, and remove those."""
    tables = [pq.read_table(piece, partitioning=None) for piece in pieces]
    num_texts, code_points = (sum(counts) for counts in zip(*map(_searched, pieces), strict=True))
    remove_abandoned(target.parent)
    _write(target, pa.concat_tables(tables), num_texts=num_texts, code_points=code_points, rules=rules, turns=turns)
    for piece in pieces:
        piece.unlink()


def _write(path: Path, found: pa.Table, *, num_texts: int, code_points: int, **origin: str) -> None:
    said = {"num_texts": str(num_texts), "code_points": str(code_points), **origin}
    metadata = {**FINDINGS.metadata, **{key.encode(): text.encode() for key, text in said.items()}}
    with storage_errors(path), written_whole(path) as file:
        pq.write_table(found.replace_schema_metadata(metadata), file, **PARQUET_OPTIONS)


def _searched(path: Path) -> tuple[int, int]:
    """How many texts were searched for a file of findings, and their code points."""
    with reading_part(path), open_part(path) as file:
        num_texts, code_points = (int(file.schema_arrow.metadata[key]) for key in _SEARCHED)
    return num_texts, code_points


def _is_of(path: Path, rules: str, turns: str) -> bool:
    """Whether a part of the table was made by these rules of these turns."""
    try:
        metadata = pq.read_schema(path).metadata
        return bool(metadata[b"rules"] == rules.encode() and metadata[b"turns"] == turns.encode())
    except (OSError, ValueError, KeyError, TypeError):
        return False
