"""The benchmark items found in a data set as a sidecar table: a row for each text and item that it holds.

The schema is explicit and versioned, and pinned by a golden file in the tests.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from curation.contamination.index import SourceFacts
from curation.search_settings import ContaminationSettings
from curation.search_tables import SearchTable
from trajectories.dataset import Dataset

SCHEMA_VERSION = 1


KEYS = ("domain", "run", "trajectory_id", "turn", "field", "source", "item")
"""What names a row; the table is sorted by them."""

HITS = pa.schema(
    [
        pa.field("domain", pa.string(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("trajectory_id", pa.string(), nullable=False),
        pa.field("turn", pa.int32(), nullable=False),
        pa.field("field", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("item", pa.string(), nullable=False),
        pa.field("num_ngrams", pa.int64(), nullable=False),
        pa.field("longest_run", pa.int64(), nullable=False),
        pa.field("item_share", pa.float64(), nullable=False),
        pa.field("text_share", pa.float64(), nullable=False),
    ],
    metadata={b"schema_version": str(SCHEMA_VERSION).encode()},
)
"""The columns. Turn 0 is the header of the trajectory, ``field`` the column of the text. ``num_ngrams`` distinct
n-grams of the item are in the text, the share ``item_share`` of all it has; ``longest_run`` is in words, and
``text_share`` is the share of the text's n-grams that the item has."""


class ContaminationSummary(BaseModel):
    """What a search came to: the whole of ``manifest.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    settings: ContaminationSettings
    fingerprint: str
    """Changes with the settings, the benchmarks, and the parts that were searched."""
    sources: Mapping[str, SourceFacts]
    num_hits: int
    num_turns: int
    """Turns that hold an item; headers of trajectories do not count here."""
    num_trajectories: int
    """Trajectories with a hit, in a turn or in the header."""
    items_found: Mapping[str, int]
    """Distinct items found, by source."""


class Contamination(SearchTable[ContaminationSummary]):
    """The table, sorted by its `KEYS`, and what the search came to."""

    __slots__ = ()
    NAME = "contamination"
    SOUGHT = "contamination"
    THIS = "this search for contamination"
    SUMMARY = ContaminationSummary
    TABLE = "hits.parquet"


def open_contamination(dataset: Dataset, name: str = "default") -> Contamination:
    """What was found in a data set by the name of the curation, whether it has been searched yet or not.

    Raises:
        InputError: the name cannot be a folder's, or the data set is not a local folder.
    """
    return Contamination.of(dataset, name)
