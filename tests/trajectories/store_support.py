"""Small trajectories to record, and processes that record them."""

from __future__ import annotations

import hashlib
import multiprocessing
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from trajectories import (
    Action,
    Dataset,
    Ending,
    EventSpool,
    Header,
    JournalWriter,
    Observation,
    RawEvent,
    Status,
    SystemPrompt,
    Turn,
    compact,
)

BEGIN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RUN = "run-1"
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["trajectories"])


def header(trajectory_id: str, *, domain: str = "terminal", run: str = RUN) -> Header:
    return Header(
        trajectory_id=trajectory_id,
        run=run,
        domain=domain,
        task_id="count-files",
        task_sha256="0" * 64,
        instruction="Count the files.",
        prompt=SystemPrompt(task_description="A terminal.", action_space="Keystrokes.", initial_state="Debian 12"),
        policy="scripted",
        seed=7,
        sandbox="terminal@1",
        started_at=BEGIN,
        recording_header={"version": 2, "width": 40, "height": 5},
    )


def spool(*events: RawEvent) -> EventSpool:
    made = EventSpool()
    for event in events:
        made.append(event)
    return made


def observation(text: str, *, seconds: float = 0.0, raw_bytes: int = 0) -> Observation:
    """An observation with one raw event, or as many as hold ``raw_bytes``."""
    noise = random.Random(len(text))
    events = [RawEvent(seconds, "o", f"\x1bc{text}")]
    while raw_bytes > 0:
        events.append(RawEvent(seconds, "o", f"\x1b]0;{noise.randbytes(2000).hex()}\x07"))
        raw_bytes -= 4000
    return Observation(text=text, renderer="terminal-screen@1", raw=spool(*events), bytes_total=len(text))


def turn(number: int, text: str | None = None, *, raw_bytes: int = 0) -> Turn:
    return Turn(
        number=number,
        action=Action.keys((f"echo {number}\n", 1.0)),
        observation=observation(text or f"answer {number}", seconds=float(number), raw_bytes=raw_bytes),
        started_at=BEGIN + timedelta(seconds=number),
        duration_s=0.5,
    )


ENDING = Ending(status=Status.COMPLETED, ended_at=BEGIN + timedelta(minutes=1), outcome={"passed": True})


def record(
    dataset: Dataset, trajectory_id: str, *, num_turns: int = 3, domain: str = "terminal", run: str = RUN
) -> None:
    """A whole trajectory, ended, in its journal."""
    with JournalWriter(dataset, header(trajectory_id, domain=domain, run=run), observation("$")) as journal:
        for number in range(1, num_turns + 1):
            journal.append(turn(number))
        journal.end(ENDING)


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder, hidden ones too, and the hash of what it holds."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def record_for_ever(url: str, trajectory_id: str, raw_bytes: int, acknowledge: Connection) -> None:
    """What the writer that is going to be killed does: it says each turn's number once ``append`` has returned."""
    with JournalWriter(Dataset(url), header(trajectory_id), observation("$")) as journal:
        acknowledge.send(0)
        number = 0
        while True:
            number += 1
            journal.append(turn(number, raw_bytes=raw_bytes))
            acknowledge.send(number)


def compact_once(url: str, begin: Connection) -> None:
    begin.send(0)
    compact(Dataset(url), RUN)
    begin.send(1)


@contextmanager
def forked(target: Callable[..., None], *arguments: object) -> Iterator[tuple[BaseProcess, Connection]]:
    """A process that runs ``target(*arguments, connection)``, and our end of that connection; killed at the end."""
    ours, theirs = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=target, args=(*arguments, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()
        ours.close()


def last_word(connection: Connection, last: int) -> int:
    """The last number that a killed process has sent, after ``last``."""
    try:
        while True:
            last = connection.recv()
    except (EOFError, OSError):
        return last
