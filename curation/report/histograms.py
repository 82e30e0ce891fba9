"""The distributions of the four statistics, by domain."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from pydantic import BaseModel

_BINS = 20
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

    def bins(self) -> pl.Expr:
        place = (self.values - self.low) / (self.high - self.low) * _BINS
        return place.clip(0, _BINS - 1).floor().cast(pl.Int32)


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
        rows.group_by("domain", statistic.bins().alias("bin")).len().sort("domain", "bin").collect(engine="streaming")
    )
    by_domain: dict[str, list[int]] = {}
    for domain, place, count in counted.iter_rows():
        by_domain.setdefault(domain, [0] * _BINS)[place] = count
    finite = rows.select(statistic.values.alias("value")).filter(pl.col("value").is_finite())
    quantiles = finite.select(
        pl.col("value").quantile(share, "nearest").round(6).alias(f"p{share * 100:02.0f}") for share in _QUANTILES
    ).collect(engine="streaming")
    return Histogram(
        name=statistic.name,
        edges=statistic.edges(),
        by_domain=by_domain,
        quantiles={name: value for name, value in quantiles.row(0, named=True).items() if value is not None},
    )
