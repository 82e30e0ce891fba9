"""What differs between two reports: settings, totals, classes, domains, reasons, and what the searches found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Self

from pydantic import BaseModel, JsonValue

from curation.classes import CLASSES, TurnClass
from curation.profile import CurationProfile
from curation.reasons import REASONS, Reason
from curation.report.amounts import Amounts
from curation.report.changes import Changes
from curation.report.facts import Report
from curation.report.searched import CopyFacts

SCHEMA_VERSION = 1
_NONE = Amounts(num_turns=0, num_kept=0, code_points=0, code_points_kept=0)


class Counts(BaseModel):
    """How many of something this report and the other have, None where one does not say; this less the other."""

    this: int | None
    other: int | None
    difference: int | None

    @classmethod
    def of(cls, this: int | None, other: int | None) -> Self:
        return cls(this=this, other=other, difference=None if this is None or other is None else this - other)


class Shares(BaseModel):
    """A share in this report and in the other, None where there is no whole; ``points`` is this less the other, in
    percentage points."""

    this: float | None
    other: float | None
    points: float | None

    @classmethod
    def of(cls, this: tuple[int | None, int | None], other: tuple[int | None, int | None]) -> Self:
        """Each as part and whole."""
        ours, theirs = _share(*this), _share(*other)
        difference = None if ours is None or theirs is None else round(100 * (ours - theirs), 9)
        return cls(this=ours, other=theirs, points=difference)


def _share(part: int | None, whole: int | None) -> float | None:
    return part / whole if whole and part is not None else None


class AmountsCompared(BaseModel):
    """Turns, characters and tokens, and the shares of them that stay in the loss."""

    num_turns: Counts
    num_kept: Counts
    kept_turns: Shares
    code_points: Counts
    code_points_kept: Counts
    kept_code_points: Shares
    num_tokens: Counts
    num_tokens_kept: Counts
    kept_tokens: Shares

    @classmethod
    def of(cls, this: Amounts, other: Amounts) -> Self:
        return cls(
            num_turns=Counts.of(this.num_turns, other.num_turns),
            num_kept=Counts.of(this.num_kept, other.num_kept),
            kept_turns=Shares.of((this.num_kept, this.num_turns), (other.num_kept, other.num_turns)),
            code_points=Counts.of(this.code_points, other.code_points),
            code_points_kept=Counts.of(this.code_points_kept, other.code_points_kept),
            kept_code_points=Shares.of(
                (this.code_points_kept, this.code_points), (other.code_points_kept, other.code_points)
            ),
            num_tokens=Counts.of(this.num_tokens, other.num_tokens),
            num_tokens_kept=Counts.of(this.num_tokens_kept, other.num_tokens_kept),
            kept_tokens=Shares.of((this.num_tokens_kept, this.num_tokens), (other.num_tokens_kept, other.num_tokens)),
        )


class Side(BaseModel):
    """One of the two reports."""

    dataset: str
    curation: str
    judgement: str
    profile: str
    """Its fingerprint."""
    worldtape: str
    """The version."""

    @classmethod
    def of(cls, report: Report) -> Self:
        return cls(
            dataset=report.dataset.name,
            curation=report.curation,
            judgement=report.judgement,
            profile=report.profile.fingerprint,
            worldtape=report.versions.get("worldtape", ""),
        )


class Setting(BaseModel):
    """A key of the profile, as ``table.key``, whose value differs."""

    key: str
    this: JsonValue
    other: JsonValue


class ClassCompared(BaseModel):
    """One class: its share of all turns, and what is kept of it."""

    name: TurnClass
    share: Shares
    total: AmountsCompared


class DomainCompared(BaseModel):
    """One domain: what is kept of it, and its classes' shares and what is kept of them, in turns."""

    domain: str
    total: AmountsCompared
    class_shares: dict[TurnClass, Shares]
    class_kept: dict[TurnClass, Shares]


class ReasonCompared(BaseModel):
    """The turns of which one reason is told."""

    name: Reason
    num_turns: Counts
    share: Shares
    by_domain: dict[str, Counts]


class FindingCompared(BaseModel):
    """A count of what a search has found; None where the search was not made."""

    search: str
    what: str
    counts: Counts


class Comparison(BaseModel):
    """The whole of ``compare.json``."""

    schema_version: int = SCHEMA_VERSION
    this: Side
    other: Side
    settings: list[Setting]
    num_trajectories: Counts
    total: AmountsCompared
    classes: list[ClassCompared]
    domains: list[DomainCompared]
    reasons: list[ReasonCompared]
    """Those that occur in either, in their order."""
    findings: list[FindingCompared]
    changes: Changes | None
    """None where the two are not curations of one data set."""


def compare(this: Report, other: Report, changes: Changes | None = None) -> Comparison:
    """What this report says beside another."""
    domains = sorted({*this.by_domain, *other.by_domain})
    return Comparison(
        this=Side.of(this),
        other=Side.of(other),
        settings=_settings(this.profile, other.profile),
        num_trajectories=Counts.of(this.dataset.num_trajectories, other.dataset.num_trajectories),
        total=AmountsCompared.of(this.total, other.total),
        classes=[_class_compared(name, this, other) for name in CLASSES],
        domains=[_domain_compared(domain, this, other) for domain in domains],
        reasons=_reasons(this, other, domains),
        findings=list(_findings(this, other)),
        changes=changes,
    )


