"""Where the turns came from, and the classes by that: the runs, and the sources of what was imported.

The *source* of a trajectory is here what it shares with others: of the place that an import has noted for it, the file
without the line, the archive without the member, the site without the page, the collection without the document.
Trajectories whose import or task names no place have their run for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

import polars as pl
from pydantic import BaseModel

from curation.classes import CLASSES
from curation.pieces import place_of_part
from curation.places import file_of
from curation.report.amounts import Amounts, Count
from curation.report.texts import without_secrets
from curation.sidecar import Sidecar
from trajectories.dataset import Dataset
from trajectories.part_files import read_part, reading_part

NUM_LARGEST: Final = 1000
"""So many are told one by one: a folder may hold a file a trajectory."""

_HEADER: Final = ["trajectory_id", "split_group", "source", "source_format"]
_ORIGIN: Final = ["run", "source", "source_format"]
_AMOUNTS: Final = ["num_turns", "num_kept", "code_points", "code_points_kept"]
_CLASSES: Final = [name.value for name in CLASSES]
_COUNTS: Final = ["num_trajectories", *_AMOUNTS, *_CLASSES]

_ARCHIVE: Final = r"(?is)^(.*?\.(?:zip|tar|tgz|tbz2?|txz|tzst|tar\.(?:gz|bz2|xz|zst)))!"
_SITE: Final = r"^(https?://[^/?#]+)"


class OriginFacts(BaseModel):
    """The turns of one origin, or of several together."""

    name: str
    """Empty where it is several."""
    source_formats: list[str]
    num_trajectories: Count
    total: Amounts
    classes: dict[str, Count]
    """Turns by class; unreadable ones have none."""


class Origins(BaseModel):
    """The origins of one kind, those with the most turns first."""

    largest: list[OriginFacts]
    """At most `NUM_LARGEST`."""
    num_others: Count
    others: OriginFacts | None

    def at_most(self, num_largest: int) -> Self:
        """The same with no more than so many told one by one."""
        rest = self.largest[num_largest:]
        if not rest:
            return self
        return type(self)(
            largest=self.largest[:num_largest],
            num_others=self.num_others + len(rest),
            others=_together([*rest, *([self.others] if self.others else [])]),
        )


def origins(dataset: Dataset, sidecar: Sidecar) -> tuple[Origins, Origins]:
    """The origins of a whole sidecar's turns: the runs, and the sources.

    The trajectories of one part are in memory at a time, and a dozen numbers of every source there is.

    Raises:
        DamagedFileError: a part cannot be read.
    """
    counted = _summed(_by_part(dataset, sidecar))
    return _ranked(counted, "run"), _ranked(counted, "source")


def source_of() -> pl.Expr:
    """The source of trajectories, of their columns ``source``, ``split_group`` and ``run``."""
    place, group = pl.col("source").fill_null(""), pl.col("split_group").fill_null("")
    # An import that was told the name of its collection writes it before each place, and makes it the split group.
    of_collection = (group != "") & place.str.starts_with(pl.concat_str(group, pl.lit(": ")))
    file = file_of(place)
    return (
        pl.when(place == "")
        .then(pl.concat_str(pl.lit("run "), pl.col("run")))
        .when(of_collection)
        .then(group)
        .when(place.str.contains(_ARCHIVE))
        .then(place.str.extract(_ARCHIVE))
        .when(file != place)
        .then(file)
        .otherwise(pl.coalesce(place.str.extract(_SITE), place))
    )


def _by_part(dataset: Dataset, sidecar: Sidecar) -> Iterator[pl.DataFrame]:
    """`_COUNTS` by `_ORIGIN` of each part. No trajectory goes over a part's end."""
    base = f"{dataset.root}/trajectories/"
    recorded = {part.path.removeprefix(base): part.path for part in dataset.trajectory_parts()}
    judged = {*sidecar.whole().parts}
    for name in sorted({*recorded, *judged}):
        rows = _headers(dataset, recorded.get(name))
        if name in judged:
            rows = rows.join(_judged(sidecar, name), on="trajectory_id", how="full", coalesce=True)
        else:
            rows = rows.with_columns(pl.lit(0).alias(count) for count in (*_AMOUNTS, *_CLASSES))
        _, run = place_of_part(name)
        rows = rows.with_columns(pl.lit(run).alias("run"), pl.lit(1).alias("num_trajectories"))
        counts = (pl.col(count).fill_null(0).cast(pl.Int64) for count in _COUNTS)
        placed = rows.select("run", source_of().alias("source"), pl.col("source_format").fill_null(""), *counts)
        yield placed.group_by(_ORIGIN).sum()


