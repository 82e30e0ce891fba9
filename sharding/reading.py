"""What the trajectories of a unit say, and what the curation says of them: one row group in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.neighbours import opened_part, read_row_group
from curation.pieces import TEXT_COLUMNS
from curation.replays.spans import Spans
from sharding.conversation import ContextText, TurnText
from sharding.manifest import UNREADABLE
from sharding.masks import Mask, TokenDraw
from sharding.sources import Sources, Unit
from trajectories import InputError
from trajectories.part_files import reading_part

_JUDGED = ("trajectory_id", "turn", "kept", "class", "keep_ratio")


class JudgedTurn(NamedTuple):
    """A turn of a trajectory: what it says, with its mask, and its class (`UNREADABLE` where it has none)."""

    trajectory_id: str
    text: TurnText
    turn_class: str


def contexts(sources: Sources, unit: Unit) -> dict[str, ContextText]:
    """What the trajectories of a unit say before their first turns, by trajectory id.

    Raises:
        DamagedFileError: the part that holds their rows cannot be read.
    """
    names = [name for name in ContextText._fields if name != "domain"]
    path = sources.trajectories(unit.part)
    with reading_part(path):
        rows = _filtered(path, ["trajectory_id", *names], _of_unit(unit))
    columns = (_texts(rows[name]) for name in ("trajectory_id", *names))
    return {
        trajectory_id: ContextText(unit.part.domain, *parts) for trajectory_id, *parts in zip(*columns, strict=True)
    }


def trajectories(sources: Sources, unit: Unit) -> Iterator[tuple[str, list[JudgedTurn]]]:
    """Every trajectory of a unit with its turns.

    Raises:
        InputError: the sidecar is of other turns.
        DamagedFileError: a part cannot be read.
    """
    for trajectory_id, turns in groupby(_turns(sources, unit), key=attrgetter("trajectory_id")):
        yield trajectory_id, list(turns)


def _turns(sources: Sources, unit: Unit) -> Iterator[JudgedTurn]:
    """The unit's turns beside what the sidecar says of them: it mirrors the turns row for row."""
    sidecar = sources.judgements(unit.part)
    volatile = _volatile_spans(sources, unit)
    path = sources.turns(unit.part)
    with opened_part(path) as turns, opened_part(sidecar) as judgements:
        if judgements.num_row_groups != turns.num_row_groups:
            raise _stale(sidecar)
        for group in range(unit.first, unit.end):
            rows = read_row_group(turns, path, group, TEXT_COLUMNS)
            judged = read_row_group(judgements, sidecar, group, _JUDGED)
            if not rows.select(["trajectory_id", "turn"]).equals(judged.select(["trajectory_id", "turn"])):
                raise _stale(sidecar)
            columns = (judged[name].to_pylist() for name in _JUDGED)
            texts = zip(_texts(rows["action"]), _texts(rows["observation"]), strict=True)
            for (action, observation), judgement in zip(texts, zip(*columns, strict=True), strict=True):
                trajectory_id, turn, kept, turn_class, ratio = judgement
                spans = volatile.get((trajectory_id, turn), ())
                thinned = kept and sources.by_token and ratio < 1
                drawn = TokenDraw(ratio, sources.seed, trajectory_id, turn) if thinned else None
                text = TurnText(action, observation, Mask(kept, spans, drawn))
                yield JudgedTurn(trajectory_id, text, turn_class or UNREADABLE)


def _volatile_spans(sources: Sources, unit: Unit) -> Mapping[tuple[str, int], Spans]:
    """The volatile spans of the unit's turns, by trajectory and turn."""
    path = sources.volatile
    if path is None:
        return {}
    of_run = (pc.field("domain") == unit.part.domain) & (pc.field("run") == unit.part.run)
    with reading_part(path, mend="run: worldtape curate DATASET --overwrite"):
        rows = _filtered(path, ["trajectory_id", "turn", "spans"], of_run & _of_unit(unit))
    columns = (rows[name].to_pylist() for name in ("trajectory_id", "turn", "spans"))
    return {
        (trajectory_id, turn): [(span["start"], span["end"]) for span in spans]
        for trajectory_id, turn, spans in zip(*columns, strict=True)
    }


def _of_unit(unit: Unit) -> pc.Expression:
    return (pc.field("trajectory_id") >= unit.first_id) & (pc.field("trajectory_id") <= unit.last_id)


def _filtered(path: Path, columns: list[str], rows: pc.Expression) -> pa.Table:
    """Some rows of a Parquet file, of which only the row groups are read that may have them."""
    return pq.read_table(path, columns=columns, filters=rows, partitioning=None, page_checksum_verification=True)


def _texts(column: pa.ChunkedArray) -> list[str]:
    """A column's texts: what is missing is empty, and what is not UTF-8 (curation masks it) has U+FFFD for it."""
    return [(value or b"").decode(errors="replace") for value in column.cast(pa.binary()).to_pylist()]


def _stale(sidecar: Path) -> InputError:
    return InputError(
        "the curation is not of these turns", where=str(sidecar), mend="run: worldtape curate DATASET --overwrite"
    )
