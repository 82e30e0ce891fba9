"""The program as a number: what it finds, and what is compiled of it, changes with its sources."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_CURATION = Path(__file__).parent


@cache
def digest(package: str = "") -> str:
    """SHA-256 over the names and contents of all modules of curation, or of a package in it, in hexadecimal."""
    hashed = hashlib.sha256()
    for path in sorted((_CURATION / package).rglob("*.py")):
        source = path.read_bytes().replace(b"\r\n", b"\n")
        hashed.update(f"{path.relative_to(_CURATION)} {len(source)} ".encode() + source)
    return hashed.hexdigest()
