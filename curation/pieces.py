"""The units of a curation: pieces of turns parts, judged one by one and joined into sidecar parts.

A piece is a range of row groups of one turns part. Its judgement is a file of its own, which appears whole or not at
all and depends on nothing but the part and the profile, so it does not matter who makes it, when, or how often.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.filters.condemned import Condemned, with_few_turns
from curation.filters.domains import ENVIRONMENTS
from curation.filters.turns import TurnFilters
from curation.judge import JUDGED_COLUMNS, judge
from curation.neighbours import turns_by_row_group
from curation.profile import CurationProfile
from curation.reasons import Reason, reason_names
from curation.sidecar import SIDECAR, sidecar_schema
from trajectories.errors import InputError
from trajectories.files import remove_abandoned, storage_errors, written_whole
from trajectories.part_files import reading_part

_CONDEMNS = pa.field("condemns", pa.string())
"""A column of judgements that sidecars have not: the reason for which a turn masks its whole trajectory, else null."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Row groups ``first`` to ``end`` (excluded) of a turns part.

    ``part`` is the part's path below ``turns/``; ``num_bytes`` the size of the texts to judge, uncompressed.
    """

    part: str
    first: int
    end: int
    num_bytes: int

    @property
    def domain(self) -> str:
        return self.part.split("/")[0].removeprefix("domain=")

    @property
    def num_groups(self) -> int:
        return self.end - self.first

    @property
    def file_name(self) -> str:
        return f"{self.part}.{self.first:06d}-{self.end:06d}"


def cut(turns: Path, part: str, piece_bytes: int) -> list[Piece]:
    """The pieces of a part: as few row groups as make up ``piece_bytes`` each. An empty part is one empty piece.

    Raises:
        DamagedFileError: the part is not a Parquet file.
        InputError: it has not the columns of turns.
    """
    sizes = _group_sizes(turns / part)
    pieces = []
    first = 0
    for end in range(1, len(sizes) + 1):
        num_bytes = sum(sizes[first:end])
        if num_bytes >= piece_bytes or end == len(sizes):
            pieces.append(Piece(part, first, end, num_bytes))
            first = end
    return pieces or [Piece(part, 0, 0, 0)]


def _group_sizes(path: Path) -> list[int]:
    """Uncompressed bytes of the judged columns, by row group."""
    with reading_part(path):
        metadata = pq.read_metadata(path)
    names = metadata.schema.names
    missing = set(JUDGED_COLUMNS) - set(names)
    if missing:
        raise InputError(f"a turns part lacks {', '.join(sorted(missing))}", where=str(path))
    columns = [names.index(name) for name in JUDGED_COLUMNS]
    return [
        sum(metadata.row_group(group).column(column).total_uncompressed_size for column in columns)
        for group in range(metadata.num_row_groups)
    ]


def together(pieces: Iterable[Piece], task_bytes: int) -> list[list[Piece]]:
    """Pieces in order, so many to a task that a task has work to do, and none much more than another."""
    tasks: list[list[Piece]] = []
    room = 0
    for piece in pieces:
        if not tasks or room < piece.num_bytes:
            tasks.append([])
            room = task_bytes
        tasks[-1].append(piece)
        room -= piece.num_bytes
    return tasks


def judge_pieces(turns: Path, work: Path, pieces: Sequence[Piece], profile: CurationProfile) -> list[Piece]:
    """Write the judgement of every piece that has none yet, one row group in memory at a time; returns the pieces.

    Args:
        turns: the folder of the turns parts; that of the trajectories parts is beside it.
        work: where the judgements go, each under its piece's file name.

    Raises:
        DamagedFileError: a row group cannot be read.
        InputError: a turns part lacks a column that the filters look at.
        StorageError: the disk is full or fails.
    """
    for piece in pieces:
        judgement = work / piece.file_name
        if judgement.exists():
            continue
        with (
            storage_errors(judgement),
            written_whole(judgement) as file,
            pq.ParquetWriter(file, sidecar_schema(profile).append(_CONDEMNS)) as writer,
        ):
            for rows in _judgements(turns, piece, profile):
                _write_group(writer, rows)
    return list(pieces)


def _judgements(turns: Path, piece: Piece, profile: CurationProfile) -> Iterator[pa.Table]:
    """The sidecar rows of each row group, and beside each what the turn says against its whole trajectory."""
    filters = TurnFilters(profile.filters, piece.domain, turns.parent / "trajectories" / piece.part)
    columns = tuple(dict.fromkeys((*JUDGED_COLUMNS, *filters.columns)))
    for group in turns_by_row_group(turns / piece.part, piece.first, piece.end, columns):
        found = filters.find(group)
        rows = judge(group.rows, profile, found.turns)
        yield rows.append_column(_CONDEMNS, reason_names(found.trajectories))


def join(
    work: Path,
    pieces: Sequence[Piece],
    target: Path,
    profile: CurationProfile,
    *,
    trajectories: Path,
    superseded: Collection[str] = (),
) -> None:
    """Make a sidecar part of the judgements of all its pieces, row group by row group, and remove the judgements.

    Only here is all of a trajectory at hand: what speaks against it is gathered first, and masks all its turns.

    Args:
        trajectories: the part that holds the trajectories' rows.
        superseded: the trajectories of which a later attempt is recorded, wherever.

    Raises:
        DamagedFileError: the trajectories part cannot be read.
        StorageError: the disk is full or fails.
    """
    condemned = _condemned(work, pieces, profile, trajectories, superseded)
    remove_abandoned(target.parent)
    with (
        storage_errors(target),
        written_whole(target) as file,
        pq.ParquetWriter(
            file, sidecar_schema(profile, superseded), compression="zstd", write_page_index=True
        ) as writer,
    ):
        for rows in _judged_groups(work, pieces, SIDECAR.names):
            _write_group(writer, condemned.mask(rows))
    for piece in pieces:
        (work / piece.file_name).unlink()


def _condemned(
    work: Path, pieces: Sequence[Piece], profile: CurationProfile, trajectories: Path, superseded: Collection[str]
) -> Condemned:
    condemned = Condemned()
    condemned.add(superseded, Reason.SUPERSEDED)
    if pieces[0].domain in ENVIRONMENTS and profile.filters.few_turns:
        condemned.add(with_few_turns(trajectories, profile.filters.few_turns), Reason.FEW_TURNS)
    for rows in _judged_groups(work, pieces, ["trajectory_id", _CONDEMNS.name]):
        condemned.add_found(rows)
    return condemned


def _judged_groups(work: Path, pieces: Sequence[Piece], columns: Sequence[str]) -> Iterator[pa.Table]:
    for piece in pieces:
        with pq.ParquetFile(work / piece.file_name) as judgement:
            for group in range(judgement.num_row_groups):
                yield judgement.read_row_group(group, columns=list(columns))


def _write_group(writer: pq.ParquetWriter, rows: pa.Table) -> None:
    """One row group, whatever its size: the sidecar's mirror those of the turns."""
    writer.write_table(rows, row_group_size=max(rows.num_rows, 1))
