"""What Terminus says: keys for a terminal, as calls, as JSON in a message, or as markup in one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from trajectories.importers.json_text import DECODER
from trajectories.importers.loss import LossReport, whole
from trajectories.importers.values import Object, plain, seconds
from trajectories.importers.written_calls import said_around
from trajectories.model import JsonValue

TERMINAL_CALL: Final = "bash_command"
"""Its tool: keys for a terminal, and how long to wait."""
COMPLETE_CALL: Final = "mark_task_complete"
"""Its other one, which sends no keys."""
COMMAND: Final = whole("keystrokes", "duration")
"""What is used of a command."""
_MESSAGE: Final = whole("analysis", "plan", "task_complete", commands=COMMAND)
_COMMANDS: Final = re.compile(r"<commands>(.*?)</commands>", re.DOTALL)
_KEYSTROKES: Final = re.compile(r"<keystrokes\b([^>]*)>(.*?)</keystrokes>", re.DOTALL)
_DURATION: Final = re.compile(r"""duration=["'](\d+(?:\.\d+)?)["']""")


class Keys(NamedTuple):
    """What a message sends, as ``{"keystrokes", "duration"}`` each, and what it says beside it."""

    keys: list[Object]
    said: tuple[str, ...]


def written_keys(message: str, loss: LossReport) -> Keys | None:
    """The keys of a message; None where it has none."""
    said = _json_message(message)
    keys = all_keystrokes(said.get("commands"))
    if keys is not None:
        loss.drop_unknown("message", said, _MESSAGE)
        return Keys(keys, (plain(said.get("analysis")), plain(said.get("plan"))))
    commands = list(_COMMANDS.finditer(message))
    if len(commands) != 1:
        return None
    found = [_tagged_keystrokes(tag) for tag in _KEYSTROKES.finditer(commands[0][1])]
    return Keys(found, (said_around(commands, message),)) if found or not commands[0][1].strip() else None


def all_keystrokes(commands: JsonValue) -> list[Object] | None:
    """The keys of a list of commands; None where it is none."""
    if not isinstance(commands, list):
        return None
    keys = [_keystrokes(command) for command in commands if isinstance(command, Mapping)]
    found = [command for command in keys if command is not None]
    return found if len(found) == len(commands) else None


def _json_message(text: str) -> Object:
    """The JSON object in a message, which Terminus takes where it has these parts; else an empty one."""
    try:
        value, _ = DECODER.raw_decode(text, max(0, text.find("{")))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) and {"analysis", "plan", "commands"} <= value.keys() else {}


def _keystrokes(arguments: Object) -> Object | None:
    """``{"keystrokes", "duration"}``; None where the arguments have no keystrokes."""
    keys, duration = arguments.get("keystrokes"), arguments.get("duration", 1.0)
    if not isinstance(keys, str) or seconds(duration) is None:
        return None
    return {"keystrokes": keys, "duration": duration}


def _tagged_keystrokes(tag: re.Match[str]) -> Object:
    duration = _DURATION.search(tag[1])
    return {"keystrokes": tag[2], "duration": float(duration[1]) if duration else 1.0}
