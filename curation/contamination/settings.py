"""What counts as contamination."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict, Field


class ContaminationSettings(BaseModel):
    """All that the search for benchmark items depends on, beside the data and the benchmarks.

    A text holds an item where it has at least ``min_ngrams`` of the item's word n-grams, or at least ``min_share`` of
    them (for items that have few). An n-gram that more than ``common_items`` items of one source have is boilerplate
    and does not count.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ngram_words: int = Field(default=13, ge=1)
    common_items: int = Field(default=5, ge=1)
    min_ngrams: int = Field(default=4, ge=1)
    min_share: float = Field(default=0.5, gt=0, le=1)

    def canonical_json(self) -> str:
        """The one textual form of these settings: sorted keys, every default spelt out."""
        return json.dumps(self.model_dump(), sort_keys=True)
