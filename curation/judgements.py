"""Judgements of pieces, and how they are joined into sidecar parts.

The judgement of a piece (`curation.pieces`) is what its turns show. Only where all pieces of a part come together is
all of a trajectory at hand, and only there enters what is known of it from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from curation.elsewhere import Elsewhere
from curation.filters.condemned import Condemned, with_few_turns
from curation.filters.domains import ENVIRONMENTS
from curation.filters.turns import TurnFilters
from curation.judge import judge
from curation.neighbours import turns_by_row_group
from curation.pieces import TEXT_COLUMNS, Piece, trajectory_ids
from curation.profile import CurationProfile
from curation.reasons import Reason, reason_names
from curation.sidecar import SIDECAR, PartOrigin, sidecar_schema
from trajectories.errors import DamagedFileError
from trajectories.files import remove_abandoned, storage_errors, written_whole
from trajectories.part_files import PARQUET_OPTIONS

_CONDEMNS = pa.field("condemns", pa.string())
"""A column of judgements that sidecars have not: the reason for which a turn masks its whole trajectory, else null."""


def judge_pieces(turns: Path, work: Path, pieces: Sequence[Piece], profile: CurationProfile) -> list[Piece]:
    """Write the judgement of every piece that has none yet, one row group in memory at a time; returns the pieces.

    Args:
        turns: the folder of the turns parts; that of the trajectories parts is beside it.
        work: where the judgements go, each under its piece's file name.

    Raises:
        DamagedFileError: a row group cannot be read.
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
    columns = tuple(dict.fromkeys((*TEXT_COLUMNS, *filters.columns)))
    for group in turns_by_row_group(turns / piece.part, piece.first, piece.end, columns):
        found = filters.find(group)
        rows = judge(group.rows, profile, found.turns)
        yield rows.append_column(_CONDEMNS, reason_names(found.trajectories))
        del group  # or two row groups would be in memory while the next one is read


def join(
    work: Path,
    pieces: Sequence[Piece],
    target: Path,
    profile: CurationProfile,
    *,
    trajectories: Path,
    origin: PartOrigin,
    elsewhere: Elsewhere,
) -> None:
    """Make a sidecar part of the judgements of all its pieces, row group by row group, and remove the judgements.

    Only here is all of a trajectory at hand: what speaks against it is gathered first, and masks all its turns.

    Args:
        trajectories: the part that holds the trajectories' rows.
        origin: what the part is made of, for its metadata.
        elsewhere: what is known of the part's turns that they do not show.

    Raises:
        DamagedFileError: the trajectories part cannot be read.
        StorageError: the disk is full or fails.
    """
    condemned = _condemned(work, pieces, profile, trajectories, elsewhere)
    remove_abandoned(target.parent)
    with (
        storage_errors(target),
        written_whole(target) as file,
        pq.ParquetWriter(file, sidecar_schema(profile, origin), **PARQUET_OPTIONS) as writer,
    ):
        for rows in _judged_groups(work, pieces, SIDECAR.names):
            _write_group(writer, condemned.mask(rows))
    for piece in pieces:
        (work / piece.file_name).unlink()


def _condemned(
    work: Path, pieces: Sequence[Piece], profile: CurationProfile, trajectories: Path, elsewhere: Elsewhere
) -> Condemned:
    condemned = Condemned(elsewhere)
    if pieces[0].domain in ENVIRONMENTS and profile.filters.few_turns:
        condemned.add(with_few_turns(trajectories, profile.filters.few_turns), Reason.FEW_TURNS)
    ids = set(trajectory_ids(trajectories))
    for rows in _judged_groups(work, pieces, ["trajectory_id", _CONDEMNS.name]):
        condemned.add_found(rows)
        if not ids.issuperset(rows["trajectory_id"].unique().to_pylist()):
            raise DamagedFileError(
                "a turns part has turns of trajectories that are not its own",
                where=str(trajectories.parents[3] / "turns" / pieces[0].part),
                mend="copy both parts again from their source",
            )
    return condemned


def _judged_groups(work: Path, pieces: Sequence[Piece], columns: Sequence[str]) -> Iterator[pa.Table]:
    for piece in pieces:
        with pq.ParquetFile(work / piece.file_name) as judgement:
            for group in range(judgement.num_row_groups):
                yield judgement.read_row_group(group, columns=list(columns))


def _write_group(writer: pq.ParquetWriter, rows: pa.Table) -> None:
    """One row group, whatever its size: the sidecar's mirror those of the turns."""
    writer.write_table(rows, row_group_size=max(rows.num_rows, 1))
