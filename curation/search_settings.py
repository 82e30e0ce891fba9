"""What the searches look for: their tables in a profile. Apart from the searches, for those load their compilers."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """A table of a profile: it does not change, and knows its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def canonical_json(self) -> str:
        """The one textual form of these settings: sorted keys, every default spelt out."""
        return json.dumps(self.model_dump(), sort_keys=True)


class Searches(Settings):
    """What is looked for beside the statistics. Each search is a pass of its own over the turns, and a table."""

    secrets: bool = True
    """Where secrets and personal data stand, for the report. (They are replaced when the data is packed.)"""
    duplicates: bool = True
    """Exact and near-copies of turns and trajectories."""
    volatile: bool = False
    """Spans of observations that differ where the same actions were recorded again: times, process ids, addresses.
    They leave the loss."""


class DuplicateSettings(Settings):
    """All that the search for duplicates depends on, beside the data.

    Two texts are near-duplicates where the Jaccard index of their sets of shingles (n-grams of words) is at least
    ``threshold``. Pairs to compare are found by MinHash in bands: of the pairs of similarity s, 1 - (1 - s^r)^b are,
    with b bands of r rows; by default 99.7 % of those just at the threshold, and more above it.
    """

    threshold: float = Field(default=0.8, gt=0, le=1)
    shingle_words: int = Field(default=5, ge=1, le=1000)
    num_bands: int = Field(default=20, ge=1, le=100)
    rows_per_band: int = Field(default=6, ge=1, le=100)
    neighbours: int = Field(default=256, ge=1, le=2**31 - 1)
    """How many earlier texts of a band's bucket a text is compared with, so that one huge bucket is not quadratic."""
    seed: int = Field(default=0, ge=0, lt=2**63)

    def recall(self, similarity: float) -> float:
        """The share of the pairs of this similarity that are compared at all."""
        return float(1 - (1 - similarity**self.rows_per_band) ** self.num_bands)


class ContaminationSettings(Settings):
    """All that the search for benchmark items depends on, beside the data and the benchmarks.

    A text holds an item where it has at least ``min_ngrams`` of the item's word n-grams, or at least ``min_share`` of
    those of one of its texts (for texts that have few: every string of a row is one). An n-gram that more than
    ``common_items`` items of one source have is boilerplate and does not count.
    """

    ngram_words: int = Field(default=13, ge=1, le=1000)
    common_items: int = Field(default=5, ge=1, le=2**31 - 1)
    min_ngrams: int = Field(default=4, ge=1, le=2**31 - 1)
    min_share: float = Field(default=0.5, gt=0, le=1)


class VolatileSettings(Settings):
    """All that the search for volatile spans depends on, beside the data."""

    max_differing: float = Field(default=0.5, ge=0, le=1)
    """Where more than this share of one of two texts differs (in code points), their environments have diverged rather
    than fluctuated."""
    max_cells: int = Field(default=2**26, ge=1, le=2**40)
    """How much work two texts are worth: their lines, and again their words, are not compared beyond so many pairs, of
    which each costs a bit of memory. A pair of texts that would take more is skipped and counted."""
