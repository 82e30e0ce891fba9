"""What the searches of a curation have found: copies, items of benchmarks, secrets by kind, spans that differ.

A search is reported where the judgement knew of it: its table may be of another time, and then tells of that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import BaseModel

from curation.report.amounts import Count
from curation.report.texts import Excerpt, Place, excerpts, without_secrets
from curation.secrets import PERSONAL, open_secrets
from curation.sidecar import Manifest
from trajectories.dataset import Dataset

if TYPE_CHECKING:
    from curation.duplicates import Duplicates, Unit, UnitSummary

_NUM_CLUSTERS = 5
_NUM_HITS = 10
_TRAJECTORY = ("domain", "run", "trajectory_id")
_TEXTS = ("action", "observation")


class Cluster(BaseModel):
    """Texts that are copies of one another, exact or nearly, and the beginning of the one that stays."""

    num_members: Count
    num_exact: Count
    """Members whose text is the survivor's own, the survivor itself among them."""
    least_similarity: float
    by_domain: dict[str, Count]
    domain: str
    run: str
    trajectory_id: str
    turn: int
    """The survivor; of a trajectory, its first turn."""
    action: Excerpt
    observation: Excerpt


class CopyFacts(BaseModel):
    """What was found among the turns, or among the trajectories (`curation.duplicates.UnitSummary`)."""

    num_texts: Count
    num_clusters: Count
    num_exact: Count
    num_near: Count
    num_crowded: Count
    by_domain: dict[str, Count]
    """Copies, survivors not counted."""
    largest: list[Cluster]


class DuplicatesFacts(BaseModel):
    """What the search for duplicates came to."""

    turns: CopyFacts
    trajectories: CopyFacts


class BenchmarkFacts(BaseModel):
    """What was found of one benchmark."""

    name: str
    num_items: Count
    num_unsearchable: Count
    """Items too short to be found, or without an n-gram of their own."""
    num_found: Count
    num_turns: Count
    """That hold an item of it."""
    num_trajectories: Count
    """With a hit in a turn or in what is said before the first."""
    by_domain: dict[str, Count]
    """Trajectories."""


class Hit(BaseModel):
    """A text that holds an item of a benchmark; turn 0 is what is said before the first turn."""

    domain: str
    run: str
    trajectory_id: str
    turn: int
    field: str
    benchmark: str
    item: str
    item_share: float
    longest_run: Count
    """Words."""
    text: Excerpt


class ContaminationFacts(BaseModel):
    """What the search for benchmark items came to."""

    num_hits: Count
    num_turns: Count
    num_trajectories: Count
    benchmarks: list[BenchmarkFacts]
    strongest: list[Hit]
    """By the share of the item that is there; of each item the strongest one."""


class SecretKindFacts(BaseModel):
    """What was found of one kind of secret, or of personal data."""

    kind: str
    personal: bool
    num_findings: Count
    """Places where a rule tells what stands there; what is packed loses the other places of the value too."""
    num_before_turns: Count
    """Of them in the task or the system's text, which no turn holds."""
    num_turns: Count
    num_trajectories: Count
    by_domain: dict[str, Count]
    by_rule: dict[str, Count]


class SecretsFacts(BaseModel):
    """What the search for secrets and personal data came to; no value is told."""

    num_texts: Count
    code_points: Count
    num_findings: Count
    num_before_turns: Count
    """As of a kind."""
    num_turns: Count
    num_trajectories: Count
    kinds: list[SecretKindFacts]
    """Secrets before personal data, the most frequent first."""


class VolatileFacts(BaseModel):
    """What differs where the same actions were recorded again."""

    num_groups: Count
    num_turns_compared: Count
    num_turns_with_spans: Count
    code_points_volatile: Count
    num_diverged: Count
    """Recordings that went another way than the one they were compared with."""
    num_skipped: Count
    """Turns that would have been too much work to compare."""


def duplicates_facts(dataset: Dataset, name: str, manifest: Manifest) -> DuplicatesFacts | None:
    """The copies, None where the judgement knew of no such search."""
    if "duplicates" not in manifest.searches:
        return None
    from curation.duplicates import Unit, open_duplicates  # here, for it loads Numba

    found = open_duplicates(dataset, name)
    summary = found.summary_of(manifest.searches["duplicates"])
    if summary is None:
        return None
    return DuplicatesFacts(
        turns=_copies(dataset, found, Unit.TURNS, summary.turns),
        trajectories=_copies(dataset, found, Unit.TRAJECTORIES, summary.trajectories),
    )


def _copies(dataset: Dataset, found: Duplicates, unit: Unit, summary: UnitSummary) -> CopyFacts:
    rows = found.scan(unit)
    if "turn" not in rows.collect_schema():
        rows = rows.with_columns(turn=pl.lit(1, pl.Int32))
    return CopyFacts(
        num_texts=summary.num_texts,
        num_clusters=summary.num_clusters,
        num_exact=summary.num_exact,
        num_near=summary.num_near,
        num_crowded=summary.num_crowded,
        by_domain=_counts(rows.filter(~pl.col("survivor")), "domain"),
        largest=_largest(dataset, rows),
    )


