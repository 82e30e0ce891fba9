"""What in the observations of replays differs, group by group, turn by turn, one pair of texts in memory at a time.

Of the recordings that did the same up to a turn the first is the reference: every other text is compared with its own.
What differs there in any of them is volatile in all of them, also in one that happens to say the same as the reference.

Where too much differs, the environment of one has diverged from the other's: it answers from another state, and what it
says is not the same answer with another time in it. From the next turn on those that have diverged from a reference
are no replays of those that have not, though they may be of one another.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from curation.pieces import Piece
from curation.replays.differences import Differences, Outcome
from curation.replays.digests import fetched
from curation.replays.plan import PLACE, Group
from curation.replays.spans import Spans
from curation.replays.table import SPANS
from curation.search_settings import VolatileSettings
from curation.selected_rows import SelectedFiles
from trajectories.files import storage_errors, written_whole
from trajectories.spooled_bytes import spooling_in

_COUNTS = b"counts"

_SPANS_AT_ONCE = 2**14

_Row: TypeAlias = "tuple[Mapping[str, object], Spans]"
"""The columns of a row but its spans, and these."""
_Text: TypeAlias = tuple[int, int]
"""Which observation: the number of the piece it is of, and its own among those fetched from there."""


def compare_groups(
    work: Path, plan: Path, pieces: Sequence[Piece], groups: Sequence[Group], settings: VolatileSettings
) -> Path:
    """Write the spans of consecutive groups to a file, unless they are there; returns its path.

    Args:
        work: where the fetched observations lie, and the file goes.
        plan: a saved `curation.replays.plan.Plan`.
        pieces: all pieces, as the plan numbers them.

    Raises:
        StorageError: the disk is full or fails.
    """
    begin, end = groups[0].first, groups[-1].end
    path = work / f"spans.{begin:012d}-{end:012d}"
    if path.exists():
        return path
    turns = pl.scan_parquet(plan, glob=False, hive_partitioning=False).slice(begin, end - begin).collect()
    files = [SelectedFiles.of(piece, work) for piece in pieces]
    counts: Counter[str] = Counter()
    rows = (
        row
        for group in groups
        for row in _rows_of_group(turns.slice(group.first - begin, group.end - group.first), files, settings, counts)
    )
    with (
        spooling_in(work),
        storage_errors(path),
        written_whole(path) as file,
        pq.ParquetWriter(file, SPANS) as writer,
    ):
        for table in _tables(rows):
            writer.write_table(table)
        writer.add_key_value_metadata({_COUNTS: json.dumps(counts)})
    return path


def spans_found(path: Path) -> tuple[pa.Table, Counter[str]]:
    """The spans that `compare_groups` wrote, and what it counted: names of `VolatileSummary`."""
    with pq.ParquetFile(path) as file:
        return file.read().cast(SPANS), Counter(json.loads(file.metadata.metadata[_COUNTS]))


def _rows_of_group(
    turns: pl.DataFrame, files: Sequence[SelectedFiles], settings: VolatileSettings, counts: Counter[str]
) -> Iterator[_Row]:
    """The rows of one group's turns that have spans; ``counts`` is added to."""

    def text(of: _Text) -> str:
        piece, place = of
        return fetched(files[piece], place)

    camps: dict[int, int] = {}
    for _, together in turns.group_by("turn", "same", maintain_order=True):
        camp = pl.Series([camps.get(recording, 0) for recording in together["recording"]])
        for _, members in together.with_columns(camp=camp).group_by("camp", maintain_order=True):
            if len(members) == 1:
                continue
            counts["num_turns_compared"] += len(members)
            texts = list(zip(members["piece"], members["text"], strict=True))
            numbers = {of: number for number, of in enumerate(dict.fromkeys(texts))}
            if len(numbers) > 1:
                found = Differences(map(text, numbers), settings)
                said = [numbers[of] for of in texts]
                yield from _rows(members, said, found)
                _part_ways(members["recording"], [found.outcomes[number] for number in said], camps, counts)


def _rows(members: pl.DataFrame, said: Sequence[int], found: Differences) -> Iterator[_Row]:
    """The rows of members by the number of the text that each of them said."""
    num_compared = sum(found.outcomes[number] is None for number in said)
    for place, number in zip(members.select(*PLACE, "turn").iter_rows(named=True), said, strict=True):
        if spans := found.spans_of(number):
            yield {**place, "num_replays": num_compared - 1}, spans


def _tables(rows: Iterable[_Row]) -> Iterator[pa.Table]:
    """Rows as tables of some thousand spans each: as objects of Python they take many times the memory."""
    waiting: list[dict[str, object]] = []
    num_spans = 0
    for place, spans in rows:
        waiting.append({**place, "spans": [{"start": start, "end": end} for start, end in spans]})
        num_spans += len(spans)
        if num_spans >= _SPANS_AT_ONCE:
            yield pa.Table.from_pylist(waiting, schema=SPANS)
            waiting.clear()
            num_spans = 0
    yield pa.Table.from_pylist(waiting, schema=SPANS)


def _part_ways(
    recordings: pl.Series, outcomes: Sequence[Outcome | None], camps: dict[int, int], counts: Counter[str]
) -> None:
    """Count what became of recordings, and give those that have diverged a camp of their own."""
    new_camp = 1 + max(camps.values(), default=0)
    for recording, outcome in zip(recordings, outcomes, strict=True):
        if outcome is not None:
            counts[outcome.value] += 1
        if outcome is Outcome.DIVERGED:
            camps[recording] = new_camp
