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
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from curation.pieces import Piece
from curation.replays.alignment import Block, common_blocks
from curation.replays.digests import FetchedFiles, fetched
from curation.replays.plan import PLACE, Group
from curation.replays.spans import Spans, outside, shifted, union
from curation.replays.table import SPANS
from curation.search_settings import VolatileSettings
from trajectories.files import storage_errors, written_whole

_COUNTS = b"counts"

Row: TypeAlias = "dict[str, object]"
_Text: TypeAlias = tuple[int, int]
"""Which observation: the number of the piece it is of, and its own among those fetched from there."""


class Outcome(Enum):
    """What becomes of a text that has no spans in common with its reference."""

    DIVERGED = "num_diverged"
    SKIPPED = "num_skipped"


def volatile_spans(
    reference: str, others: Iterable[str], settings: VolatileSettings
) -> tuple[Spans, list[Spans | Outcome]]:
    """What is volatile in a text and in others that were observed in its stead.

    Args:
        reference: the text that all others are compared with.
        others: they are needed one at a time, and only once.

    Returns:
        The spans of the reference, and of each other its own, or why it has none.
    """
    compared = [_compared(reference, other, settings) for other in others]
    common = [found for found in compared if isinstance(found, _Common)]
    spans = union(found.spans for found in common)
    return spans, [found.own_spans(spans) if isinstance(found, _Common) else found for found in compared]


@dataclass(frozen=True, slots=True)
class _Common:
    """What another text has in common with its reference."""

    blocks: Sequence[Block]
    spans: Spans
    """Where the reference differs from it."""
    others: Spans
    """Where it differs from the reference."""

    def own_spans(self, of_reference: Spans) -> Spans:
        """Where it is volatile: where it differs itself, or has in common what differs elsewhere."""
        return union([self.others, shifted(of_reference, self.blocks)])


def _compared(reference: str, other: str, settings: VolatileSettings) -> _Common | Outcome:
    blocks = common_blocks(reference, other, settings.max_cells)
    if blocks is None:
        return Outcome.SKIPPED
    spans = outside([(block.first, block.first + block.size) for block in blocks], len(reference))
    others = outside([(block.second, block.second + block.size) for block in blocks], len(other))
    for differing, text in ((spans, reference), (others, other)):
        if sum(end - start for start, end in differing) > settings.max_differing * len(text):
            return Outcome.DIVERGED
    return _Common(blocks, spans, others)


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
    files = [FetchedFiles.of(piece, work) for piece in pieces]
    counts: Counter[str] = Counter()
    rows = [
        row
        for group in groups
        for row in _rows_of_group(turns.slice(group.first - begin, group.end - group.first), files, settings, counts)
    ]
    schema = SPANS.with_metadata({_COUNTS: json.dumps(counts).encode()})
    with storage_errors(path), written_whole(path) as file:
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    return path


def spans_found(path: Path) -> tuple[pa.Table, Counter[str]]:
    """The spans that `compare_groups` wrote, and what it counted: names of `VolatileSummary`."""
    table = pq.read_table(path, partitioning=None)
    return table.cast(SPANS), Counter(json.loads(table.schema.metadata[_COUNTS]))


def _rows_of_group(
    turns: pl.DataFrame, files: Sequence[FetchedFiles], settings: VolatileSettings, counts: Counter[str]
) -> Iterator[Row]:
    """The rows of one group's turns that have spans; ``counts`` is added to."""
    camps: dict[int, int] = {}
    for _, together in turns.group_by("turn", "same", maintain_order=True):
        camp = pl.Series([camps.get(recording, 0) for recording in together["recording"]])
        for _, members in together.with_columns(camp=camp).group_by("camp", maintain_order=True):
            if len(members) > 1:
                counts["num_turns_compared"] += len(members)
                texts = list(zip(members["piece"], members["text"], strict=True))
                found = _spans_of(texts, files, settings)
                yield from _rows(members, texts, found)
                _part_ways(members, texts, found, camps, counts)


def _spans_of(
    texts: Sequence[_Text], files: Sequence[FetchedFiles], settings: VolatileSettings
) -> Mapping[_Text, Spans | Outcome]:
    """The spans of each distinct text, of which the first is the reference."""
    reference, *others = dict.fromkeys(texts)
    if not others:
        return {reference: []}

    def text(of: _Text) -> str:
        piece, place = of
        return fetched(files[piece], place)

    spans, of_others = volatile_spans(text(reference), map(text, others), settings)
    return {reference: spans, **dict(zip(others, of_others, strict=True))}


def _rows(members: pl.DataFrame, texts: Sequence[_Text], found: Mapping[_Text, Spans | Outcome]) -> Iterator[Row]:
    num_compared = sum(not isinstance(found[text], Outcome) for text in texts)
    for row, text in zip(members.select(*PLACE, "turn").iter_rows(named=True), texts, strict=True):
        spans = found[text]
        if not isinstance(spans, Outcome) and spans:
            named = [{"start": start, "end": end} for start, end in spans]
            yield {**row, "spans": named, "num_replays": num_compared - 1}


def _part_ways(
    members: pl.DataFrame,
    texts: Sequence[_Text],
    found: Mapping[_Text, Spans | Outcome],
    camps: dict[int, int],
    counts: Counter[str],
) -> None:
    """Count what became of the members, and give those that have diverged a camp of their own."""
    new_camp = 1 + max(camps.values(), default=0)
    for recording, text in zip(members["recording"], texts, strict=True):
        outcome = found[text]
        if isinstance(outcome, Outcome):
            counts[outcome.value] += 1
        if outcome is Outcome.DIVERGED:
            camps[recording] = new_camp
