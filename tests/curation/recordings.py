"""Trajectories recorded by the store itself, for data sets to curate."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

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

DAWN = datetime(2026, 11, 30, 6, tzinfo=UTC)
WORDS = [f"{start}{end}" for start in ("al", "be", "gam", "del", "ep", "ze") for end in ("pha", "ta", "ma")]

Texts = Sequence[tuple[str, str]]
"""(action, observation) of each turn of a trajectory."""


def record(dataset: Dataset, trajectory_id: str, texts: Texts, *, run: str = "r1", domain: str = "terminal") -> None:
    """Record one whole trajectory, its clock beginning at dawn."""
    header = Header(
        trajectory_id=trajectory_id,
        run=run,
        domain=domain,
        task_id=f"{domain}/task",
        task_sha256="0" * 64,
        instruction="Look around.",
        prompt=SystemPrompt(),
        policy="scripted",
        seed=0,
        sandbox=domain,
        engine="docker",
        licence="CC0-1.0",
        started_at=DAWN,
    )
    with JournalWriter(dataset, header, Observation(text="$ ", renderer="plain@1")) as journal:
        for number, (action, observation) in enumerate(texts, start=1):
            journal.append(
                Turn(
                    number=number,
                    action=Action(action, action),
                    observation=Observation(
                        text=observation,
                        renderer="plain@1",
                        timed_out=number == 2,
                        error_kind=ErrorKind.TOOL if number == 3 else None,
                    ),
                    started_at=DAWN + timedelta(seconds=number),
                    duration_s=0.1,
                )
            )
        journal.end(Ending(status=Status.COMPLETED, ended_at=DAWN + timedelta(minutes=5)))


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
    """Write the turns parts again with small row groups, as another writer might have."""
    for part in dataset.turn_parts():
        table = pq.read_table(part.path, partitioning=None)
        pq.write_table(table, part.path, row_group_size=num_rows)


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
