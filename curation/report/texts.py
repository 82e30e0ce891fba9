"""The beginnings of recorded texts, to be shown: without secrets and personal data, and cut only then.

A secret may show what it is in another text of its trajectory only, so all texts of the trajectories that are shown
are looked through, each as far as its first 256 KiB. What is shown of a longer text ends so far before that, that no
secret goes from there over the end of what was looked through.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import BaseModel

from curation.secrets import Placeholders, redact, screen_columns
from trajectories.dataset import Dataset, Part
from trajectories.part_files import open_part, reading_part
from trajectories.schemas import CONTEXT_COLUMNS

_TEXT_LIMIT = 1200
_WINDOW_BYTES = 2**18
_MARGIN = 2**15
"""Code points at the end of a window of which nothing is shown; the longest secrets of one word are half as long."""
_ROWS_AT_ONCE = 64
_OF_TURNS = ("action", "observation")


class Place(NamedTuple):
    """Where a text stands: a column of a turn, or, with turn 0, of the trajectory's own row."""

    domain: str
    run: str
    trajectory_id: str
    turn: int
    column: str


class Excerpt(BaseModel):
    """The beginning of a text without its secrets, and how many code points were left out after it."""

    text: str = ""
    num_left_out: int = 0
    problem: Literal["missing", "not UTF-8"] | None = None
    """What is wrong with it as it was recorded; bytes that are no UTF-8 are replaced here."""


MISSING = Excerpt(problem="missing")


class _Window(NamedTuple):
    """As much of a text as is looked through."""

    text: str
    num_after: int
    """Code points that come after it."""
    is_utf8: bool


@dataclass(slots=True)
class _Shown:
    """A trajectory some of whose texts are shown."""

    columns: int | None
    """Of the screen that the texts are of, None where they are of none."""
    wanted: set[tuple[int, str]] = field(default_factory=set)
    """(turn, column) of the texts."""
    placeholders: Placeholders = field(default_factory=Placeholders)
    windows: dict[tuple[int, str], _Window | None] = field(default_factory=dict)
    """None for a text that is missing."""

    def read(self, turn: int, column: str, window: _Window | None) -> None:
        """Learn the secrets that a text tells, and keep the text where it is wanted."""
        if window is not None:
            self.placeholders.learn(window.text, columns=self.columns)
        if (turn, column) in self.wanted:
            self.windows[turn, column] = window

    def excerpt(self, turn: int, column: str) -> Excerpt:
        window = self.windows.get((turn, column))
        if window is None:
            return MISSING
        text, _ = redact(window.text, self.placeholders, columns=self.columns)
        shown = text[: min(_TEXT_LIMIT, max(0, len(text) - _MARGIN)) if window.num_after else _TEXT_LIMIT]
        return Excerpt(
            text=shown,
            num_left_out=window.num_after + len(text) - len(shown),
            problem=None if window.is_utf8 else "not UTF-8",
        )


def excerpts(dataset: Dataset, places: Collection[Place]) -> dict[Place, Excerpt]:
    """The excerpt of each of these texts; `MISSING` where there is none.

    One row group at a time is read, and of it only as much as stands before the last row that is looked for.

    Raises:
        DamagedFileError: a part cannot be read.
    """
    shown: dict[tuple[str, str, str], _Shown] = {}
    for domain, run, trajectory_id, turn, column in sorted(places):
        new = _Shown(screen_columns(domain))
        shown.setdefault((domain, run, trajectory_id), new).wanted.add((turn, column))
    for columns, parts in ((CONTEXT_COLUMNS, dataset.trajectory_parts()), (_OF_TURNS, dataset.turn_parts())):
        for part in parts:
            of_part = {key[2]: one for key, one in shown.items() if key[:2] == (part.domain, part.run)}
            for trajectory_id, turn, texts in _rows(dataset, part, of_part.keys(), columns):
                for column, window in texts.items():
                    of_part[trajectory_id].read(turn, column, window)
    return {place: shown[place[:3]].excerpt(place.turn, place.column) for place in places}


@lru_cache(maxsize=4096)
def without_secrets(name: str) -> str:
    """A short text such as a source's name, with placeholders for the secrets and personal data in it."""
    return redact(name, Placeholders(), columns=None)[0]


def _rows(
    dataset: Dataset, part: Part, trajectory_ids: Collection[str], columns: Sequence[str]
) -> Iterator[tuple[str, int, Mapping[str, _Window | None]]]:
    """(trajectory_id, turn, texts by column) of the rows of some trajectories; turn 0 where the rows have none."""
    if not trajectory_ids:
        return
    wanted = pa.array(sorted(trajectory_ids), pa.string())
    with reading_part(part.path), open_part(part.path, filesystem=dataset.filesystem) as file:
        has_turns = "turn" in file.schema_arrow.names
        for group in _groups_with(file.metadata, trajectory_ids):
            keys = file.read_row_group(group, columns=["trajectory_id", *(["turn"] if has_turns else [])])
            ids = keys["trajectory_id"].combine_chunks().cast(pa.string())
            places = np.flatnonzero(pc.is_in(ids, wanted).to_numpy(zero_copy_only=False))
            for place, texts in _texts_at(file, group, places, columns):
                turn = keys["turn"][place].as_py() if has_turns else 0
                yield ids[place].as_py(), turn, texts


def _groups_with(metadata: pq.FileMetaData, trajectory_ids: Collection[str]) -> Iterator[int]:
    """The row groups that may hold rows of these trajectories, by their statistics."""
    column = metadata.schema.names.index("trajectory_id")
    for group in range(metadata.num_row_groups):
        statistics = metadata.row_group(group).column(column).statistics
        knows = statistics is not None and statistics.has_min_max
        if not knows or any(statistics.min <= trajectory_id <= statistics.max for trajectory_id in trajectory_ids):
            yield group


def _texts_at(
    file: pq.ParquetFile, group: int, places: NDArray[np.int64], columns: Sequence[str]
) -> Iterator[tuple[int, Mapping[str, _Window | None]]]:
    """(place, texts by column) of the rows at these places of a row group, which are in order."""
    begin = 0
    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, row_groups=[group], columns=list(columns)):
        first, end = np.searchsorted(places, [begin, begin + batch.num_rows])
        for place in places[first:end].tolist():
            yield place, {name: _window(batch.column(name).slice(place - begin, 1)) for name in columns}
        if end == len(places):
            return
        begin += batch.num_rows


def _window(text: pa.Array) -> _Window | None:
    """The window of the one text in an array."""
    if not text[0].is_valid:
        return None
    recorded = text[0].as_buffer()
    is_whole = recorded.size <= _WINDOW_BYTES
    seen = recorded.slice(0, min(_WINDOW_BYTES, recorded.size)).to_pybytes()
    try:
        decoded = codecs.getincrementaldecoder("utf-8")().decode(seen, final=is_whole)
        is_utf8 = True
    except UnicodeDecodeError:
        decoded = codecs.getincrementaldecoder("utf-8")("replace").decode(seen, final=is_whole)
        is_utf8 = False
    return _Window(decoded, 0 if is_whole else max(1, _num_code_points(text) - len(decoded)), is_utf8)


def _num_code_points(text: pa.Array) -> int:
    return int(pc.utf8_length(text)[0].as_py())
