"""Where the parts of a data set and of its curation lie, and the stretches of them that are packed one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from trajectories.part_files import reading_part


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A part of the data set: turns, trajectories and sidecar have a file each of the same path below their folders."""

    domain: str
    run: str
    name: str

    @property
    def path(self) -> str:
        return f"domain={self.domain}/run={self.run}/{self.name}"


@dataclass(frozen=True, slots=True)
class Unit:
    """Row groups ``first`` to ``end`` (excluded) of a turns part; their borders are borders of trajectories.

    ``num_bytes`` is the size of the turns, uncompressed.
    """

    part: SourcePart
    first: int
    end: int
    first_id: str
    last_id: str
    num_bytes: int

    @property
    def num_groups(self) -> int:
        return self.end - self.first


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The folders of a data set and of a sidecar, which have the same parts, and how the sidecar is to be read."""

    dataset: Path
    sidecar: Path
    seed: int
    """Of the curation's draws."""
    by_token: bool
    """A keep ratio is the share of a turn's tokens, which are drawn here; else turns have been drawn."""
    volatile: Path | None
    """The table of volatile spans, where there is one."""

    def turns(self, part: SourcePart) -> Path:
        return self.dataset / "turns" / part.path

    def trajectories(self, part: SourcePart) -> Path:
        return self.dataset / "trajectories" / part.path

    def judgements(self, part: SourcePart) -> Path:
        return self.sidecar / part.path

    def num_trajectories(self, part: SourcePart) -> int:
        path = self.trajectories(part)
        with reading_part(path):
            return int(pq.read_metadata(path).num_rows)

    def units(self, part: SourcePart) -> Iterator[Unit]:
        """The units of a part, in order: as few row groups each as hold whole trajectories.

        A part is sorted by trajectory, so one that goes on in the next row group shows in the groups' statistics.
        """
        path = self.turns(part)
        with reading_part(path):
            metadata = pq.read_metadata(path)
        ids = metadata.schema.names.index("trajectory_id")
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        spans = [group.column(ids).statistics for group in groups]
        first = 0
        for end in range(1, len(groups) + 1):
            if end == len(groups) or spans[end - 1].max != spans[end].min:
                num_bytes = sum(group.total_byte_size for group in groups[first:end])
                yield Unit(part, first, end, spans[first].min, spans[end - 1].max, num_bytes)
                first = end
