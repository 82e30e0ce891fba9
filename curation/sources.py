"""The program as numbers: what it finds, and what is compiled of it, changes with its sources."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_CURATION = Path(__file__).parent
_COMPILED = ("kernel.py", "ngrams.py", "bits.py")
"""The modules that are compiled and call each other; the compiler keeps what it made of each by that module alone."""


@cache
def digest() -> str:
    """SHA-256 over all modules of curation, in hexadecimal."""
    return digest_of(_CURATION.rglob("*.py"))


@cache
def compiled_digest() -> str:
    """SHA-256 over the modules of which compiled code is made, in hexadecimal."""
    return digest_of(path for path in _CURATION.rglob("*.py") if path.name in _COMPILED)


def digest_of(modules: Iterable[Path]) -> str:
    """SHA-256 over the names and contents of modules, in hexadecimal."""
    hashed = hashlib.sha256()
    for path in sorted(modules):
        source = path.read_bytes().replace(b"\r\n", b"\n")
        hashed.update(f"{path.relative_to(_CURATION)} {len(source)} ".encode() + source)
    return hashed.hexdigest()
