"""The distributions of the four statistics, by domain."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from pydantic import BaseModel

_BINS = 20
_FINE_BINS = 2000
"""Counted in these, which is all the memory it takes; quantiles are exact to half a fine bin."""
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Histogram(BaseModel):
    """Of one statistic. Bin i is ``[edges[i], edges[i + 1])``; values outside are in the outermost bins."""

    name: str
    edges: list[float]
    by_domain: dict[str, list[int]]
    quantiles: dict[str, float]
    """Over all domains, infinite values left out."""


@dataclass(frozen=True, slots=True)
class _Statistic:
    name: str
    values: pl.Expr
    low: float
    high: float

    def edges(self) -> list[float]:
        return [round(self.low + (self.high - self.low) * step / _BINS, 6) for step in range(_BINS + 1)]

    def fine_bins(self) -> pl.Expr:
        place = (self.values - self.low) / (self.high - self.low) * _FINE_BINS
        return place.clip(0, _FINE_BINS - 1).floor().cast(pl.Int32)

    def middle(self, fine_bin: int) -> float:
        return round(self.low + (self.high - self.low) * (fine_bin + 0.5) / _FINE_BINS, 3)


_STATISTICS = (
    _Statistic("OL", pl.col("ol"), 0, 1),
    _Statistic("Nov", pl.col("nov"), 0, 1),
    _Statistic("Jac", pl.col("jac"), 0, 1),
    _Statistic("log10 R", pl.col("r").log10(), -3, 3),
)


def histograms(rows: pl.LazyFrame) -> list[Histogram]:
    """The histograms of the readable turns of a sidecar."""
    return [_histogram(rows.filter(pl.col("class").is_not_null()), statistic) for statistic in _STATISTICS]


def _histogram(rows: pl.LazyFrame, statistic: _Statistic) -> Histogram:
    counted = (
        rows.group_by("domain", statistic.fine_bins().alias("bin"), statistic.values.is_finite().alias("finite"))
        .len("count")
        .sort("domain", "bin")
        .collect(engine="streaming")
    )
    by_domain: dict[str, list[int]] = {}
    for domain, fine_bin, _, count in counted.iter_rows():
        by_domain.setdefault(domain, [0] * _BINS)[fine_bin * _BINS // _FINE_BINS] += count
    return Histogram(
        name=statistic.name,
        edges=statistic.edges(),
        by_domain=by_domain,
        quantiles=_quantiles(counted.filter("finite").sort("bin"), statistic),
    )


def _quantiles(counted: pl.DataFrame, statistic: _Statistic) -> dict[str, float]:
    """The middle of the first fine bin up to which there are so many values; empty where there is none."""
    reached = counted["count"].cum_sum()
    if reached.is_empty():
        return {}
    places = [int((reached >= share * reached[-1]).arg_max() or 0) for share in _QUANTILES]
    return {
        f"p{share * 100:02.0f}": statistic.middle(counted["bin"][place])
        for share, place in zip(_QUANTILES, places, strict=True)
    }
