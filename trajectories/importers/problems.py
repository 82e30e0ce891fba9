"""Why something of a source cannot be imported, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from trajectories.errors import InputError


class UnreadableError(InputError):
    """A source, or one trajectory of it, is not what its format allows. The one error that readers raise."""


class ContradictionError(UnreadableError):
    """A source contradicts itself so that no turn of it is sure, the earlier ones neither."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A trajectory, or what should have been one, that cannot be imported."""

    file: str
    line: int | None
    """From 1, in a file of lines; in an array, which element; None where it is the whole file."""
    reason: str
    mend: str | None = None

    @classmethod
    def at(cls, place: str, reason: str, mend: str | None = None) -> Problem:
        """The problem at what ``place`` gives for it."""
        file, _, line = place.rpartition(":")
        if file and line.isdecimal():
            return cls(file, int(line), reason, mend)
        return cls(place, None, reason, mend)

    @property
    def place(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.told}"

    @property
    def told(self) -> str:
        """The reason, and how to mend it."""
        return f"{self.reason}; {self.mend}" if self.mend else self.reason
