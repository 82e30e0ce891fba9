"""What the tokenising of all units came to: the documents, and what is counted of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from curation.classes import CLASSES
from sharding.manifest import UNREADABLE, ClassTokens
from sharding.schemas import DOCUMENTS
from sharding.sources import Unit
from sharding.units import UnitResult


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of all units, both in the order of the data set, which has so many trajectories."""

    units: Sequence[Unit]
    results: Sequence[UnitResult]
    num_trajectories: int

    def documents(self) -> pa.Table:
        """The documents of all units, each unit's numbered from 0 (schema ``DOCUMENTS``)."""
        return pa.concat_tables([DOCUMENTS.empty_table(), *(result.documents for result in self.results)])

    def refused(self) -> dict[str, int]:
        """How many trajectories became no document, by reason."""
        counts = sum((result.refused for result in self.results), Counter[str]())
        num_documents = sum(result.documents.num_rows for result in self.results)
        counts["no turn"] = self.num_trajectories - num_documents - counts.total()
        return {reason: count for reason, count in sorted(counts.items()) if count}

    def redactions(self) -> dict[str, int]:
        """How many secrets and personal data placeholders stand for, by kind."""
        return dict(sorted(sum((result.redactions for result in self.results), Counter[str]()).items()))

    def num_volatile_tokens(self) -> int:
        return sum(result.num_volatile_tokens for result in self.results)

    def classes(self) -> dict[str, dict[str, ClassTokens]]:
        """What the documents hold, by domain and class, the classes in the order of their rules."""
        totals: dict[str, dict[str, Counter[str]]] = {}
        for result in self.results:
            of_domain = totals.setdefault(self.units[result.number].part.domain, {})
            for name, counts in result.classes.items():
                of_domain.setdefault(name, Counter()).update(counts)
        names = (*map(str, CLASSES), UNREADABLE)
        return {
            domain: {name: ClassTokens(**of_domain[name]) for name in names if name in of_domain}
            for domain, of_domain in sorted(totals.items())
            if of_domain
        }
