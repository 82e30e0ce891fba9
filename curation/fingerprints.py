"""Short names for all that a result depends on, so that it can be told whether it would be the same again."""

from __future__ import annotations

import hashlib
import json
import sys
import unicodedata

NUM_DIGITS = 16
"""Of a fingerprint, in hexadecimal: 64 bits."""


def fingerprint_of(depends_on: object) -> str:
    """`NUM_DIGITS` hexadecimal digits that change with anything in a JSON value but the order of its keys."""
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()[:NUM_DIGITS]


def notion_of_words() -> list[int | str]:
    """What words and their lower-case forms are taken from: the versions of this Python and its Unicode."""
    return [*sys.version_info[:2], unicodedata.unidata_version]
