"""Name the missing extra in one line, instead of a traceback that names a module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trajectories import MissingExtraError


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Imports inside that fail because a dependency is not installed say which extra brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(name, error.name or "unknown") from error
