"""The figures of a report: what the data set is, and what its curation found. Queries only; nothing is drawn here.

Everything is computed by streaming queries over small columns; of the turns' texts only the examples' are read.
"""

from __future__ import annotations

from datetime import datetime

import polars as pl
from pydantic import BaseModel

from curation.classes import CLASSES, TurnClass
from curation.profile import CurationProfile
from curation.reasons import MEANINGS, REASONS, Reason
from curation.report.examples import Example, choose_examples
from curation.report.histograms import Histogram, histograms
from curation.sidecar import Manifest, Sidecar
from trajectories.dataset import Dataset
from trajectories.errors import InputError


class DomainFacts(BaseModel):
    """What was recorded of one domain. The counts by name are sorted, the most frequent first."""

    domain: str
    num_trajectories: int
    num_tasks: int
    num_turns: int
    policies: dict[str, int]
    statuses: dict[str, int]
    error_kinds: dict[str, int]
    """Turns the environment answered with an error, by whose it was."""
    num_timed_out: int
    num_truncated: int
    num_noop: int


class DatasetFacts(BaseModel):
    """What the data set is."""

    name: str
    runs: list[str]
    first_started_at: datetime
    last_ended_at: datetime
    sandboxes: list[str]
    engines: list[str]
    device_kinds: list[str]
    licences: list[str]
    num_without_licence: int
    """Trajectories that state none."""
    sources: list[str]
    domains: list[DomainFacts]

    @property
    def num_trajectories(self) -> int:
        return sum(domain.num_trajectories for domain in self.domains)


class ClassFacts(BaseModel):
    """The turns of one class. ``realised`` is ``num_kept / num_turns``, after the filters, beside the ``keep_ratio`` of
    the draw."""

    name: TurnClass
    keep_ratio: float
    num_turns: int
    num_kept: int
    by_domain: dict[str, int]

    @property
    def realised(self) -> float | None:
        return self.num_kept / self.num_turns if self.num_turns else None


class ReasonFacts(BaseModel):
    """The turns of which one reason is told."""

    name: Reason
    meaning: str
    num_turns: int
    by_domain: dict[str, int]


class Report(BaseModel):
    """The whole of ``report.json``."""

    schema_version: int = 1
    curation: str
    profile: CurationProfile
    versions: dict[str, str]
    num_turns: int
    num_kept: int
    code_points: int
    code_points_kept: int
    """Of observations: what is in the loss, in characters."""
    reasons: list[ReasonFacts]
    """Those that occur, in the order in which the first that holds is told."""
    dataset: DatasetFacts
    classes: list[ClassFacts]
    statistics: list[Histogram]
    examples: list[Example]


def gather(dataset: Dataset, sidecar: Sidecar) -> Report:
    """The report of a whole sidecar.

    Raises:
        InputError: the data set is not curated (or not yet whole).
    """
    manifest = sidecar.manifest()
    if manifest is None:
        raise InputError("the data set is not curated", where=str(sidecar.folder), mend="run: worldtape curate DATASET")
    rows = sidecar.scan()
    code_points = pl.col("len_observation")
    sums = rows.select(code_points.sum().alias("all"), code_points.filter("kept").sum().alias("kept")).collect(
        engine="streaming"
    )
    return Report(
        curation=manifest.name,
        profile=manifest.profile,
        versions=manifest.versions,
        num_turns=manifest.num_turns,
        num_kept=manifest.num_kept,
        code_points=sums["all"][0],
        code_points_kept=sums["kept"][0],
        reasons=_reason_facts(rows),
        dataset=_dataset_facts(dataset),
        classes=_class_facts(rows, manifest),
        statistics=histograms(rows),
        examples=choose_examples(dataset, rows),
    )


def _dataset_facts(dataset: Dataset) -> DatasetFacts:
    turns, trajectories = dataset.scan_turns(), dataset.scan_trajectories()
    span = trajectories.select(pl.col("started_at").min(), pl.col("ended_at").max()).collect(engine="streaming")
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
        num_without_licence=sum(domain.num_trajectories for domain in domains) - sum(licences.values()),
        sources=sorted(_counts(trajectories, "source")),
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


def _class_facts(rows: pl.LazyFrame, manifest: Manifest) -> list[ClassFacts]:
    counted = (
        rows.group_by("class", "domain")
        .agg(pl.len().alias("turns"), pl.col("kept").sum())
        .sort("class", "domain")
        .collect(engine="streaming")
    )
    facts = []
    for name in CLASSES:
        of_class = counted.filter(pl.col("class") == name.value)
        facts.append(
            ClassFacts(
                name=name,
                keep_ratio=manifest.profile.keep_ratios.of(name),
                num_turns=int(of_class["turns"].sum()),
                num_kept=int(of_class["kept"].sum()),
                by_domain=dict(zip(of_class["domain"], of_class["turns"], strict=True)),
            )
        )
    return facts


def _reason_facts(rows: pl.LazyFrame) -> list[ReasonFacts]:
    counted = rows.group_by("reason", "domain").len("turns").sort("domain").collect(engine="streaming")
    facts = []
    for reason in REASONS:
        of_reason = counted.filter(pl.col("reason") == reason.value)
        by_domain = dict(zip(of_reason["domain"], of_reason["turns"], strict=True))
        facts.append(
            ReasonFacts(name=reason, meaning=MEANINGS[reason], num_turns=sum(by_domain.values()), by_domain=by_domain)
        )
    return [of_reason for of_reason in facts if of_reason.num_turns]


def _counts(rows: pl.LazyFrame, column: str) -> dict[str, int]:
    """How many rows have each value of a column, empty and null ones left out; the most frequent first."""
    values = (
        rows.filter(pl.col(column).is_not_null() & (pl.col(column) != ""))
        .group_by(column)
        .agg(pl.len().alias("count"))
        .sort(["count", column], descending=[True, False])
        .collect(engine="streaming")
    )
    return dict(values.iter_rows())
