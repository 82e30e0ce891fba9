"""Sequences that hold none of their elements: each is made when it is taken."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

_Element = TypeVar("_Element", covariant=True)


class LazySequence(Sequence[_Element]):
    """A sequence of the elements that `at` makes; a slice is a list of them."""

    @abstractmethod
    def at(self, place: int) -> _Element:
        """The element at a place, which is from 0 up to the length."""

    @overload
    def __getitem__(self, index: int) -> _Element: ...
    @overload
    def __getitem__(self, index: slice) -> list[_Element]: ...
    def __getitem__(self, index: int | slice) -> _Element | list[_Element]:
        places = range(len(self))[index]
        return self.at(places) if isinstance(places, int) else [self.at(place) for place in places]
