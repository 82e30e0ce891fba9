"""Where secrets and personal data stand in a data set, as a sidecar table: a row a finding, and never its value.

The table has a part for each part of the turns. The schema is explicit and versioned, and pinned by a golden file in
the tests.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from curation.manifest_files import parts_below, write_checksums, write_manifest
from curation.search_tables import SearchTables
from trajectories.dataset import Dataset
from trajectories.part_files import scan_parts

SCHEMA_VERSION = 1

FINDINGS = pa.schema(
    [
        pa.field("trajectory_id", pa.string(), nullable=False),
        pa.field("turn", pa.int32(), nullable=False),
        pa.field("field", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("rule", pa.string(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
        pa.field("end", pa.int64(), nullable=False),
    ],
    metadata={b"schema_version": str(SCHEMA_VERSION).encode()},
)
"""The columns; ``domain`` and ``run`` are hive keys of the path. Turn 0 is the header of the trajectory, ``field`` the
column of the text, and ``text[start:end]``, in code points, what was found in it by ``rule``. Bytes that are not UTF-8
count as the U+FFFD that stand for them."""


class KindFacts(BaseModel):
    """What was found of one kind of secrets or personal data."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_findings: int
    """Places where a rule tells what stands there; what is packed loses the other places of the value too."""
    num_turns: int
    """Turns that hold one; headers of trajectories do not count here."""
    num_before_turns: int = 0
    """Findings in headers: in the task, or in what the system says first."""
    num_trajectories: int
    """Trajectories that hold one, in a turn or in the header."""
    by_domain: Mapping[str, int]
    """Findings."""


class SecretsSummary(BaseModel):
    """What a search came to: the whole of ``manifest.json``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA_VERSION
    fingerprint: str
    """Changes with the rules, and with the turns parts that were searched."""
    num_texts: int
    code_points: int
    """Of the texts that were searched."""
    num_findings: int
    num_turns: int
    """As of a kind, and so is ``num_trajectories``."""
    num_trajectories: int
    num_before_turns: int = 0
    """As of a kind."""
    kinds: Mapping[str, KindFacts]


class SecretFindings(SearchTables[SecretsSummary]):
    """The table in ``folder``: ``domain=…/run=…/part-*.parquet`` as the turns parts are named, and a manifest.

    The manifest is written last: a table that has one is whole.
    """

    __slots__ = ()
    NAME = "secrets"
    SOUGHT = "secrets"
    THIS = "this search for secrets"
    SUMMARY = SecretsSummary

    def parts(self) -> list[str]:
        """The paths of the parts that stand, below the folder, sorted."""
        return parts_below(self.folder)

    def scan(self) -> pl.LazyFrame:
        """The findings, with the columns ``domain`` and ``run`` of the path; in order within a part.

        Raises:
            InputError: the data set has not been searched.
        """
        self.require()
        return self._rows()

    def _rows(self) -> pl.LazyFrame:
        return scan_parts([str(self.folder / part) for part in self.parts()], base=str(self.folder))

    def write_summary(self, fingerprint: str, *, num_texts: int, code_points: int) -> SecretsSummary:
        """Declare the parts that stand to be the whole table, and sum them up."""
        rows = self._rows()
        kinds = dict(rows.group_by("kind").agg(*_COUNTS).sort("kind").collect(engine="streaming").rows_by_key("kind"))
        domains = rows.group_by("kind", "domain").len().sort("kind", "domain").collect(engine="streaming")
        num_findings, num_turns, num_trajectories, num_before_turns = (
            rows.select(*_COUNTS).collect(engine="streaming").row(0)
        )
        summary = SecretsSummary(
            fingerprint=fingerprint,
            num_texts=num_texts,
            code_points=code_points,
            num_findings=num_findings,
            num_turns=num_turns,
            num_trajectories=num_trajectories,
            num_before_turns=num_before_turns,
            kinds={
                kind: KindFacts(
                    num_findings=counts[0][0],
                    num_turns=counts[0][1],
                    num_trajectories=counts[0][2],
                    num_before_turns=counts[0][3],
                    by_domain=dict(domains.filter(pl.col("kind") == kind).select("domain", "len").iter_rows()),
                )
                for kind, counts in kinds.items()
            },
        )
        write_checksums(self.folder, self.parts())
        write_manifest(self.folder, summary)
        return summary


_TRAJECTORY = pl.struct("domain", "run", "trajectory_id")
_COUNTS = (
    pl.len(),
    pl.struct("domain", "run", "trajectory_id", "turn").filter(pl.col("turn") > 0).n_unique().alias("turns"),
    _TRAJECTORY.n_unique().alias("trajectories"),
    (pl.col("turn") == 0).sum().alias("before_turns"),
)


def open_secrets(dataset: Dataset, name: str = "default") -> SecretFindings:
    """The findings in a data set by the name of the curation, whether it has been searched yet or not.

    Raises:
        InputError: the name cannot be a folder's, or the data set is not a local folder.
    """
    return SecretFindings.of(dataset, name)
