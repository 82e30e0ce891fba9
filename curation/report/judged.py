"""What a curation has made of the turns: classes, reasons, and how much each stage leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl
from pydantic import BaseModel

from curation.classes import CLASSES, TurnClass
from curation.filters.settings import Scope
from curation.reasons import MEANINGS, REASONS, Reason
from curation.report.amounts import Amounts, Count, Tokens, amounts, tokens_of
from curation.sidecar import Manifest, Sidecar

KEEPING = frozenset({Reason.SILENCE, Reason.DRAWN_BY_TOKEN, Reason.KEPT})
"""The reasons for which a turn is kept; all others mask it."""
MASKING = tuple(reason for reason in REASONS if reason not in KEEPING)

_SEARCH_OF = {
    Reason.CONTAMINATED: "contamination",
    Reason.DUPLICATE_TRAJECTORY: "duplicates",
    Reason.DUPLICATE_TURN: "duplicates",
}
_IN_THE_LOSS = len(REASONS)


class ClassFacts(BaseModel):
    """The turns of one class: the ``keep_ratio`` of the draw, and what filters and draw have left of them."""

    name: TurnClass
    keep_ratio: float
    total: Amounts
    by_domain: dict[str, Amounts]

    def num_turns_of(self, domain: str) -> int:
        """Turns of this class in a domain, which may have none that was judged."""
        return self.by_domain[domain].num_turns if domain in self.by_domain else 0


class ReasonFacts(BaseModel):
    """The turns of which one reason is told."""

    name: Reason
    meaning: str
    num_turns: Count
    code_points: Count
    by_domain: dict[str, Count]
    """Turns."""


class Stage(BaseModel):
    """What is left when the turns of which one reason is told, or one before it in the order of `Reason`, are gone."""

    reason: Reason | None
    """None for what was recorded."""
    applied: bool
    """False where the profile switches the filter off, or the search that it needs was not made."""
    num_turns: Count
    num_trajectories: Count
    """With a turn that is left."""
    code_points: Count
    """Of the observations that are left."""

    @property
    def title(self) -> str:
        """The stage to people: what is left after it."""
        if self.reason is None:
            return "recorded"
        named = {Reason.UNREADABLE: "readable", Reason.DRAWN_OUT: "in the loss"}
        return named.get(self.reason, f"without {self.reason.replace('_', ' ')}")


def class_facts(tallied: pl.DataFrame, manifest: Manifest, tokens: Tokens | None) -> list[ClassFacts]:
    """Every class in the order of the rules, and in it every domain that has turns of any class."""
    domains = sorted(tallied["domain"].unique())
    facts = []
    for name in CLASSES:
        of_class = tallied.filter(pl.col("class") == name.value)
        by_domain = {
            domain: amounts(of_class.filter(pl.col("domain") == domain), tokens_of(tokens, domain=domain, name=name))
            for domain in domains
        }
        facts.append(
            ClassFacts(
                name=name,
                keep_ratio=manifest.profile.keep_ratios.of(name),
                total=amounts(of_class, tokens_of(tokens, name=name)),
                by_domain=by_domain,
            )
        )
    return facts


def reason_facts(tallied: pl.DataFrame) -> list[ReasonFacts]:
    """The reasons that occur, in the order in which the first that holds is told."""
    facts = []
    for reason in REASONS:
        of_reason = tallied.filter(pl.col("reason") == reason.value)
        by_domain = of_reason.group_by("domain").agg(pl.col("turns").sum()).sort("domain")
        facts.append(
            ReasonFacts(
                name=reason,
                meaning=MEANINGS[reason],
                num_turns=int(of_reason["turns"].sum()),
                code_points=int(of_reason["code_points"].sum()),
                by_domain=dict(by_domain.iter_rows()),
            )
        )
    return [of_reason for of_reason in facts if of_reason.num_turns]


def stages(sidecar: Sidecar, tallied: pl.DataFrame, manifest: Manifest) -> list[Stage]:
    """What was recorded, and what each reason to mask a turn leaves of it; what the last one leaves is in the loss."""
    ranked = tallied.select("turns", "code_points", _last_stage().alias("stage"))
    lasting = _trajectories_by_last_stage(sidecar)
    found = []
    for reason in (None, *MASKING):
        place = -1 if reason is None else REASONS.index(reason)
        left = ranked.filter(pl.col("stage") > place)
        found.append(
            Stage(
                reason=reason,
                applied=reason is None or _is_applied(reason, manifest),
                num_turns=int(left["turns"].sum()),
                num_trajectories=sum(count for stage, count in lasting.items() if stage > place),
                code_points=int(left["code_points"].sum()),
            )
        )
    return found


def _last_stage() -> pl.Expr:
    """The place of the reason for which a turn is masked; beyond all of them where it is kept."""
    names: Sequence[str] = [reason.value for reason in REASONS]
    place = pl.col("reason").replace_strict(names, list(range(len(names))), return_dtype=pl.Int32)
    return pl.when("kept").then(pl.lit(_IN_THE_LOSS, pl.Int32)).otherwise(place)


def _trajectories_by_last_stage(sidecar: Sidecar) -> Counter[int]:
    """How many trajectories have lost their last turn at which stage. Part by part, for none goes over a part's end."""
    counts: Counter[int] = Counter()
    for part in sidecar.whole().parts:
        found = (
            pl.scan_parquet(sidecar.folder / part, glob=False, hive_partitioning=False)
            .group_by("trajectory_id")
            .agg(_last_stage().max().alias("stage"))
            .group_by("stage")
            .len("trajectories")
            .collect(engine="streaming")
        )
        counts.update(dict(found.iter_rows()))
    return counts


def _is_applied(reason: Reason, manifest: Manifest) -> bool:
    setting = getattr(manifest.profile.filters, reason.value, True)
    searched = _SEARCH_OF.get(reason)
    return bool(setting) and setting is not Scope.OFF and (searched is None or searched in manifest.searches)