def _headers(dataset: Dataset, part: str | None) -> pl.DataFrame:
    """The columns `_HEADER` of a part's trajectories; no rows where there is no such part."""
    empty = pl.DataFrame(schema=dict.fromkeys(_HEADER, pl.String))
    if part is None:
        return empty
    with reading_part(part):
        table = read_part(part, columns=_HEADER, filesystem=dataset.filesystem)
        return empty.vstack(pl.DataFrame(table).select(pl.col(name).cast(pl.String) for name in _HEADER))


def _judged(sidecar: Sidecar, part: str) -> pl.DataFrame:
    """`_AMOUNTS` and turns by class of each trajectory of a part."""
    length = pl.col("len_observation")
    return (
        pl.scan_parquet(sidecar.folder / part, glob=False, hive_partitioning=False)
        .group_by("trajectory_id")
        .agg(
            pl.len().alias("num_turns"),
            pl.col("kept").sum().alias("num_kept"),
            length.sum().alias("code_points"),
            length.filter(pl.col("kept")).sum().alias("code_points_kept"),
            *((pl.col("class") == name).sum().alias(name) for name in _CLASSES),
        )
        .collect(engine="streaming")
    )


def _summed(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The sums of all frames. Those that wait to be added are as many rows as the sum has, or a part's."""
    total, waiting = pl.DataFrame(), list[pl.DataFrame]()
    for frame in frames:
        waiting.append(frame)
        if sum(map(len, waiting)) > len(total):
            total, waiting = _sum([total, *waiting]), []
    return _sum([total, *waiting])


def _sum(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([frame for frame in frames if frame.width]).group_by(_ORIGIN).sum()


def _ranked(counted: pl.DataFrame, kind: str) -> Origins:
    """The origins that a column names."""
    found = (
        counted.group_by(pl.col(kind).alias("name"))
        .agg(pl.col("source_format").unique(), *(pl.col(count).sum() for count in _COUNTS))
        .sort(["num_turns", "name"], descending=[True, False])
    )
    rest = found[NUM_LARGEST:]
    others = rest.select(
        pl.lit("").alias("name"),
        pl.col("source_format").explode().unique().implode(),
        *(pl.col(count).sum() for count in _COUNTS),
    )
    return Origins(
        largest=[_facts(row) for row in found[:NUM_LARGEST].iter_rows(named=True)],
        num_others=len(rest),
        others=_facts(others.row(0, named=True)) if len(rest) else None,
    )


def _facts(row: Mapping[str, Any]) -> OriginFacts:
    return OriginFacts(
        name=without_secrets(row["name"]),
        source_formats=sorted({without_secrets(text) for text in row["source_format"] if text}),
        num_trajectories=row["num_trajectories"],
        total=Amounts(**{name: row[name] for name in _AMOUNTS}),
        classes={name: row[name] for name in _CLASSES},
    )


def _together(facts: Sequence[OriginFacts]) -> OriginFacts:
    return OriginFacts(
        name="",
        source_formats=sorted({name for one in facts for name in one.source_formats}),
        num_trajectories=sum(one.num_trajectories for one in facts),
        total=Amounts(**{name: sum(getattr(one.total, name) for one in facts) for name in _AMOUNTS}),
        classes={name: sum(one.classes[name] for one in facts) for name in _CLASSES},
    )
