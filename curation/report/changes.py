"""What became of each turn of a data set in two curations of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import polars as pl
from pydantic import BaseModel

from curation.classes import CLASSES, TurnClass
from curation.pieces import place_of_part
from curation.reasons import REASONS, Reason
from curation.report.amounts import Count
from curation.sidecar import Sidecar

_KEYS = ["trajectory_id", "turn"]
_JUDGED = ["class", "reason", "kept"]


class FateFlow(BaseModel):
    """Turns that are in the loss, or are not, in the other curation and in this one."""

    other_kept: bool
    this_kept: bool
    num_turns: Count
    code_points: Count
    """Of their observations."""


class ClassFlow(BaseModel):
    """Turns of one class in the other curation and of one in this; an unreadable turn has none."""

    other: TurnClass | None
    this: TurnClass | None
    num_turns: Count


class ReasonFlow(BaseModel):
    """Turns of which another reason is told in the other curation than in this one."""

    other: Reason
    this: Reason
    num_turns: Count


class DomainChanges(BaseModel):
    """How many turns of one domain have changed."""

    num_turns: Count
    num_class_changed: Count
    num_fate_changed: Count
    num_reason_changed: Count


class Changes(BaseModel):
    """The turns that both curations have judged, and how many changed between them."""

    total: DomainChanges
    num_only_this: Count
    """Turns that only one of them has judged."""
    num_only_other: Count
    fates: list[FateFlow]
    """All four of them."""
    classes: list[ClassFlow]
    """Those that occur, in the order of the classes."""
    reasons: list[ReasonFlow]
    """The most frequent first."""
    by_domain: dict[str, DomainChanges]

    def num_between(self, other: TurnClass | None, this: TurnClass | None) -> int:
        """Turns of one class in the other curation and of one in this."""
        return sum(flow.num_turns for flow in self.classes if (flow.other, flow.this) == (other, this))


class _Flow(NamedTuple):
    """What turns have in common that are counted together."""

    domain: str
    other: tuple[str | None, str, bool]
    """Class, reason, and whether it is kept."""
    this: tuple[str | None, str, bool]


def changes(this: Sidecar, other: Sidecar) -> Changes:
    """Compare two whole sidecars of one data set turn by turn, a part of each in memory at a time.

    A part mirrors the turns part of its name, so that a turn is in the parts of one name or only in one sidecar.
    """
    flows, code_points = Counter[_Flow](), Counter[_Flow]()
    only_this = only_other = 0
    of_this, of_other = this.whole().parts, other.whole().parts
    for part in sorted({*of_this, *of_other}):
        if part not in of_this or part not in of_other:
            only_this += of_this[part].num_turns if part in of_this else 0
            only_other += of_other[part].num_turns if part in of_other else 0
            continue
        ours, theirs = this.folder / part, other.folder / part
        domain, _ = place_of_part(part)
        num_both = 0
        for *judged, num_turns, num_points in _joined(ours, theirs).iter_rows():
            flow = _Flow(domain, (judged[3], judged[4], judged[5]), (judged[0], judged[1], judged[2]))
            flows[flow] += num_turns
            code_points[flow] += num_points
            num_both += num_turns
        only_this += _num_rows(ours) - num_both
        only_other += _num_rows(theirs) - num_both
    return _summed(flows, code_points, only_this, only_other)


def _num_rows(path: Path) -> int:
    """Of a sidecar part, which may not be there."""
    if not path.exists():
        return 0
    return int(_scan(path).select(pl.len()).collect(engine="streaming").item())


def _scan(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _joined(this: Path, other: Path) -> pl.DataFrame:
    """How many turns of two parts, and of how many code points, have been judged so and so in both."""
    theirs = _scan(other).select(*_KEYS, *(pl.col(name).alias(f"other_{name}") for name in _JUDGED))
    return (
        _scan(this)
        .select(*_KEYS, *_JUDGED, "len_observation")
        .join(theirs, on=_KEYS)
        .group_by(*_JUDGED, *(f"other_{name}" for name in _JUDGED))
        .agg(pl.len(), pl.col("len_observation").sum())
        .collect(engine="streaming")
    )


def _summed(flows: Counter[_Flow], code_points: Counter[_Flow], only_this: int, only_other: int) -> Changes:
    domains = sorted({flow.domain for flow in flows})
    return Changes(
        total=_changed(flows),
        num_only_this=only_this,
        num_only_other=only_other,
        fates=[
            FateFlow(
                other_kept=other,
                this_kept=this,
                num_turns=_of_fate(flows, other, this),
                code_points=_of_fate(code_points, other, this),
            )
            for other in (True, False)
            for this in (True, False)
        ],
        classes=_class_flows(flows),
        reasons=_reason_flows(flows),
        by_domain={
            domain: _changed(Counter({flow: count for flow, count in flows.items() if flow.domain == domain}))
            for domain in domains
        },
    )


def _changed(flows: Counter[_Flow]) -> DomainChanges:
    kinds, reasons, fates = (
        sum(count for flow, count in flows.items() if flow.this[place] != flow.other[place]) for place in range(3)
    )
    return DomainChanges(
        num_turns=flows.total(), num_class_changed=kinds, num_fate_changed=fates, num_reason_changed=reasons
    )


def _of_fate(counts: Counter[_Flow], other: bool, this: bool) -> int:
    return sum(count for flow, count in counts.items() if (flow.other[2], flow.this[2]) == (other, this))


def _class_flows(flows: Counter[_Flow]) -> list[ClassFlow]:
    counts: Counter[tuple[TurnClass | None, TurnClass | None]] = Counter()
    for flow, count in flows.items():
        other, this = (None if name is None else TurnClass(name) for name in (flow.other[0], flow.this[0]))
        counts[other, this] += count
    order = [*CLASSES, None]
    found = sorted(counts, key=lambda pair: (order.index(pair[0]), order.index(pair[1])))
    return [ClassFlow(other=other, this=this, num_turns=counts[other, this]) for other, this in found]


def _reason_flows(flows: Counter[_Flow]) -> list[ReasonFlow]:
    counts: Counter[tuple[Reason, Reason]] = Counter()
    for flow, count in flows.items():
        if flow.other[1] != flow.this[1]:
            counts[Reason(flow.other[1]), Reason(flow.this[1])] += count
    found = sorted(counts, key=lambda pair: (-counts[pair], REASONS.index(pair[0]), REASONS.index(pair[1])))
    return [ReasonFlow(other=other, this=this, num_turns=counts[other, this]) for other, this in found]
