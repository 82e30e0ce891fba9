"""What the imports of a data set had to leave out, by the format of their sources."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from pydantic import BaseModel

from curation.report.amounts import Count
from curation.report.texts import without_secrets
from trajectories.dataset import Dataset
from trajectories.importers.loss import LossReport
from trajectories.part_files import open_part, reading_part

_ROWS_AT_ONCE = 1000


class ImportFacts(BaseModel):
    """What the loss reports of one format's trajectories come to, by kind (`trajectories.importers.loss`)."""

    source_format: str
    num_trajectories: Count
    num_without_report: Count
    """Trajectories whose report cannot be understood."""
    no_place: dict[str, Count]
    inferred: dict[str, Count]
    skipped: dict[str, Count]


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
