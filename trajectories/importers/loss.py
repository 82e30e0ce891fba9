"""What an import could not keep, what it had to guess, and what it left out: counted by kind, never in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from typing import Final, TypeAlias, Union

from trajectories.model import JsonValue

Shape: TypeAlias = Mapping[str, Union["Shape", None]]
"""The fields of an object that an importer uses: each with the shape of the objects in it, or None where it is taken
whole."""

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

    def drop_fields(self, where: str, value: Mapping[str, object], used: Set[str]) -> None:
        """Note the fields of ``value`` that hold something and are not ``used``."""
        if value.keys() <= used:
            return
        for name, content in value.items():
            if name not in used and content not in (None, "", [], {}):
                self.drop(f"{where}.{name}")

    def drop_unknown(self, where: str, value: object, shape: Shape) -> None:
        """Note what ``value``, and the objects within it at any depth, hold and ``shape`` does not name.

        A list is looked at element by element; what is no object has no fields.
        """
        if isinstance(value, list):
            for item in value:
                self.drop_unknown(where, item, shape)
        elif isinstance(value, dict):
            self.drop_fields(where, value, shape.keys())
            for name, inner in value.items():
                if isinstance(inner, dict | list) and (of_inner := shape.get(name)) is not None:
                    self.drop_unknown(f"{where}.{name}", inner, of_inner)

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


def whole(*names: str, **shapes: Shape) -> dict[str, Shape | None]:
    """The shape of fields that are taken whole, and of those with a shape of their own."""
    return {**dict.fromkeys(names), **shapes}
