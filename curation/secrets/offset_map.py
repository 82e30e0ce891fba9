"""Where in a text the pieces of its edited form come from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


class OffsetMap:
    """Maps places in an edited text to the text it was made of; ``OffsetMap()`` is of one that is not edited yet."""

    def __init__(self, places: Sequence[int] = (0,), origins: Sequence[int] = (0,)) -> None:
        self._places, self._origins = places, origins

    def origin(self, place: int) -> int:
        """The place that text came from; ``place`` is not inside a replacement."""
        piece = bisect_right(self._places, place) - 1
        return self._origins[piece] + place - self._places[piece]

    def then(self, spans: Sequence[tuple[int, int]], lengths: Sequence[int]) -> OffsetMap:
        """The map of these edits and those after them that put so many characters for each of the spans, in order."""
        places, origins = [], []
        grown, piece = 0, 0
        for (start, end), length in zip(spans, lengths, strict=True):
            while piece < len(self._places) and self._places[piece] <= start:
                places.append(self._places[piece] + grown)
                origins.append(self._origins[piece])
                piece += 1
            while piece < len(self._places) and self._places[piece] <= end:
                piece += 1
            grown += length - (end - start)
            places.append(end + grown)
            origins.append(self.origin(end))
        places += [place + grown for place in self._places[piece:]]
        return OffsetMap(places, [*origins, *self._origins[piece:]])
