"""Where secrets and personal data stand in a data set, as a sidecar table: a row a finding, and never its value.

The table has a part for each part of the turns. The schema is explicit and versioned, and pinned by a golden file in
the tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from curation.manifest_files import read_manifest, write_manifest
from trajectories.dataset import Dataset, check_name
from trajectories.errors import InputError
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
    num_turns: int
    """Turns that hold one; headers of trajectories do not count here."""
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
    kinds: Mapping[str, KindFacts]


@dataclass(frozen=True, slots=True)
class SecretFindings:
    """The table in ``folder``: ``domain=…/run=…/part-*.parquet`` as the turns parts are named, and a manifest.

    The manifest is written last: a table that has one is whole.
    """

    folder: Path

    @property
    def work(self) -> Path:
        """Where the files of a search that is not done lie."""
        return self.folder / ".work"

    def parts(self) -> list[str]:
        """The paths of the parts that stand, below the folder, sorted."""
        found = (path.relative_to(self.folder) for path in self.folder.glob("domain=*/run=*/*.parquet"))
        return sorted(path.as_posix() for path in found)

    def summary(self) -> SecretsSummary | None:
        """What the search came to, None where it is not done.

        Raises:
            InputError: it cannot be understood, or a newer worldtape wrote it.
        """
        return read_manifest(
            self.folder,
            SecretsSummary,
            version=SCHEMA_VERSION,
            what="this search for secrets",
            mend="remove the file and search again",
        )

    def scan(self) -> pl.LazyFrame:
        """The findings, with the columns ``domain`` and ``run`` of the path; in order within a part.

        Raises:
            InputError: the data set has not been searched.
        """
        if self.summary() is None:
            raise InputError("nobody has searched for secrets", where=str(self.folder), mend="search first")
        return self._rows()

    def _rows(self) -> pl.LazyFrame:
        return scan_parts([str(self.folder / part) for part in self.parts()], base=str(self.folder))

    def write_summary(self, fingerprint: str, *, num_texts: int, code_points: int) -> SecretsSummary:
        """Declare the parts that stand to be the whole table, and sum them up."""
        rows = self._rows()
        kinds = dict(rows.group_by("kind").agg(*_COUNTS).sort("kind").collect(engine="streaming").rows_by_key("kind"))
        domains = rows.group_by("kind", "domain").len().sort("kind", "domain").collect(engine="streaming")
        num_findings, num_turns, num_trajectories = rows.select(*_COUNTS).collect(engine="streaming").row(0)
        summary = SecretsSummary(
            fingerprint=fingerprint,
            num_texts=num_texts,
            code_points=code_points,
            num_findings=num_findings,
            num_turns=num_turns,
            num_trajectories=num_trajectories,
            kinds={
                kind: KindFacts(
                    num_findings=counts[0][0],
                    num_turns=counts[0][1],
                    num_trajectories=counts[0][2],
                    by_domain=dict(domains.filter(pl.col("kind") == kind).select("domain", "len").iter_rows()),
                )
                for kind, counts in kinds.items()
            },
        )
        write_manifest(self.folder, summary)
        return summary


_TRAJECTORY = pl.struct("domain", "run", "trajectory_id")
_COUNTS = (
    pl.len(),
    pl.struct("domain", "run", "trajectory_id", "turn").filter(pl.col("turn") > 0).n_unique().alias("turns"),
    _TRAJECTORY.n_unique().alias("trajectories"),
)


def open_secrets(dataset: Dataset, name: str = "default") -> SecretFindings:
    """The findings in a data set by the name of the curation, whether it has been searched yet or not.

    Raises:
        InputError: the name cannot be a folder's, or the data set is not a local folder.
    """
    return SecretFindings(dataset.folder / "curation" / check_name(name, "curation") / "secrets")
