"""A few turns of each class to read."""

from __future__ import annotations

import polars as pl
import pyarrow.compute as pc
import pyarrow.dataset
from pydantic import BaseModel, ConfigDict

from curation.classes import CLASSES, TurnClass
from trajectories.dataset import Dataset

_PER_CLASS = 4
_PER_CLASS_AND_DOMAIN = 2
_TEXT_LIMIT = 1200
_PRESELECTED = 64


class Excerpt(BaseModel):
    """The beginning of a text, and how many code points of it were left out."""

    text: str
    num_left_out: int

    @classmethod
    def of(cls, text: str) -> Excerpt:
        return cls(text=text[:_TEXT_LIMIT], num_left_out=max(0, len(text) - _TEXT_LIMIT))


class Example(BaseModel):
    """One turn, as it was judged."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    trajectory_id: str
    turn: int
    domain: str
    turn_class: TurnClass
    ol: float
    nov: float
    jac: float
    r: float
    kept: bool
    action: Excerpt
    observation: Excerpt


def choose_examples(dataset: Dataset, rows: pl.LazyFrame) -> list[Example]:
    """Up to four turns of each class, of every domain before a second of any, in the order of the classes.

    Args:
        rows: the scan of a whole sidecar.
    """
    chosen = _chosen(rows).rows(named=True)
    texts = _texts(dataset, {(row["trajectory_id"], row["turn"]) for row in chosen})
    examples = []
    for row in chosen:
        action, observation = texts[row["trajectory_id"], row["turn"]]
        examples.append(
            Example(
                **{name: row[name] for name in ("trajectory_id", "turn", "domain", "ol", "nov", "jac", "r", "kept")},
                turn_class=row["class"],
                action=Excerpt.of(action),
                observation=Excerpt.of(observation),
            )
        )
    return sorted(examples, key=lambda example: (CLASSES.index(example.turn_class), example.domain, example.turn))


def _texts(dataset: Dataset, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], tuple[str, str]]:
    """(action, observation) of the wanted turns, by (trajectory_id, turn).

    Read by Arrow, which (unlike Polars) does not mind bad UTF-8 in the turns beside them, and one row group at a time.
    """
    parts = pyarrow.dataset.dataset([part.path for part in dataset.turn_parts()], filesystem=dataset.filesystem)
    turns = parts.to_table(
        columns=["trajectory_id", "turn", "action", "observation"],
        filter=pc.field("trajectory_id").isin(sorted({trajectory_id for trajectory_id, _ in wanted})),
        batch_readahead=1,
        fragment_readahead=1,
    )
    keys = zip(turns["trajectory_id"].to_pylist(), turns["turn"].to_pylist(), strict=True)
    return {
        key: (turns["action"][place].as_py(), turns["observation"][place].as_py())
        for place, key in enumerate(keys)
        if key in wanted
    }


def _chosen(rows: pl.LazyFrame) -> pl.DataFrame:
    """The sidecar rows of the examples, drawn by the low bits of ``u``: its high bits have decided what is kept."""
    drawn = rows.filter(pl.col("class").is_not_null()).with_columns(lot=(pl.col("u") * 2**20) % 1)
    groups = ["class", "domain"]
    # About so many of each group go on, or all of a small one: a share needs no group in memory, the lowest two would.
    # (The sizes are collected apart, for a plan that had the rows twice would keep them all.)
    sizes = drawn.group_by(groups).len("size").collect(engine="streaming")
    few = (
        drawn.join(sizes.lazy(), on=groups)
        .filter(pl.col("lot") * pl.col("size") < _PRESELECTED)
        .collect(engine="streaming")
    )
    return (
        few.sort("trajectory_id", "turn")
        .with_columns(place=pl.col("lot").rank("ordinal").over(groups))
        .filter(pl.col("place") <= _PER_CLASS_AND_DOMAIN)
        .sort("class", "place", "domain")
        .group_by("class", maintain_order=True)
        .head(_PER_CLASS)
    )
