"""What an import could not keep, what it had to guess, and what it left out: counted by kind, never in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

from trajectories.model import JsonValue

_MAX_KINDS: Final = 200
"""More kinds than this are counted together: a source may hold any number of field names."""
_OTHER: Final = "other"


class LossReport:
    """Counts by kind.

    *no place*: what the source holds and our schema does not (fields of the source). *inferred*: what the source does
    not say and the importer has decided by a rule. *skipped*: what is no turn, and why it is not.
    """

    def __init__(self) -> None:
        self.no_place: Counter[str] = Counter()
        self.inferred: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()

    def drop(self, kind: str, count: int = 1) -> None:
        _count(self.no_place, kind, count)

    def infer(self, kind: str, count: int = 1) -> None:
        _count(self.inferred, kind, count)

    def skip(self, kind: str, count: int = 1) -> None:
        _count(self.skipped, kind, count)

    def drop_fields(self, where: str, value: Mapping[str, object], used: Collection[str]) -> None:
        """Note the fields of ``value`` that hold something and are not ``used``."""
        for name, content in value.items():
            if name not in used and content not in (None, "", [], {}):
                self.drop(f"{where}.{name}")

    def add(self, other: LossReport) -> None:
        for mine, theirs in zip(self._counters(), other._counters(), strict=True):
            for kind, count in theirs.items():
                _count(mine, kind, count)

    def as_json(self) -> dict[str, JsonValue]:
        names = ("no_place", "inferred", "skipped")
        return {
            name: dict(sorted(counter.items()))
            for name, counter in zip(names, self._counters(), strict=True)
            if counter
        }

    def _counters(self) -> tuple[Counter[str], Counter[str], Counter[str]]:
        return self.no_place, self.inferred, self.skipped


def _count(counter: Counter[str], kind: str, count: int) -> None:
    if count:
        counter[kind if kind in counter or len(counter) < _MAX_KINDS else _OTHER] += count
