"""Short names for all that a result depends on, so that it can be told whether it would be the same again."""

from __future__ import annotations

import hashlib
import json
import sys
import unicodedata
from importlib.metadata import version

from curation.program_digest import digest

NUM_DIGITS = 16
"""Of a fingerprint, in hexadecimal: 64 bits."""


def fingerprint_of(depends_on: object) -> str:
    """`NUM_DIGITS` hexadecimal digits that change with anything in a JSON value but the order of its keys."""
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()[:NUM_DIGITS]


def program() -> dict[str, str]:
    """What any result depends on beside data and settings: this program, and what Python and Unicode call a word."""
    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "unicode": unicodedata.unidata_version,
        "worldtape": version("worldtape"),
        "sources": digest()[:NUM_DIGITS],
    }
