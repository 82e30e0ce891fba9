"""Screens that show no world: no state was captured, a CAPTCHA bars the way, or a server or browser shows an error."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.filters.failure_pages import is_failure
from curation.filters.failure_wordings import WORDS
from curation.reasons import Booleans

COLUMNS: Final = ("observation", "tree_status")

_MISSING: Final = pa.array(["missing", "failed"])
"""``tree_status`` of a state that was not captured; a partial one is there."""

_HEAD_BYTES: Final = 2**14
"""Pages that failed are short: a longer one has too many words in this much of it."""
_WORDS_BYTES: Final = 2**13
_SMALL_BYTES: Final = 2**10
"""Screens so small are read whatever their words: it costs little, and failures word themselves in many ways."""


def show_failure(turns: pa.Table) -> Booleans:
    """Which turns of a table with `COLUMNS` ended on such a screen."""
    observations = turns["observation"].cast(pa.binary())
    lengths = pc.binary_length(observations)
    missing = pc.or_kleene(pc.is_in(turns["tree_status"], _MISSING), pc.equal(lengths, 0))
    found: Booleans = pc.fill_null(missing, False).to_numpy().copy()
    # Most screens have none of the words: only of the others is read what they say where.
    heads = pc.binary_slice(observations, 0, _WORDS_BYTES)
    worded = pc.match_substring_regex(heads, WORDS, ignore_case=True)
    candidates = pc.fill_null(pc.or_kleene(worded, pc.less(lengths, _SMALL_BYTES)), False).to_numpy()
    places = np.flatnonzero(candidates & ~found)
    for place, head in zip(places, pc.binary_slice(observations.take(places), 0, _HEAD_BYTES), strict=True):
        found[place] = is_failure(head.as_py().decode(errors="replace"))
    return found
