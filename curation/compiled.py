"""Compiling functions, once for as long as the sources of curation stay the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit
from numba.core.caching import FunctionCache

from curation.program_digest import digest

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Cache(FunctionCache):
    """Numba's own notices only that the module of a function has changed, not one that a call or constant is from.

    Which those are nobody has to keep in mind: a change anywhere in curation has all of it compiled anew.
    """

    def _index_key(self, sig: object, codegen: object) -> tuple[object, ...]:
        return (*super()._index_key(sig, codegen), digest())  # type: ignore[no-untyped-call]


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function, compiled when it is first called, or loaded as it was before; it lets other threads run."""
    return _cached(function, njit(nogil=True)(function))


def inlined(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`compiled` for a small function, which becomes part of those that call it."""
    return _cached(function, njit(nogil=True, inline="always")(function))


def _cached(function: Callable[_P, _R], dispatcher: Callable[_P, _R]) -> Callable[_P, _R]:
    vars(dispatcher)["_cache"] = _Cache(function)  # type: ignore[no-untyped-call]
    return dispatcher
