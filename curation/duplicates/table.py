"""The duplicates of a data set as sidecar tables: a row for each turn, or trajectory, that is not alone in its cluster.

What has no row is unique. The schemas are explicit and versioned, and pinned by a golden file in the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import polars as pl
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from curation.manifest_files import replace_tables
from curation.search_settings import DuplicateSettings
from curation.search_tables import SearchTables
from trajectories.dataset import Dataset

SCHEMA_VERSION = 1

_METADATA = {b"schema_version": str(SCHEMA_VERSION).encode()}
_PLACE = [
    pa.field("domain", pa.string(), nullable=False),
    pa.field("run", pa.string(), nullable=False),
    pa.field("trajectory_id", pa.string(), nullable=False),
]
_FINDING = [
    pa.field("cluster", pa.string(), nullable=False),
    pa.field("survivor", pa.bool_(), nullable=False),
    pa.field("exact", pa.bool_(), nullable=False),
    pa.field("similarity", pa.float64(), nullable=False),
]


class Unit(StrEnum):
    """What is compared with what; also the name of the table."""

    TURNS = "turns"
    TRAJECTORIES = "trajectories"


SCHEMAS: Mapping[Unit, pa.Schema] = {
    Unit.TURNS: pa.schema([*_PLACE, pa.field("turn", pa.int32(), nullable=False), *_FINDING], _METADATA),
    Unit.TRAJECTORIES: pa.schema([*_PLACE, *_FINDING], _METADATA),
}
"""The columns of the tables. ``cluster`` is the hash of the survivor's text; the survivor of a cluster is the earliest
started, and of those the one of the least trajectory id (then turn, domain, run). ``exact`` says that the text is
the survivor's own, ``similarity`` is the Jaccard index with the survivor. In a chain of similar texts it may be below
the threshold."""


class UnitSummary(BaseModel):
    """What was found among the turns, or among the trajectories."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_texts: int
    num_clusters: int
    """Of two members at least."""
    num_exact: int
    """Members whose text is their survivor's own, survivors not counted."""
    num_near: int
    """The other members, survivors not counted."""
    largest_cluster: int
    num_crowded: int
    """Times that a text was compared with the nearest of its bucket only; if not 0, near-duplicates may be missing."""


class DuplicatesSummary(BaseModel):
    """What a search came to: the whole of ``manifest.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    settings: DuplicateSettings
    fingerprint: str
    """Changes with the settings, and with the turns parts that were searched."""
    turns: UnitSummary
    trajectories: UnitSummary


class Duplicates(SearchTables[DuplicatesSummary]):
    """The tables in ``folder``. The manifest is written last: tables that have one are whole."""

    __slots__ = ()
    NAME = "duplicates"
    SOUGHT = "duplicates"
    THIS = "these duplicates"
    SUMMARY = DuplicatesSummary

    def path(self, unit: Unit) -> Path:
        return self.folder / f"{unit}.parquet"

    def scan(self, unit: Unit) -> pl.LazyFrame:
        """A table, sorted by its keys.

        Raises:
            InputError: the data set has not been searched.
        """
        self.require()
        return pl.scan_parquet(self.path(unit), glob=False, hive_partitioning=False)

    def replace(self, tables: Mapping[Unit, pa.Table], summary: DuplicatesSummary) -> None:
        """Put these tables in the place of those that stand.

        Raises:
            StorageError: the disk is full or fails.
        """
        replace_tables(self.folder, {self.path(unit): table for unit, table in tables.items()}, summary)


def open_duplicates(dataset: Dataset, name: str = "default") -> Duplicates:
    """The duplicates of a data set by the name of the curation, whether they have been searched for yet or not.

    Raises:
        InputError: the name cannot be a folder's, or the data set is not a local folder.
    """
    return Duplicates.of(dataset, name)
