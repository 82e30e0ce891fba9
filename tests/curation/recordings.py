"""Trajectories recorded by the store itself, for data sets to curate."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from trajectories import (
    Action,
    Dataset,
    Ending,
    ErrorKind,
    Header,
    JournalWriter,
    Observation,
    Status,
    SystemPrompt,
    Turn,
)
from trajectories.part_files import PARQUET_OPTIONS

DAWN = datetime(2026, 11, 30, 6, tzinfo=UTC)
WORDS = [f"{start}{end}" for start in ("al", "be", "gam", "del", "ep", "ze") for end in ("pha", "ta", "ma")]

Texts = Sequence[tuple[str, str]]
"""(action, observation) of each turn of a trajectory."""


def record(dataset: Dataset, trajectory_id: str, texts: Texts, *, run: str = "r1", domain: str = "terminal") -> None:
    """Record one whole trajectory, its clock beginning at dawn."""
    turns = [
        turn(
            action,
            observation,
            timed_out=number == 2,
            error_kind=ErrorKind.TOOL if number == 3 else None,
        )
        for number, (action, observation) in enumerate(texts, start=1)
    ]
    record_turns(dataset, a_header(trajectory_id, run=run, domain=domain), turns)


def a_header(trajectory_id: str, *, run: str = "r1", domain: str = "terminal", **given: Any) -> Header:
    """The header of a trajectory, with any field as it is given."""
    fields: dict[str, Any] = {
        "task_id": f"{domain}/task",
        "task_sha256": "0" * 64,
        "instruction": "Look around.",
        "prompt": SystemPrompt(),
        "policy": "scripted",
        "seed": 0,
        "sandbox": domain,
        "engine": "docker",
        "licence": "CC0-1.0",
        "started_at": DAWN,
    }
    return Header(trajectory_id=trajectory_id, run=run, domain=domain, **(fields | given))


def turn(action: str | Action, observation: str, *, is_noop: bool | None = None, **observed: Any) -> Turn:
    """A turn, with any field of its observation as it is given; it gets its number when it is recorded."""
    return Turn(
        number=0,
        action=Action(action, action) if isinstance(action, str) else action,
        observation=Observation(text=observation, renderer="plain@1", **observed),
        started_at=DAWN,
        duration_s=0.1,
        is_noop=is_noop,
    )


def record_turns(dataset: Dataset, header: Header, turns: Sequence[Turn], *, status: Status = Status.COMPLETED) -> None:
    """Record one whole trajectory of these turns, a second each."""
    with JournalWriter(dataset, header, Observation(text="$ ", renderer="plain@1")) as journal:
        for number, given in enumerate(turns, start=1):
            journal.append(replace(given, number=number, started_at=DAWN + timedelta(seconds=number)))
        journal.end(Ending(status=status, ended_at=DAWN + timedelta(minutes=5)))


def some_texts(seed: int, num_turns: int) -> Texts:
    """Turns of every class, the same ones for the same seed."""
    rng = random.Random(seed)

    def phrase(most: int) -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(0, most)))

    def answer(action: str) -> str:
        return rng.choice(
            [action, "", "ok", f"{action} and {phrase(6)}", phrase(40), phrase(3), action[: len(action) // 3]]
        )

    return [(action, answer(action)) for action in (phrase(12) for _ in range(num_turns))]


def cut_row_groups(dataset: Dataset, num_rows: int) -> None:
    """Write the turns parts again with small row groups, otherwise as they were."""
    for part in dataset.turn_parts():
        table = pq.read_table(part.path, partitioning=None)
        pq.write_table(table, part.path, row_group_size=num_rows, **PARQUET_OPTIONS)


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path, but for what searches keep of pieces: how these are cut is a setting."""
    paths = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {name.as_posix(): path.read_bytes() for name, path in paths.items() if ".pieces" not in name.parts}


def kept_of(folder: Path) -> dict[str, int]:
    """What a search keeps of pieces below its folder, and when each was written, in nanoseconds."""
    kept = folder / ".pieces"
    paths = (path for path in kept.rglob("*") if path.is_file())
    return {path.relative_to(kept).as_posix(): path.stat().st_mtime_ns for path in paths}
