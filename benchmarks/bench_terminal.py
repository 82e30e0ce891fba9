"""What a recorded terminal turn costs, beside a bare pty and plain ``docker exec``, in the same run.

Ours is the whole way: sandbox, screen, recorder, fsynced journal. The bare pty is a Bash on this machine that is told
when it is done by the same kind of mark, with no container, no screen and no record.
"""

from __future__ import annotations

import asyncio
import os
import pty
import secrets
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.table import Row, Table
from collectors import Origin, Recorder
from sandboxes import Engine, EngineUnavailableError, Lease, open_engine, open_sandbox
from sandboxes.engines import EngineName
from trajectories import Action, Dataset

_ECHO = "echo hello"
_NUM_ECHOES = 100
_MIXED = [
    "ls -la /usr",
    "mkdir -p work/deep && cd work",
    "seq 1 500 > numbers",
    "wc -l numbers",
    "grep -c 7 numbers",
    "sort -r numbers | head -n 3",
    "sed -n 5,9p numbers",
    "awk '{ s += $1 } END { print s }' numbers",
    "find /etc -maxdepth 1 -name 'p*'",
    "cat no-such-file",
    "for i in 1 2 3; do echo line $i; done",
    "x=$((6 * 7)); echo $x",
    "printf '%s\\n' a b c | tr a-c A-C",
    "tail -n 20 numbers",
    "diff numbers numbers && echo same",
    "test -d deep; echo $?",
    "date +%Y",
    "du -s .",
    "uname -a",
    "cd /workspace",
] * 10
_NUM_STARTS = 5


@dataclass(frozen=True, slots=True)
class _Figures:
    """Seconds: a median ``echo``, 200 mixed commands, a median cold start to the first result."""

    echo: float
    mixed: float
    start: float


def run() -> Table:
    """Measure; takes about a minute. Engines that are not here are left out."""
    measured = {"bare pty, nothing recorded": _bare_pty()}
    measured |= asyncio.run(_ours())
    if any("docker" in name for name in measured):
        measured["docker exec, nothing recorded"] = _docker_exec()
    reference = list(measured)[-1]
    base = measured[reference].echo
    rows = [
        Row(name, (_ms(f.echo), f"{f.mixed:.2f} s", _ms(f.start)), base / f.echo, _target(name))
        for name, f in measured.items()
    ]
    return Table("a terminal turn", ("echo", "200 mixed commands", "cold start to result"), reference, rows)


def _target(name: str) -> str:
    return "echo 5 ms, mixed 2.5 s, start 400 ms" if name.startswith("worldtape") else ""


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


async def _ours() -> dict[str, _Figures]:
    measured = {}
    with Lease.acquire("bench") as lease:
        names: tuple[EngineName, ...] = ("docker", "bubblewrap")
        for name in names:
            try:
                engine = await open_engine(name, lease)
            except EngineUnavailableError:
                continue
            measured[f"worldtape on {name}, recorded"] = await _recorded(engine)
            await engine.close()
    return measured


async def _recorded(engine: Engine) -> _Figures:
    with tempfile.TemporaryDirectory() as folder:
        dataset = Dataset(folder)
        starts = [await _cold_start(engine, dataset, number) for number in range(_NUM_STARTS)]
        recorder = _recorder(engine, dataset, _NUM_STARTS)
        await recorder.start()
        try:
            echoes = [await _timed(recorder, _ECHO) for _ in range(_NUM_ECHOES)]
            mixed = [await _timed(recorder, command) for command in _MIXED]
        finally:
            await recorder.close()
    return _Figures(statistics.median(echoes), sum(mixed), statistics.median(starts))


def _recorder(engine: Engine, dataset: Dataset, number: int) -> Recorder:
    origin = Origin(
        trajectory_id=f"bench-{number}",
        run="bench",
        task_id="bench",
        task_sha256="0" * 64,
        instruction="Measure.",
        policy="bench@1",
        seed=0,
    )
    return Recorder(open_sandbox("terminal", engine=engine), dataset, origin)


async def _timed(recorder: Recorder, command: str) -> float:
    started = time.perf_counter()
    await recorder.step(Action.keys((f"{command}\n", 10.0)))
    return time.perf_counter() - started


async def _cold_start(engine: Engine, dataset: Dataset, number: int) -> float:
    recorder = _recorder(engine, dataset, number)
    started = time.perf_counter()
    try:
        await recorder.start()
        await _timed(recorder, _ECHO)
        return time.perf_counter() - started
    finally:
        await recorder.close()


def _bare_pty() -> _Figures:
    starts = []
    for _ in range(_NUM_STARTS):
        started = time.perf_counter()
        with _bare_shell() as shell:
            shell.run(_ECHO)
            starts.append(time.perf_counter() - started)
    with _bare_shell() as shell, tempfile.TemporaryDirectory() as folder:
        shell.run(f"cd {folder}")
        echoes = [shell.run(_ECHO) for _ in range(_NUM_ECHOES)]
        mixed = [shell.run(command.replace("/workspace", folder)) for command in _MIXED]
    return _Figures(statistics.median(echoes), sum(mixed), statistics.median(starts))


class _BareShell:
    """A Bash on a pty whose prompt is a mark nothing else prints."""

    def __init__(self, terminal: int, mark: bytes) -> None:
        self._terminal, self._mark = terminal, mark
        self._read_to_mark()

    def run(self, command: str) -> float:
        """Seconds until the prompt is back."""
        started = time.perf_counter()
        os.write(self._terminal, f"{command}\n".encode())
        self._read_to_mark()
        return time.perf_counter() - started

    def _read_to_mark(self) -> None:
        seen = b""
        while self._mark not in seen:
            seen = seen[-len(self._mark) :] + os.read(self._terminal, 65536)


@contextmanager
def _bare_shell() -> Iterator[_BareShell]:
    mark = f"<{secrets.token_hex(8)}>"
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TERM": "dumb", "PS1": mark}
    shell = subprocess.Popen(
        ["bash", "--norc"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    try:
        yield _BareShell(ours, mark.encode())
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


def _docker_exec() -> _Figures:
    """What a script does that calls the command line for each command, in the same image."""
    image = "worldtape/terminal:latest"
    starts = [_seconds(["docker", "run", "--rm", image, "bash", "-c", _ECHO]) for _ in range(_NUM_STARTS)]
    started = subprocess.run(
        ["docker", "run", "--rm", "--detach", "--init", "--workdir", "/tmp", image, "sleep", "600"],
        check=True,
        capture_output=True,
        text=True,
    )
    container = started.stdout.strip()
    try:
        execute = ["docker", "exec", container, "bash", "-c"]
        echoes = [_seconds([*execute, _ECHO]) for _ in range(_NUM_ECHOES // 5)]
        mixed = [_seconds([*execute, command]) for command in _MIXED]
    finally:
        subprocess.run(["docker", "kill", container], check=True, capture_output=True)
    return _Figures(statistics.median(echoes), sum(mixed), statistics.median(starts))


def _seconds(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started
