"""Terminals in real containers, and what the tests read off them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sandboxes.engines import Engine
from sandboxes.terminal import TerminalSandbox
from trajectories import Action, Observation
from trajectories.renderers import Screen

PROMPT = "user@sandbox:/workspace$"


@asynccontextmanager
async def opened(engine: Engine, **options: object) -> AsyncIterator[TerminalSandbox]:
    """A started terminal, closed at the end."""
    sandbox = TerminalSandbox(engine, **options)  # type: ignore[arg-type]  # as they come from a task
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.close()


async def enter(sandbox: TerminalSandbox, *lines: str, wait_s: float = 30.0) -> Observation:
    """Type each line with Enter; the wait is an upper bound that a fast turn does not use."""
    return await sandbox.step(Action.keys(*((f"{line}\n", wait_s) for line in lines)))


async def press(sandbox: TerminalSandbox, *keys: str, wait_s: float = 30.0) -> Observation:
    return await sandbox.step(Action.keys(*((key, wait_s) for key in keys)))


def last_output(observation: Observation) -> str:
    """What stands between the last command line and the prompt after it."""
    *before, _ = observation.text.split("\n")
    command = max(row for row, line in enumerate(before) if line.startswith("user@sandbox:"))
    return "\n".join(before[command + 1 :])


def feed(screen: Screen, observation: Observation) -> str:
    """The screen's text after the observation's raw output."""
    assert observation.raw is not None
    for event in observation.raw:
        if event.kind == "o":
            screen.feed(event.data.encode("utf-8", "surrogateescape"))
    return screen.text()
