"""What differs in texts that were observed in each other's stead, one pair of them in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final, NamedTuple

import numpy as np

from curation.replays.alignment import common_blocks
from curation.replays.spans import Spans, outside, runs, shifted, union
from curation.search_settings import VolatileSettings
from trajectories.spooled_bytes import SpooledBytes

_IN_MEMORY: Final = 2**20


class Outcome(Enum):
    """What becomes of a text that has no spans in common with its reference."""

    DIVERGED = "num_diverged"
    SKIPPED = "num_skipped"


class _Common(NamedTuple):
    """A text that has much in common with the reference."""

    begin: int
    end: int
    """Where among the kept bytes those of their common blocks are."""
    size: int
    """Its code points."""


class Differences:
    """What is volatile in a text, and in others that were observed in its stead.

    What they have in common is kept until it is asked for, beyond a little in a file without a name (see
    `trajectories.spooled_bytes.spooling_in`): it depends on all of them where any of them is volatile.

    Args:
        texts: the reference, which all others are compared with, then these; each is needed once.

    Raises:
        StorageError: the disk is full or fails.
    """

    def __init__(self, texts: Iterable[str], settings: VolatileSettings) -> None:
        others = iter(texts)
        reference = next(others)
        self._settings = settings
        self._blocks = SpooledBytes(_IN_MEMORY)
        self._differs = np.zeros(len(reference), np.bool_)
        """Of each code point of the reference, whether any other text has it otherwise."""
        self._found: list[_Common | Outcome] = [_Common(0, 0, 0)]
        self._found += (self._compared(reference, other) for other in others)
        self._spans = runs(self._differs)
        self.outcomes = [found if isinstance(found, Outcome) else None for found in self._found]
        """Of each text, the reference first, why it has no spans; None where it may have some."""

    def spans_of(self, number: int) -> Spans:
        """The spans of a text by its number, from 0 for the reference; none where it has an outcome.

        Raises:
            StorageError: the disk fails.
        """
        found = self._found[number]
        if isinstance(found, Outcome):
            return []
        if number == 0:
            return self._spans
        kept = np.frombuffer(self._blocks.read(found.begin, found.end), np.int64).reshape(-1, 3)
        blocks = [(first, second, size) for first, second, size in kept.tolist()]
        own = outside([(second, second + size) for _, second, size in blocks], found.size)
        # Where it differs itself, or has in common what differs elsewhere.
        return union([own, shifted(self._spans, blocks)])

    def _compared(self, reference: str, other: str) -> _Common | Outcome:
        blocks = common_blocks(reference, other, self._settings.max_cells)
        if blocks is None:
            return Outcome.SKIPPED
        spans = outside([(block.first, block.first + block.size) for block in blocks], len(reference))
        others = outside([(block.second, block.second + block.size) for block in blocks], len(other))
        for differing, text in ((spans, reference), (others, other)):
            if sum(end - start for start, end in differing) > self._settings.max_differing * len(text):
                return Outcome.DIVERGED
        for start, end in spans:
            self._differs[start:end] = True
        begin = len(self._blocks)
        self._blocks.append(np.array(blocks, np.int64).tobytes())
        return _Common(begin, len(self._blocks), len(other))
