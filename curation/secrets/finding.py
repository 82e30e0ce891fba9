"""What is found."""

from __future__ import annotations

from typing import NamedTuple

PERSONAL = frozenset({"card", "email", "iban", "ip", "phone"})
"""The kinds that are personal data; all others are secrets."""


class Finding(NamedTuple):
    """A secret or personal datum: ``text[start:end]``, in code points."""

    kind: str
    start: int
    end: int
    rule: str
