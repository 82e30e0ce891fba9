"""A collector may be killed at any moment: nothing acknowledged is lost or doubled, and nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil
import pytest

from sandboxes import ContainerSpec, Engine
from sandboxes.engines import EngineName
from sandboxes.gc import collect_garbage
from tests.collectors.collecting import Work, owned_here
from trajectories import Dataset, Status

NUM_KILLS = 20
NUM_TURNS = 8
MARKER = "73915.5"
"""An odd number of seconds, by which a process of a killed run is known anywhere on the machine."""

TASKS = f"""
tasks:
  - id: count
    domain: terminal
    instruction: Count.
    actions: [sleep {MARKER} &, echo 1, echo 2, 'echo 3; sleep 0.05', echo 4, seq 300, echo 6, echo 7]
  - id: write
    domain: terminal
    instruction: Write.
    actions: [sleep {MARKER} &, 'echo a > f', 'echo b >> f', cat f, 'wc f; sleep 0.05', ls -l, rm f, cat f]
"""


def wait_for_turns(work: Work, process: BaseProcess, num_turns: int, deadline_s: float = 30.0) -> None:
    end = time.monotonic() + deadline_s
    while len(work.acknowledged_turns()) < num_turns and process.is_alive():
        assert time.monotonic() < end, "the collector does not get on"
        process.join(0.01)


def kill_at_a_random_moment(work: Work, rng: random.Random) -> int | None:
    """Start a collector and kill it: while it starts, or within a turn, a close or the compaction. Its exit code."""
    process = work.start()
    if rng.random() < 0.3:
        process.join(rng.uniform(0.0, 0.6))
    else:
        wait_for_turns(work, process, len(work.acknowledged_turns()) + rng.randint(1, 2 * NUM_TURNS))
        process.join(rng.uniform(0.0, 0.2))
    if process.is_alive():
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    return process.exitcode


def marked_processes() -> list[int]:
    return [process.pid for process in psutil.process_iter(["cmdline"]) if MARKER in (process.info["cmdline"] or ())]


def check_nothing_is_missing_or_doubled(work: Work) -> None:
    dataset = Dataset(work.dataset)
    turns = dataset.scan_turns().select("trajectory_id", "turn").collect().rows()
    rows = dataset.scan_trajectories().select("trajectory_id", "task_id", "status", "num_turns").collect().rows()
    assert len(set(turns)) == len(turns)
    assert set(work.acknowledged_turns()) <= set(turns)
    assert dict(Counter(name for name, _ in turns)) == {name: num_turns for name, _, _, num_turns in rows if num_turns}
    assert len({name for name, *_ in rows}) == len(rows)
    completed = [(task, num_turns) for _, task, status, num_turns in rows if status == Status.COMPLETED]
    assert Counter(completed) == {("count", NUM_TURNS): work.episodes, ("write", NUM_TURNS): work.episodes}
    assert {status for _, _, status, _ in rows} == {Status.COMPLETED, Status.INTERRUPTED}
    assert dataset.journal_paths(work.run) == []


@pytest.mark.slow
async def test_a_collector_killed_twenty_times_loses_doubles_and_leaves_nothing(
    tmp_path: Path, state: Path, engine: Engine, engine_name: EngineName
) -> None:
    tasks = tmp_path / "tasks.yaml"
    tasks.write_text(TASKS)
    work = Work(
        dataset=tmp_path / "data", tasks=tasks, state=state, acknowledged=tmp_path / "acknowledged", engine=engine_name
    )
    bystander = await engine.create(ContainerSpec(image="terminal"))
    rng = random.Random(20)
    num_kills = 0
    while num_kills < NUM_KILLS:
        work = replace(work, episodes=1 + num_kills // 2)  # so that there is work left to be killed at
        if await asyncio.to_thread(kill_at_a_random_moment, work, rng) == -signal.SIGKILL:
            num_kills += 1
    last = work.start()
    await asyncio.to_thread(last.join)
    assert last.exitcode == 0
    check_nothing_is_missing_or_doubled(work)
    await collect_garbage([engine], state=state)
    assert await owned_here(engine, state) == {bystander.id}
    assert marked_processes() == []
    assert (await bystander.exec(["echo", "untouched"])).stdout == b"untouched\n"
    await bystander.close()
