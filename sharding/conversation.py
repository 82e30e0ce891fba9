"""A trajectory as a conversation: context c is the system's message, actions are the user's, observations the
assistant's.

What was visible before the first action is the context's initial state and so part of the system's message; turn 1 does
not say it a second time as its current state.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from sharding.masks import Mask

Role = Literal["system", "user", "assistant"]

OBSERVATION_MARKER = "**Environment Observation:**\n"
"""What every assistant message begins with; the observation's text follows to its end."""

_SYSTEM_HEADINGS = {
    "task_description": "# What you simulate",
    "action_space": "# Actions",
    "initial_state": "# Initial state",
    "demonstrations": "# Demonstrations",
    "simulation_instruction": "# How to answer",
}
_CODE_OF_DOMAIN = {"os": "python"}


class Message(NamedTuple):
    """One message. An assistant's has a ``mask``, which says what of the observation in it is in the loss."""

    role: Role
    content: str
    mask: Mask | None = None


class TurnText(NamedTuple):
    """What a turn says: the action's canonical text and the observation's, and what of the latter is in the loss."""

    action: str
    observation: str
    mask: Mask


class ContextText(NamedTuple):
    """What a trajectory says before its first turn; empty parts are left out of the layout."""

    domain: str
    instruction: str = ""
    task_description: str = ""
    action_space: str = ""
    initial_state: str = ""
    demonstrations: str = ""
    simulation_instruction: str = ""


def conversation(context: ContextText, turns: Iterable[TurnText]) -> list[Message]:
    """Lay a trajectory out: a system message (empty if all its parts are), then a user's and an assistant's a turn."""
    messages = [Message("system", _system(context))]
    for number, turn in enumerate(turns, start=1):
        messages.append(Message("user", _request(context, number, turn.action)))
        messages.append(Message("assistant", OBSERVATION_MARKER + turn.observation, turn.mask))
    return messages


def longest_text(context: ContextText, turns: Iterable[TurnText]) -> int:
    """The characters of the longest action, of the longest observation, or of all that is said before the turns."""
    of_turns = (len(text) for turn in turns for text in (turn.action, turn.observation))
    return max(sum(map(len, context[1:])), max(of_turns, default=0))


def _system(context: ContextText) -> str:
    parts = ((heading, getattr(context, name)) for name, heading in _SYSTEM_HEADINGS.items())
    return "\n\n".join(f"{heading}\n\n{text}" for heading, text in parts if text)


def _request(context: ContextText, number: int, action: str) -> str:
    sections = [f"### Turn {number}"]
    if number == 1 and context.instruction:
        sections.append(f"**Task Instruction:**\n{context.instruction}")
    sections.append(f"**Action:**\n{_fenced(action, _language(context.domain, action))}")
    return "\n\n".join(sections)


def _language(domain: str, action: str) -> str:
    """What the fence says: ``json`` for tool calls and keystrokes, ``xml``, the domain's own code, or ``text``."""
    stripped = action.strip()
    if stripped[:1] in {"{", "["} and _is_json(stripped):
        return "json"
    if stripped.startswith("<") and stripped.endswith(">"):
        return "xml"
    return _CODE_OF_DOMAIN.get(domain, "text")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _fenced(text: str, language: str) -> str:
    """A fenced block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
