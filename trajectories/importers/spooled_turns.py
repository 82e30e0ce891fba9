"""Turns that are made one after another and read any number of times, however many they are."""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterator
from typing import Final, cast

from trajectories.importers.lazy_sequence import LazySequence
from trajectories.model import Turn
from trajectories.spooled_bytes import SpooledBytes

_IN_MEMORY: Final = 2**24
"""Characters of turns that are held as they are."""
_BESIDE_ITS_TEXT: Final = 1200
"""Bytes that a turn takes beside its texts, as measured: a million of nearly empty ones are more than a gigabyte."""


class SpooledTurns(LazySequence[Turn]):
    """A sequence that grows at its end: in memory while small, in a file without a name beyond some 16 MiB of text.

    The file ends with this object. A turn that has been there is equal to the one that was added, but not the same
    object. None may hold raw events.

    Methods raise ``StorageError`` where the disk is full or fails.
    """

    def __init__(self, *, in_memory: int = _IN_MEMORY) -> None:
        self._in_memory = in_memory
        self._file = SpooledBytes(in_memory=0)
        self._ends = array("Q", [0])
        """Where each turn that is in the file ends; it begins where the one before ends."""
        self._latest: list[Turn] = []
        """Those that are not in the file: they come after all that are."""
        self._too_deep: dict[int, Turn] = {}
        """Place → a turn that cannot be written, as its action is nested deeper than pickle goes: it takes no bytes."""
        self._num_characters = 0
        """Of the latest."""

    def append(self, turn: Turn) -> None:
        self._latest.append(turn)
        self._num_characters += _num_characters(turn)
        if self._num_characters > self._in_memory:
            self._spill()

    def __len__(self) -> int:
        return self._num_in_file + len(self._latest)

    def at(self, place: int) -> Turn:
        in_file = self._num_in_file
        return self._from_file(place) if place < in_file else self._latest[place - in_file]

    @property
    def _num_in_file(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[Turn]:
        place = 0
        while place < len(self):
            yield self[place]
            place += 1

    def _spill(self) -> None:
        for turn in self._latest:
            self._file.append(self._pickled(turn))
            self._ends.append(len(self._file))
        self._latest.clear()
        self._num_characters = 0

    def _pickled(self, turn: Turn) -> bytes:
        try:
            return pickle.dumps(turn, pickle.HIGHEST_PROTOCOL)
        except RecursionError:
            self._too_deep[self._num_in_file] = turn
            return b""

    def _from_file(self, place: int) -> Turn:
        if place in self._too_deep:
            return self._too_deep[place]
        return cast("Turn", pickle.loads(self._file.read(self._ends[place], self._ends[place + 1])))


def _num_characters(turn: Turn) -> int:
    action, observation = turn.action, turn.observation
    texts = (action.text, action.reasoning, observation.text, observation.error)
    return _BESIDE_ITS_TEXT + sum(len(text) for text in texts if text)
