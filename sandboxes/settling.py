"""When a turn at a terminal is over: after these keys, nothing more is to come that the agent's wait would have seen.

The observation is meant to be the screen as it is ``duration`` seconds after the keys. The wait ends before that only
where waiting on would most likely show the same:

- A line typed at the shell's prompt is over when the shell has shown as many prompts as the keys can bring. Where the
  command runs longer than ``duration``, the observation is an early capture: it shows what there is, and a later wait
  (empty keystrokes) shows the rest. That is how terminals are, and neither an error nor a time-out.
- Keys for a program, for a full-screen display, or for the line being edited are over when the screen has been silent
  for ``quiet_s``, since nothing else tells. Who has not answered at all is given three times as long.
- A wait is over when the command it waits for has ended, else after its full ``duration``.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from sandboxes.console import Console

_PATIENCE_FOR_A_FIRST_ANSWER = 3


@dataclass(frozen=True, slots=True)
class Sent:
    """Keys that were sent (none: a wait), and how the terminal was just before."""

    keys: bytes
    at: float
    """Event loop time."""
    num_prompts: int
    into_program: bool


async def send(console: Console, keys: bytes) -> Sent:
    """Type ``keys``; returns when the terminal has taken them all."""
    sent = Sent(keys, asyncio.get_running_loop().time(), console.shell.num_prompts, console.shell.running)
    if keys:
        await console.send(keys)
    return sent


async def settle(console: Console, sent: Sent, *, duration_s: float, quiet_s: float) -> None:
    """Wait until the turn is over, at most ``duration_s`` seconds."""
    clock = asyncio.get_running_loop().time
    until = clock() + duration_s
    while (over := _over_at(console, sent, quiet_s)) > (now := clock()) and now < until:
        await console.change(min(over, until) - now)
    if over <= now and _back_at_prompt(console, sent):
        console.shell.owed_prompts = 0


def _back_at_prompt(console: Console, sent: Sent) -> bool:
    return console.shell.num_prompts > sent.num_prompts and not console.shell.running


def _over_at(console: Console, sent: Sent, quiet_s: float) -> float:
    """The event loop time at which the turn is over if nothing more comes: infinite where something must come."""
    shell = console.shell
    if console.ended:
        return -math.inf
    if _back_at_prompt(console, sent):
        return -math.inf if shell.owed_prompts == 0 else console.last_output_at + quiet_s
    line_typed_at_prompt = shell.owed_prompts > 0 and not (sent.into_program or shell.alternate_screen)
    if not sent.keys or line_typed_at_prompt:
        return math.inf
    if console.last_output_at > sent.at:
        return console.last_output_at + quiet_s
    return sent.at + _PATIENCE_FOR_A_FIRST_ANSWER * quiet_s
