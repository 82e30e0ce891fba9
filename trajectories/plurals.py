"""Counts of things, as people say them."""

from __future__ import annotations


def plural(count: int, noun: str, several: str | None = None) -> str:
    """``1 task``, ``2 tasks``; ``several`` is what more than one are called, if that is no ``s`` at the end."""
    return f"{count:,} {named(count, noun, several)}"


def named(count: int, noun: str, several: str | None = None) -> str:
    """What so many are called."""
    return noun if count == 1 else several or f"{noun}s"
