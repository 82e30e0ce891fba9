"""A real collector process to be killed: started from a warm fork server, so that a start costs little."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from collectors.collect import Progress, collect
from collectors.tasks import load_tasks
from sandboxes import Engine, Lease, open_engine
from sandboxes.engines import EngineName
from sandboxes.leases import HOST_LABEL, Host
from trajectories import Dataset

_WARM = multiprocessing.get_context("forkserver")
_WARM.set_forkserver_preload([__name__])


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a collector process is to do, and where it says which turns it has been promised."""

    dataset: Path
    tasks: Path
    state: Path
    acknowledged: Path
    engine: EngineName
    run: str = "run"
    policy: str = "scripted"
    episodes: int = 1
    concurrency: int = 2

    def start(self) -> BaseProcess:
        process = _WARM.Process(target=_main, args=(self,))
        process.start()
        return process

    def acknowledged_turns(self) -> list[tuple[str, int]]:
        """Every (trajectory, turn) that any process was told is recorded, in order."""
        if not self.acknowledged.exists():
            return []
        lines = (line.split() for line in self.acknowledged.read_text().splitlines())
        return [(name, int(turn)) for name, turn in lines]


async def owned_here(engine: Engine, state: Path) -> set[str]:
    """Ids of what the processes that share ``state`` own on the engine."""
    host = Host.current(state).id
    return {resource.id for resource in await engine.owned() if resource.labels.get(HOST_LABEL) == host}


def _main(work: Work) -> None:
    os.environ["WORLDTAPE_STATE"] = str(work.state)
    asyncio.run(_collect(work))


async def _collect(work: Work) -> None:
    with work.acknowledged.open("a") as acknowledged, Lease.acquire(work.run) as lease:

        def acknowledge(progress: Progress) -> None:
            if progress.turn is not None:
                os.write(acknowledged.fileno(), f"{progress.trajectory_id} {progress.turn}\n".encode())

        engine = await open_engine(work.engine, lease)
        try:
            await collect(
                Dataset(work.dataset),
                load_tasks([work.tasks]),
                policy=work.policy,
                engine=engine,
                run=work.run,
                episodes=work.episodes,
                concurrency=work.concurrency,
                progress=acknowledge,
            )
        finally:
            await engine.close()
