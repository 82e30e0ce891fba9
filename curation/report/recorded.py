"""What the data set is that was curated: what was recorded, by domain, and where it came from."""

from __future__ import annotations

from datetime import datetime

import polars as pl
from pydantic import BaseModel

from curation.report.amounts import Count
from curation.report.texts import without_secrets
from trajectories.dataset import Dataset
from trajectories.model import FIRST_TIME

_MOST_NAMES = 100


class DomainFacts(BaseModel):
    """What was recorded of one domain. The counts by name are sorted, the most frequent first."""

    domain: str
    num_trajectories: Count
    num_tasks: Count
    num_turns: Count
    policies: dict[str, Count]
    statuses: dict[str, Count]
    error_kinds: dict[str, Count]
    """Turns the environment answered with an error, by whose it was."""
    num_timed_out: Count
    num_truncated: Count
    num_noop: Count


class DatasetFacts(BaseModel):
    """What the data set is."""

    name: str
    runs: list[str]
    first_started_at: datetime | None
    """None where no trajectory tells a time."""
    last_ended_at: datetime | None
    sandboxes: list[str]
    engines: list[str]
    device_kinds: list[str]
    licences: list[str]
    num_without_licence: Count
    """Trajectories that state none."""
    sources: list[str]
    """The most frequent, at most a hundred: imports may have one a trajectory."""
    num_sources: Count
    domains: list[DomainFacts]

    @property
    def num_trajectories(self) -> int:
        return sum(domain.num_trajectories for domain in self.domains)


def dataset_facts(dataset: Dataset) -> DatasetFacts:
    """What is written in the rows of the trajectories, and in the short columns of the turns."""
    turns, trajectories = dataset.scan_turns(), dataset.scan_trajectories()
    told = (pl.col(name).filter(pl.col(name) >= FIRST_TIME) for name in ("started_at", "ended_at"))
    started, ended = told
    span = trajectories.select(started.min(), ended.max()).collect(engine="streaming")
    domains = [_domain_facts(name, turns, trajectories) for name in sorted(_counts(trajectories, "domain"))]
    licences = _counts(trajectories, "licence")
    return DatasetFacts(
        name=dataset.folder.name,
        runs=sorted(_counts(trajectories, "run")),
        first_started_at=span["started_at"][0],
        last_ended_at=span["ended_at"][0],
        sandboxes=sorted(_counts(trajectories, "sandbox")),
        engines=sorted(_counts(trajectories, "engine")),
        device_kinds=sorted(_counts(trajectories, "device_kind")),
        licences=sorted(licences),
        num_without_licence=_num_without(trajectories, "licence"),
        sources=sorted(_counts(trajectories, "source")),
        num_sources=trajectories.select(pl.col("source").n_unique()).collect(engine="streaming").item(),
        domains=domains,
    )


def _domain_facts(domain: str, turns: pl.LazyFrame, trajectories: pl.LazyFrame) -> DomainFacts:
    turns = turns.filter(pl.col("domain") == domain)
    trajectories = trajectories.filter(pl.col("domain") == domain)
    sums = turns.select(
        pl.len().alias("turns"), *(pl.col(flag).sum() for flag in ("timed_out", "truncated", "is_noop"))
    ).collect(engine="streaming")
    return DomainFacts(
        domain=domain,
        num_trajectories=trajectories.select(pl.len()).collect(engine="streaming").item(),
        num_tasks=trajectories.select(pl.col("task_id").n_unique()).collect(engine="streaming").item(),
        num_turns=sums["turns"][0],
        policies=_counts(trajectories, "policy"),
        statuses=_counts(trajectories, "status"),
        error_kinds=_counts(turns, "error_kind"),
        num_timed_out=sums["timed_out"][0],
        num_truncated=sums["truncated"][0],
        num_noop=sums["is_noop"][0],
    )


def _num_without(rows: pl.LazyFrame, column: str) -> int:
    """How many rows have no value in a column, or an empty one."""
    return int(rows.select((pl.col(column).fill_null("") == "").sum()).collect(engine="streaming").item())


def _counts(rows: pl.LazyFrame, column: str) -> dict[str, int]:
    """How many rows have each value of a column, empty and null ones left out; the hundred most frequent, first those.

    Names are free text, so that there may be as many as rows.
    """
    values = (
        rows.filter(pl.col(column).is_not_null() & (pl.col(column) != ""))
        .group_by(column)
        .agg(pl.len().alias("count"))
        .sort(["count", column], descending=[True, False])
        .head(_MOST_NAMES)
        .collect(engine="streaming")
    )
    counts: dict[str, int] = {}
    for value, count in values.iter_rows():
        shown = without_secrets(value)
        counts[shown] = counts.get(shown, 0) + count
    return counts
