"""The volatile spans of a data set as a sidecar table: a row for each turn that has some.

The schema is explicit and versioned, and pinned by a golden file in the tests.
"""

from __future__ import annotations

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from curation.search_settings import VolatileSettings
from curation.search_tables import SearchTable
from trajectories.dataset import Dataset

SCHEMA_VERSION = 1

KEYS = ("domain", "run", "trajectory_id", "turn")
"""What names a row; the table is sorted by them."""

_SPAN = pa.struct([pa.field("start", pa.int64(), nullable=False), pa.field("end", pa.int64(), nullable=False)])

SPANS = pa.schema(
    [
        pa.field("domain", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("trajectory_id", pa.string(), nullable=False),
        pa.field("turn", pa.int32(), nullable=False),
        pa.field("spans", pa.list_(pa.field("element", _SPAN, nullable=False)), nullable=False),
        pa.field("num_replays", pa.int32(), nullable=False),
    ],
    metadata={b"schema_version": str(SCHEMA_VERSION).encode()},
)
"""The columns. ``spans`` are code points of the stored observation from ``start`` to ``end`` (excluded), in order and
apart from one another; what is not UTF-8 counts as U+FFFD for every sequence of bytes, as Python decodes it.
``num_replays`` other recordings did the same up to there and were compared."""


class VolatileSummary(BaseModel):
    """What a search came to: the whole of ``manifest.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    settings: VolatileSettings
    fingerprint: str
    """Changes with the settings, and with the parts that were searched."""
    num_groups: int
    """Groups of recordings that begin alike: of one task, from the same initial state, with the same first action."""
    num_turns_compared: int
    """Turns that have a replay."""
    num_turns_with_spans: int
    code_points_volatile: int
    num_diverged: int
    """Recordings that said something else than their reference at some turn, and were no replays of it from there."""
    num_skipped: int
    """Turns whose comparison with their reference would have been too much work; if not 0, spans may be missing."""


class Volatile(SearchTable[VolatileSummary]):
    """The table, sorted by its `KEYS`, and what the search came to."""

    __slots__ = ()
    NAME = "volatile"
    SOUGHT = "volatile spans"
    THIS = "these volatile spans"
    SUMMARY = VolatileSummary
    TABLE = "spans.parquet"


def open_volatile(dataset: Dataset, name: str = "default") -> Volatile:
    """The volatile spans of a data set by the name of the curation, whether it has been searched yet or not.

    Raises:
        InputError: the name cannot be a folder's, or the data set is not a local folder.
    """
    return Volatile.of(dataset, name)