def _largest(dataset: Dataset, rows: pl.LazyFrame) -> list[Cluster]:
    sizes = (
        rows.group_by("cluster")
        .agg(pl.len().alias("num_members"), pl.col("exact").sum(), pl.col("similarity").min())
        .sort(["num_members", "cluster"], descending=[True, False])
        .head(_NUM_CLUSTERS)
        .collect(engine="streaming")
    )
    clusters = sizes["cluster"].to_list()
    members = rows.filter(pl.col("cluster").is_in(clusters))
    counted = members.group_by("cluster", "domain").len().sort("domain").collect(engine="streaming")
    survivors = {row["cluster"]: row for row in members.filter("survivor").collect(engine="streaming").to_dicts()}
    places = {(cluster, name): _place(row, name) for cluster, row in survivors.items() for name in _TEXTS}
    texts = excerpts(dataset, set(places.values()))
    return [
        Cluster(
            num_members=row["num_members"],
            num_exact=row["exact"],
            least_similarity=row["similarity"],
            by_domain=dict(counted.filter(pl.col("cluster") == row["cluster"]).select("domain", "len").iter_rows()),
            **{name: survivors[row["cluster"]][name] for name in (*_TRAJECTORY, "turn")},
            action=texts[places[row["cluster"], "action"]],
            observation=texts[places[row["cluster"], "observation"]],
        )
        for row in sizes.to_dicts()
    ]


def _place(row: Mapping[str, Any], column: str) -> Place:
    return Place(row["domain"], row["run"], row["trajectory_id"], row["turn"], column)


def contamination_facts(dataset: Dataset, name: str, manifest: Manifest) -> ContaminationFacts | None:
    """What was found of benchmarks, None where the judgement knew of no such search."""
    if "contamination" not in manifest.searches:
        return None
    from curation.contamination import open_contamination  # here, for it loads Numba

    found = open_contamination(dataset, name)
    summary = found.summary_of(manifest.searches["contamination"])
    if summary is None:
        return None
    hits = found.scan()
    return ContaminationFacts(
        num_hits=summary.num_hits,
        num_turns=summary.num_turns,
        num_trajectories=summary.num_trajectories,
        benchmarks=[
            BenchmarkFacts(
                name=without_secrets(source),
                num_items=facts.num_items,
                num_unsearchable=facts.num_too_short + facts.num_only_common,
                num_found=summary.items_found.get(source, 0),
                **_touched(hits.filter(pl.col("source") == source)),
            )
            for source, facts in sorted(summary.sources.items())
        ],
        strongest=_strongest(dataset, hits),
    )


def _touched(hits: pl.LazyFrame) -> dict[str, Any]:
    turns = hits.filter(pl.col("turn") > 0).select(*_TRAJECTORY, "turn").unique()
    trajectories = hits.select(_TRAJECTORY).unique()
    by_domain = _counts(trajectories, "domain")
    return {
        "num_turns": turns.select(pl.len()).collect(engine="streaming").item(),
        "num_trajectories": sum(by_domain.values()),
        "by_domain": by_domain,
    }


def _strongest(dataset: Dataset, hits: pl.LazyFrame) -> list[Hit]:
    strength = ["item_share", "num_ngrams", "longest_run"]
    keys = [*_TRAJECTORY, "turn", "field", "source", "item"]
    rows = (
        hits.sort([*strength, *keys], descending=[True] * len(strength) + [False] * len(keys))
        .unique(["source", "item"], keep="first", maintain_order=True)
        .head(_NUM_HITS)
        .collect(engine="streaming")
        .to_dicts()
    )
    texts = excerpts(dataset, {_place(row, row["field"]) for row in rows})
    return [
        Hit(
            **{name: row[name] for name in (*_TRAJECTORY, "turn", "field", "item_share", "longest_run")},
            benchmark=without_secrets(row["source"]),
            item=without_secrets(row["item"]),
            text=texts[_place(row, row["field"])],
        )
        for row in rows
    ]


def secrets_facts(dataset: Dataset, name: str, manifest: Manifest) -> SecretsFacts | None:
    """What was found of secrets and personal data, None where the judgement knew of no such search."""
    if "secrets" not in manifest.searches:
        return None
    found = open_secrets(dataset, name)
    summary = found.summary_of(manifest.searches["secrets"])
    if summary is None:
        return None
    rules = found.scan().group_by("kind", "rule").len().sort(["len", "rule"], descending=[True, False])
    by_rule = rules.collect(engine="streaming")
    kinds = [
        SecretKindFacts(
            kind=kind,
            personal=kind in PERSONAL,
            num_findings=facts.num_findings,
            num_before_turns=facts.num_before_turns,
            num_turns=facts.num_turns,
            num_trajectories=facts.num_trajectories,
            by_domain=dict(sorted(facts.by_domain.items())),
            by_rule=dict(by_rule.filter(pl.col("kind") == kind).select("rule", "len").iter_rows()),
        )
        for kind, facts in summary.kinds.items()
    ]
    return SecretsFacts(
        num_texts=summary.num_texts,
        code_points=summary.code_points,
        num_findings=summary.num_findings,
        num_before_turns=summary.num_before_turns,
        num_turns=summary.num_turns,
        num_trajectories=summary.num_trajectories,
        kinds=sorted(kinds, key=lambda facts: (facts.personal, -facts.num_findings, facts.kind)),
    )


def volatile_facts(dataset: Dataset, name: str, manifest: Manifest) -> VolatileFacts | None:
    """What differs between recordings of the same actions, None where the judgement knew of no such search."""
    if "volatile" not in manifest.searches:
        return None
    from curation.replays import open_volatile  # here, for only a profile that wants it has it

    summary = open_volatile(dataset, name).summary_of(manifest.searches["volatile"])
    if summary is None:
        return None
    return VolatileFacts(**{field: getattr(summary, field) for field in VolatileFacts.model_fields})


def _counts(rows: pl.LazyFrame, column: str) -> dict[str, int]:
    counted = rows.group_by(column).len().sort(column).collect(engine="streaming")
    return dict(counted.iter_rows())
