"""A few turns to read: of each class, and of each reason for which turns are masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from pydantic import BaseModel, ConfigDict

from curation.classes import CLASSES, TurnClass
from curation.reasons import REASONS, Reason
from curation.report.texts import Excerpt, Place, excerpts
from trajectories.dataset import Dataset

_PER_CLASS = 4
_PER_CLASS_AND_DOMAIN = 2
_PER_REASON = 2
_PRESELECTED = 64
_TASK = "instruction"

_Row = Mapping[str, Any]


class Example(BaseModel):
    """One turn, as it was judged. An unreadable one has no class and no statistics."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    domain: str
    run: str
    trajectory_id: str
    turn: int
    turn_class: TurnClass | None
    ol: float | None
    nov: float | None
    jac: float | None
    r: float | None
    kept: bool
    reason: Reason
    task: Excerpt
    action: Excerpt
    observation: Excerpt


class Examples(BaseModel):
    """Of the classes in the order of their rules, and of the reasons in the order in which they are told."""

    of_classes: list[Example]
    of_reasons: list[Example]


def choose_examples(dataset: Dataset, rows: pl.LazyFrame) -> Examples:
    """Up to four turns of each class, up to two masked ones of each reason: of every domain before a second of any.

    Args:
        rows: the scan of a whole sidecar.

    Raises:
        DamagedFileError: a part cannot be read.
    """
    of_classes = _drawn(
        rows.filter(pl.col("class").is_not_null()), "class", most=_PER_CLASS, most_of_domain=_PER_CLASS_AND_DOMAIN
    )
    of_reasons = _drawn(rows.filter(~pl.col("kept")), "reason", most=_PER_REASON, most_of_domain=_PER_REASON)
    texts = excerpts(dataset, {place for row in (*of_classes, *of_reasons) for place in _places(row).values()})
    return Examples(
        of_classes=_in_order([_example(row, texts) for row in of_classes]),
        of_reasons=_in_order([_example(row, texts) for row in of_reasons], by_reason=True),
    )


def _places(row: _Row) -> dict[str, Place]:
    """Where the texts of an example stand, by their names in it."""
    trajectory = row["domain"], row["run"], row["trajectory_id"]
    return {
        "task": Place(*trajectory, 0, _TASK),
        **{column: Place(*trajectory, row["turn"], column) for column in ("action", "observation")},
    }


def _example(row: _Row, texts: Mapping[Place, Excerpt]) -> Example:
    given = ("domain", "run", "trajectory_id", "turn", "ol", "nov", "jac", "r", "kept", "reason")
    places = _places(row)
    return Example(
        **{name: row[name] for name in given},
        turn_class=row["class"],
        task=texts[places["task"]],
        action=texts[places["action"]],
        observation=texts[places["observation"]],
    )


def _in_order(examples: Sequence[Example], *, by_reason: bool = False) -> list[Example]:
    def key(example: Example) -> tuple[int, str, str, int]:
        kind = CLASSES.index(example.turn_class) if example.turn_class else len(CLASSES)
        place = REASONS.index(example.reason) if by_reason else kind
        return place, example.domain, example.trajectory_id, example.turn

    return sorted(examples, key=key)


def _drawn(rows: pl.LazyFrame, kind: str, *, most: int, most_of_domain: int) -> list[dict[str, Any]]:
    """Rows of every kind, drawn by the low bits of ``u``: its high bits have decided what is kept."""
    drawn = rows.with_columns(lot=(pl.col("u") * 2**20) % 1)
    groups = [kind, "domain"]
    # About so many of each group go on, or all of a small one: a share needs no group in memory, the lowest two would.
    # (The sizes are collected apart, for a plan that had the rows twice would keep them all.)
    sizes = drawn.group_by(groups).len("size").collect(engine="streaming")
    few = (
        drawn.join(sizes.lazy(), on=groups)
        .filter(pl.col("lot") * pl.col("size") < _PRESELECTED)
        .collect(engine="streaming")
    )
    chosen = (
        few.sort("trajectory_id", "turn", "domain", "run")
        .with_columns(place=pl.col("lot").rank("ordinal").over(groups))
        .filter(pl.col("place") <= most_of_domain)
        .sort(kind, "place", "domain")
        .group_by(kind, maintain_order=True)
        .head(most)
    )
    return chosen.rows(named=True)
