"""Name the missing extra in one line, instead of a traceback that names a module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trajectories import MissingExtraError


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Imports inside (or in a function that this decorates) that fail for want of a dependency name the extra.

    Heavy dependencies are imported where they are needed, so it surrounds the work, not just the first imports.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(name, error.name or "unknown") from error
