"""The terminal sandbox: a persistent Bash in a hardened container; keystrokes go in, the visible screen comes out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sandboxes import shell
from sandboxes.base import SandboxFacts
from sandboxes.console import Console
from sandboxes.engines.base import BASE_ENVIRONMENT, Container, ContainerSpec, Engine, Limits
from sandboxes.keys import Entry, encode_keystrokes, parse_action
from sandboxes.preparation import prepare
from sandboxes.settling import send, settle
from sandboxes.tape import Tape, TapedTurn
from sandboxes.terminal_prompt import system_prompt
from trajectories import Action, ErrorKind, InputError, Observation
from trajectories.renderers.terminal_screen import RENDERER

SANDBOX = "terminal@1"

_KILLED_STATUS = 128 + 9


class Fault(NamedTuple):
    """What went wrong in a turn, and whose fault it is."""

    kind: ErrorKind
    error: str


class TerminalSandbox:
    """A shell that lives from the first turn to the last.

    An action is an array of keystrokes and durations (:mod:`sandboxes.keys`); :mod:`sandboxes.settling` says how long
    a turn takes. ``[]`` says that the task is complete, and only looks at the screen.

    The observation's text is the screen; its raw events are all that went in and out. ``exit_code`` is the status of
    the last command that ended in the turn, where the shell told it: None where none ended, or where the agent has
    replaced the shell's prompt. ``ended`` is true once the shell is gone: without an error where it was left, with
    ``ErrorKind.ENVIRONMENT`` where it was killed or the container died. An action that is malformed, or that could not
    be typed whole, is an observation with ``ErrorKind.AGENT``.

    Args:
        engine: where the container is had from.
        files: relative path → content, put into ``/workspace`` first.
        setup: shell commands run in ``/workspace`` before the shell starts, outside the recording.
        rows, columns: size of the screen.
        image: the sandbox image.
        limits: what the container may take.
        start_timeout_s: how long the shell may take to show its first prompt.
        step_timeout_s: how long a whole action may take. Then the turn is recorded as timed out with the screen as it
            is; the program goes on, and the next action may interrupt it.
        quiet_s: silence after which a program is taken to wait for the next keys.
        capture_bytes: output a turn that is kept as raw events; they spill to disk. Beyond it the turn is truncated:
            the screen and ``bytes_total`` stay right.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        files: Mapping[str, bytes] | None = None,
        setup: Sequence[str] = (),
        rows: int = 40,
        columns: int = 160,
        image: str = "terminal",
        limits: Limits | None = None,
        start_timeout_s: float = 30.0,
        step_timeout_s: float = 120.0,
        quiet_s: float = 0.2,
        capture_bytes: int = 256 * 2**20,
    ) -> None:
        if not (2 <= rows <= 1000 and 2 <= columns <= 1000):
            raise InputError(f"a screen has 2 to 1000 rows and columns, not {rows} × {columns}")
        self._engine = engine
        self._files = files or {}
        self._setup = setup
        self._spec = ContainerSpec(image=image, limits=limits or Limits())
        self._rows, self._columns = rows, columns
        self._start_timeout_s = start_timeout_s
        self._step_timeout_s = step_timeout_s
        self._quiet_s = quiet_s
        self._tape = Tape(rows=rows, columns=columns, capture_bytes=capture_bytes)
        self._turn: TapedTurn | None = None
        self._container: Container | None = None
        self._console: Console | None = None
        self._facts: SandboxFacts | None = None

    @property
    def facts(self) -> SandboxFacts:
        assert self._facts is not None, "the sandbox has not been started"
        return self._facts

    async def start(self) -> Observation:
        assert self._container is None, "a sandbox is started once"
        try:
            self._container = await self._engine.create(self._spec)
            await prepare(self._container, self._files, self._setup)
            self._console = await self._open_console(self._container)
            machine = await self._console.first_prompt(self._start_timeout_s)
            turn = self._cut()
            self._facts = self._describe(self._container, machine, turn.text)
        except BaseException:
            await self.close()
            raise
        return _observation(turn)

    async def step(self, action: Action) -> Observation:
        assert self._console is not None, "the sandbox has not been started"
        console = self._console
        try:
            entries = parse_action(action.payload)
        except InputError as refusal:
            return _observation(self._cut(), ended=console.ended, fault=Fault(ErrorKind.AGENT, str(refusal)))
        if entries and console.ended:
            death = await self._cause_of_death(await console.exit_code())
            fault = death or Fault(ErrorKind.AGENT, "the shell was left: nothing more can be typed")
            return _observation(self._cut(), ended=True, fault=fault)
        began = asyncio.get_running_loop().time()
        num_typed, timed_out = await self._type(console, entries)
        exit_code, fault_seen = await self._outcome(console)
        if fault_seen is None and num_typed < len(entries):
            fault_seen = Fault(ErrorKind.AGENT, f"only {num_typed} of {len(entries)} entries could be typed whole")
        return _observation(
            self._cut(),
            exit_code=exit_code,
            timed_out=timed_out,
            settle_s=max(0.0, console.last_output_at - began),
            ended=console.ended,
            fault=fault_seen,
        )

    async def alive(self) -> bool:
        assert self._container is not None, "the sandbox has not been started"
        assert self._console is not None
        return await self._container.alive() and not self._console.ended

    async def close(self) -> None:
        # The container first: what its programs do cannot hold that up.
        try:
            if self._container is not None:
                await self._container.close()
        finally:
            if self._console is not None:
                await self._console.close()
            if self._turn is not None:
                self._turn.events.close()
            self._tape.close()

    async def _open_console(self, container: Container) -> Console:
        nonce = shell.new_nonce()
        stream = await container.open_pty(
            shell.COMMAND,
            rows=self._rows,
            columns=self._columns,
            cwd=self._spec.workdir,
            env=shell.environment(nonce),
        )
        return Console(stream, self._tape, nonce)

    async def _type(self, console: Console, entries: Sequence[Entry]) -> tuple[int, bool]:
        """Perform the action; return how many entries were typed whole, and whether time ran out."""
        num_typed = 0
        try:
            async with asyncio.timeout(self._step_timeout_s):
                for entry in entries:
                    if console.ended:
                        break
                    keys = encode_keystrokes(entry.keystrokes, application_cursor=console.shell.application_cursor)
                    sent = await send(console, keys)
                    num_typed += 1
                    await settle(console, sent, duration_s=entry.duration_s, quiet_s=self._quiet_s)
        except TimeoutError:
            return num_typed, True
        return num_typed, False

    async def _outcome(self, console: Console) -> tuple[int | None, Fault | None]:
        """The exit code to report: the last command's, or the shell's own where it has ended; and why it has."""
        exit_code, console.shell.exit_code = console.shell.exit_code, None
        if not console.ended:
            return exit_code, None
        exit_code = await console.exit_code()
        return exit_code, await self._cause_of_death(exit_code)

    async def _cause_of_death(self, exit_code: int | None) -> Fault | None:
        """Why the shell ended, where it was not simply left."""
        assert self._container is not None
        if not await self._container.alive():
            return Fault(ErrorKind.ENVIRONMENT, "the container died")
        if exit_code is None or exit_code == _KILLED_STATUS:
            return Fault(ErrorKind.ENVIRONMENT, "the shell was killed or has lost its terminal")
        return None

    def _cut(self) -> TapedTurn:
        if self._turn is not None:
            self._turn.events.close()
        self._turn = self._tape.cut()
        return self._turn

    def _describe(self, container: Container, machine: Mapping[str, str], first_screen: str) -> SandboxFacts:
        return SandboxFacts(
            domain="terminal",
            sandbox=SANDBOX,
            engine=self._engine.name,
            image_digest=container.image_digest,
            prompt=system_prompt(machine, self._spec.limits, first_screen, rows=self._rows, columns=self._columns),
            versions={"bash": machine.get("bash", "unknown")},
            step_timeout_s=self._step_timeout_s,
            recording_header={
                "version": 2,
                "width": self._columns,
                "height": self._rows,
                "env": {"SHELL": "/bin/bash", "TERM": BASE_ENVIRONMENT["TERM"]},
                "renderer": RENDERER,
            },
        )


def _observation(
    turn: TapedTurn,
    *,
    exit_code: int | None = None,
    timed_out: bool = False,
    settle_s: float = 0.0,
    ended: bool = False,
    fault: Fault | None = None,
) -> Observation:
    return Observation(
        text=turn.text,
        renderer=RENDERER,
        raw=turn.events,
        exit_code=exit_code,
        timed_out=timed_out,
        truncated=turn.truncated,
        bytes_total=turn.bytes_total,
        error_kind=fault.kind if fault else None,
        error=fault.error if fault else None,
        state=turn.state,
        settle_s=settle_s,
        ended=ended,
    )
