"""Compiling functions, once for as long as the sources of what they call stay the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit
from numba.core.caching import FunctionCache

from curation.sources import compiled_digest

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Cache(FunctionCache):
    """Numba's own notices only that the module of a function has changed, not one from which it calls another.

    Args:
        sources: digest of all modules that it is made of.
    """

    def __init__(self, function: Callable[..., object], sources: str) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._sources = sources

    def _index_key(self, sig: object, codegen: object) -> tuple[object, ...]:
        return (*super()._index_key(sig, codegen), self._sources)  # type: ignore[no-untyped-call]


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function, compiled when it is first called, or loaded as it was before; it lets other threads run."""
    return compiled_of(function, compiled_digest())


def compiled_of(function: Callable[_P, _R], sources: str) -> Callable[_P, _R]:
    """`compiled`, for a function that is made of other modules; ``sources`` is a digest of them."""
    return _cached(function, njit(nogil=True)(function), sources)


def inlined(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`compiled` for a small function, which becomes part of those that call it."""
    return _cached(function, njit(nogil=True, inline="always")(function), compiled_digest())


def _cached(function: Callable[_P, _R], dispatcher: Callable[_P, _R], sources: str) -> Callable[_P, _R]:
    vars(dispatcher)["_cache"] = _Cache(function, sources)
    return dispatcher