def _settings(this: CurationProfile, other: CurationProfile) -> list[Setting]:
    ours, theirs = (dict(_flat(profile.model_dump(mode="json"))) for profile in (this, other))
    return [Setting(key=key, this=ours[key], other=theirs[key]) for key in sorted(ours) if ours[key] != theirs[key]]


def _flat(table: Mapping[str, JsonValue], above: str = "") -> Iterator[tuple[str, JsonValue]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def _class_compared(name: TurnClass, this: Report, other: Report) -> ClassCompared:
    ours, theirs = (_of_class(report, name) for report in (this, other))
    return ClassCompared(
        name=name,
        share=Shares.of((ours.num_turns, this.total.num_turns), (theirs.num_turns, other.total.num_turns)),
        total=AmountsCompared.of(ours, theirs),
    )


def _of_class(report: Report, name: TurnClass, domain: str | None = None) -> Amounts:
    """The turns of a class, all of them or those of a domain."""
    for facts in report.classes:
        if facts.name is name:
            return facts.total if domain is None else facts.by_domain.get(domain, _NONE)
    return _NONE


def _domain_compared(domain: str, this: Report, other: Report) -> DomainCompared:
    ours, theirs = (report.by_domain.get(domain, _NONE) for report in (this, other))
    pairs = {name: (_of_class(this, name, domain), _of_class(other, name, domain)) for name in CLASSES}
    return DomainCompared(
        domain=domain,
        total=AmountsCompared.of(ours, theirs),
        class_shares={
            name: Shares.of((mine.num_turns, ours.num_turns), (its.num_turns, theirs.num_turns))
            for name, (mine, its) in pairs.items()
        },
        class_kept={
            name: Shares.of((mine.num_kept, mine.num_turns), (its.num_kept, its.num_turns))
            for name, (mine, its) in pairs.items()
        },
    )


def _reasons(this: Report, other: Report, domains: list[str]) -> list[ReasonCompared]:
    ours, theirs = ({facts.name: facts for facts in report.reasons} for report in (this, other))
    found = []
    for name in REASONS:
        mine, its = ours.get(name), theirs.get(name)
        if mine is None and its is None:
            continue
        num_mine, num_its = mine.num_turns if mine else 0, its.num_turns if its else 0
        by_domain = {
            domain: Counts.of(
                mine.by_domain.get(domain, 0) if mine else 0,
                its.by_domain.get(domain, 0) if its else 0,
            )
            for domain in domains
        }
        found.append(
            ReasonCompared(
                name=name,
                num_turns=Counts.of(num_mine, num_its),
                share=Shares.of((num_mine, this.total.num_turns), (num_its, other.total.num_turns)),
                by_domain=by_domain,
            )
        )
    return found


def _findings(this: Report, other: Report) -> Iterator[FindingCompared]:
    """Every count that either report has of a search, those of this report's first within each."""
    ours, theirs = _found(this), _found(other)
    searches = {search for search, _ in (*ours, *theirs)}
    made = {search: (_made(ours, search), _made(theirs, search)) for search in searches}
    for search, what in sorted({**ours, **theirs}, key=lambda key: key[0]):
        by_us, by_them = made[search]
        yield FindingCompared(
            search=search,
            what=what,
            counts=Counts.of(
                ours.get((search, what), 0) if by_us else None,
                theirs.get((search, what), 0) if by_them else None,
            ),
        )


def _made(found: Mapping[tuple[str, str], int], search: str) -> bool:
    return any(of_search == search for of_search, _ in found)


def _found(report: Report) -> dict[tuple[str, str], int]:
    """(search, what) → how many, of the searches that were made."""
    found: dict[tuple[str, str], int] = {}
    if report.secrets is not None:
        found["secrets", "all kinds"] = report.secrets.num_findings
        found["secrets", "turns with any"] = report.secrets.num_turns
        found["secrets", "trajectories with any"] = report.secrets.num_trajectories
        found |= {("secrets", facts.kind): facts.num_findings for facts in report.secrets.kinds}
    if report.duplicates is not None:
        found |= _copies("turns", report.duplicates.turns) | _copies("trajectories", report.duplicates.trajectories)
    if report.contamination is not None:
        found["contamination", "turns with an item"] = report.contamination.num_turns
        found["contamination", "trajectories with an item"] = report.contamination.num_trajectories
        found |= {
            ("contamination", f"items found of {facts.name}"): facts.num_found
            for facts in report.contamination.benchmarks
        }
    if report.volatile is not None:
        found["volatile", "turns with spans that differ"] = report.volatile.num_turns_with_spans
        found["volatile", "characters that differ"] = report.volatile.code_points_volatile
    return found


def _copies(of: str, facts: CopyFacts) -> dict[tuple[str, str], int]:
    return {
        ("duplicates", f"clusters of {of}"): facts.num_clusters,
        ("duplicates", f"exact copies of {of}"): facts.num_exact,
        ("duplicates", f"near copies of {of}"): facts.num_near,
    }
