"""Attempts at an episode that were interrupted and begun again: the later one begins as the earlier did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import polars as pl

from trajectories.dataset import Dataset
from trajectories.model import Status
from trajectories.part_files import read_part, reading_part

_EPISODES: Final = ("domain", "run", "task_id", "task_sha256", "policy", "seed")
"""What all episodes of a task have in common; beside it, an episode has its number."""

_NUMBERS_EACH: Final = 16
_NUMBERS_MORE: Final = 1000
"""How far numbers are tried, by the trajectories there are: an episode that never began takes a number too."""

_ATTEMPTS_EACH: Final = 16
"""Where more different attempts are recorded, fewer numbers are tried: the time stays in proportion to the rows."""

_COLUMNS: Final = ("task_id", "task_sha256", "policy", "seed", "trajectory_id", "attempt", "status")


def superseded_by_part(dataset: Dataset) -> dict[str, frozenset[str]]:
    """The trajectories that were interrupted and of which a later attempt is recorded, by their part (its path below
    ``trajectories/``). Parts that hold none are left out.

    Raises:
        DamagedFileError: a trajectories part cannot be read.
    """
    again = pl.concat(rows.filter(pl.col("attempt") > 1).select(_EPISODES) for rows in _rows(dataset)).unique()
    if again.is_empty():
        return {}
    attempts = pl.concat(rows.join(again, on=_EPISODES, how="semi") for rows in _rows(dataset))
    ids = [name for _, of_task in attempts.group_by(_EPISODES) for name in _superseded(of_task)]
    found = attempts.filter(pl.col("trajectory_id").is_in(ids)).group_by("part").agg("trajectory_id")
    return {str(part): frozenset(theirs) for part, theirs in found.iter_rows()}


def _rows(dataset: Dataset) -> Iterator[pl.DataFrame]:
    """What tells attempts apart, a trajectories part at a time."""
    for part in dataset.trajectory_parts():
        with reading_part(Path(part.path)):
            table = read_part(part.path, columns=_COLUMNS)
        name = Path(part.path).relative_to(dataset.folder / "trajectories").as_posix()
        place = {"domain": part.domain, "run": part.run, "part": name}
        frame = cast("pl.DataFrame", pl.from_arrow(table))
        yield frame.with_columns(pl.lit(value).alias(key) for key, value in place.items())


def _superseded(attempts: pl.DataFrame) -> Iterator[str]:
    """Of all attempts at the episodes of one task, those that are superseded.

    The number of an episode is not recorded, but a trajectory's id is a hash of it: numbers are tried until every
    later attempt is found. One that another program made never is, and supersedes nothing. Only attempts that are
    recorded are tried, so that none can say that there are very many.
    """
    from collectors.ids import Episode  # here, for its package loads the sandboxes

    episodes = dict(zip(_EPISODES, attempts.select(_EPISODES).row(0), strict=True))
    statuses = dict(attempts.select("trajectory_id", "status").iter_rows())
    recorded: list[int] = attempts["attempt"].unique().sort().to_list()
    later = set(attempts.filter(pl.col("attempt") > 1)["trajectory_id"])
    last = _NUMBERS_EACH * len(attempts) + _NUMBERS_MORE
    for number in range(min(last, last * _ATTEMPTS_EACH // len(recorded))):
        if not later:
            return
        episode = Episode(**episodes, number=number)
        tries = [name for name in map(episode.trajectory_id, recorded) if name in statuses]
        later.difference_update(tries)
        yield from (name for name in tries[:-1] if statuses[name] == Status.INTERRUPTED)
