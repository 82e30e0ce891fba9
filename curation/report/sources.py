"""Where the turns came from: the runs that have most of them, and what the imports among them had to leave out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import polars as pl
from pydantic import BaseModel

from curation.classes import CLASSES
from curation.report.amounts import Amounts, Count, amounts
from curation.report.texts import without_secrets
from trajectories.dataset import Dataset
from trajectories.importers.loss import LossReport
from trajectories.part_files import open_part, reading_part

NUM_LARGEST = 30
_ROWS_AT_ONCE = 1000


class SourceFacts(BaseModel):
    """The turns of one run, or of several together."""

    run: str
    """Empty where it is several."""
    source_formats: list[str]
    num_trajectories: Count
    total: Amounts
    classes: dict[str, Count]
    """Turns by class; unreadable ones have none."""


class Sources(BaseModel):
    """The runs by their turns, the largest first."""

    largest: list[SourceFacts]
    num_others: Count
    others: SourceFacts | None


class ImportFacts(BaseModel):
    """What the loss reports of one format's trajectories come to, by kind (`trajectories.importers.loss`)."""

    source_format: str
    num_trajectories: Count
    num_without_report: Count
    """Trajectories whose report cannot be understood."""
    no_place: dict[str, Count]
    inferred: dict[str, Count]
    skipped: dict[str, Count]


def sources(dataset: Dataset, tallied: pl.DataFrame) -> Sources:
    """The largest runs, and the others as one."""
    formats = (
        dataset.scan_trajectories()
        .group_by("run", "source_format")
        .len("trajectories")
        .sort("run", "source_format")
        .collect(engine="streaming")
    )
    by_size = tallied.group_by("run").agg(pl.col("turns").sum()).sort(["turns", "run"], descending=[True, False])
    runs = by_size["run"].to_list()
    others = runs[NUM_LARGEST:]
    return Sources(
        largest=[_source(run, [run], tallied, formats) for run in runs[:NUM_LARGEST]],
        num_others=len(others),
        others=_source("", others, tallied, formats) if others else None,
    )


def _source(name: str, runs: list[str], tallied: pl.DataFrame, formats: pl.DataFrame) -> SourceFacts:
    of_runs = tallied.filter(pl.col("run").is_in(runs))
    headers = formats.filter(pl.col("run").is_in(runs))
    by_class = dict(of_runs.group_by("class").agg(pl.col("turns").sum()).iter_rows())
    return SourceFacts(
        run=name,
        source_formats=sorted({without_secrets(text) for text in headers["source_format"].drop_nulls() if text}),
        num_trajectories=int(headers["trajectories"].sum()),
        total=amounts(of_runs),
        classes={kind.value: by_class.get(kind.value, 0) for kind in CLASSES},
    )


def import_facts(dataset: Dataset) -> list[ImportFacts]:
    """The loss reports of every format that has any, summed up, in the order of the formats' names.

    Raises:
        DamagedFileError: a part cannot be read.
    """
    sums: dict[str, LossReport] = {}
    trajectories: Counter[str] = Counter()
    without: Counter[str] = Counter()
    for source_format, written in _loss_reports(dataset):
        trajectories[source_format] += 1
        loss = _understood(written)
        if loss is None:
            without[source_format] += 1
        else:
            sums.setdefault(source_format, LossReport()).add(loss)
    told = sorted({*without, *(name for name, loss in sums.items() if loss.as_json())})
    losses = [sums.get(source_format, LossReport()) for source_format in told]
    return [
        ImportFacts(
            source_format=without_secrets(source_format),
            num_trajectories=trajectories[source_format],
            num_without_report=without[source_format],
            no_place=_counted(loss.no_place),
            inferred=_counted(loss.inferred),
            skipped=_counted(loss.skipped),
        )
        for source_format, loss in zip(told, losses, strict=True)
    ]


def _loss_reports(dataset: Dataset) -> Iterator[tuple[str, str | None]]:
    """(source_format, loss_report_json) of every trajectory, some in memory at a time."""
    for part in dataset.trajectory_parts():
        with reading_part(part.path), open_part(part.path, filesystem=dataset.filesystem) as file:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=["source_format", "loss_report_json"]):
                for row in batch.to_pylist():
                    yield row["source_format"] or "", row["loss_report_json"]


def _understood(written: str | None) -> LossReport | None:
    """The loss report of one trajectory; None where it is none."""
    try:
        parts = json.loads(written or "")
        loss = LossReport()
        for name, note in (("no_place", loss.drop), ("inferred", loss.infer), ("skipped", loss.skip)):
            for kind, count in parts.get(name, {}).items():
                note(kind, _checked(count))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return None
    return loss


def _checked(count: object) -> int:
    if type(count) is not int or not 0 <= count < 2**31:
        raise TypeError("no count")
    return count


def _counted(kinds: Counter[str]) -> dict[str, int]:
    """The most frequent first."""
    counts: Counter[str] = Counter()
    for kind, count in kinds.items():
        counts[without_secrets(kind)] += count
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
