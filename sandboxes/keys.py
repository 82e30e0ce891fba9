"""A terminal's action: what an agent types, and the bytes a keyboard would send for it.

An action is a JSON array of ``{"keystrokes": str, "duration": seconds}``. Keystrokes are raw text: nothing is entered
unless the text says so with a newline, which is sent as the carriage return of the Enter key. A text that is, as a
whole, the name of a key in tmux's notation (``C-c``, ``M-x``, ``Up``, ``F5``, ``S-Tab`` …) is that key; ESC and any
other control character may also be written as itself (U+001B). The empty text types nothing: it waits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trajectories import InputError, JsonValue

_PLAIN_KEYS: Final = {
    "Enter": "\r",
    "Escape": "\x1b",
    "Space": " ",
    "Tab": "\t",
    "BTab": "\x1b[Z",
    "S-Tab": "\x1b[Z",
    "BSpace": "\x7f",
    "C-Space": "\0",
}
_CURSOR_KEYS: Final = {"Up": "A", "Down": "B", "Right": "C", "Left": "D", "End": "F", "Home": "H"}
_FUNCTION_KEYS: Final = {"F1": "P", "F2": "Q", "F3": "R", "F4": "S"}
_EDITING_KEYS: Final = (
    {"IC": 2, "Insert": 2, "DC": 3, "Delete": 3}
    | {"PPage": 5, "PageUp": 5, "PgUp": 5, "NPage": 6, "PageDown": 6, "PgDn": 6}
    | {"F5": 15, "F6": 17, "F7": 18, "F8": 19, "F9": 20, "F10": 21, "F11": 23, "F12": 24}
)
_MODIFIER_BITS: Final = {"S": 1, "M": 2, "C": 4}
_KEY_NAME: Final = re.compile(r"((?:[CMS]-)*)(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """One element of a terminal action: text to type, then how long to watch the screen, in seconds."""

    keystrokes: str
    duration_s: float


def parse_action(payload: JsonValue) -> list[Entry]:
    """The entries of a terminal action; an empty list says that the task is complete.

    Raises :class:`~trajectories.InputError`, with one line that says which entry is wrong, where the payload is not an
    action.
    """
    if isinstance(payload, str) or not isinstance(payload, Sequence):
        raise InputError(
            f"a terminal action is an array, not {_kind(payload)}",
            mend='write [{"keystrokes": "ls\\n", "duration": 1}]',
        )
    return [_parse_entry(entry, f"entry {number}") for number, entry in enumerate(payload, 1)]


def _parse_entry(entry: JsonValue, where: str) -> Entry:
    if not isinstance(entry, Mapping):
        raise InputError(f"an entry is an object, not {_kind(entry)}", where=where)
    if set(entry) != {"keystrokes", "duration"}:
        names = ", ".join(map(repr, entry)) or "nothing"
        raise InputError(f"an entry holds 'keystrokes' and 'duration', not {names}", where=where)
    keystrokes, duration = entry["keystrokes"], entry["duration"]
    if not isinstance(keystrokes, str):
        raise InputError(f"'keystrokes' is a string, not {_kind(keystrokes)}", where=where)
    if any("\ud800" <= character <= "\udfff" for character in keystrokes):
        raise InputError("'keystrokes' holds half a surrogate pair", where=where)
    if isinstance(duration, bool) or not isinstance(duration, int | float):
        raise InputError(f"'duration' is a number of seconds, not {_kind(duration)}", where=where)
    if not (math.isfinite(duration) and duration >= 0):
        raise InputError("'duration' is a finite number of seconds, 0 or more", where=where)
    return Entry(keystrokes, float(duration))


def _kind(value: JsonValue) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", type(None): "null"}
    return names.get(type(value), "an object" if isinstance(value, Mapping) else "an array")


def encode_keystrokes(keystrokes: str, *, application_cursor: bool = False) -> bytes:
    """The bytes an xterm's keyboard sends for ``keystrokes``.

    ``application_cursor`` says that the program has asked for the other codes of the cursor keys (DECCKM), as
    full-screen programs do.
    """
    key = _named_key(keystrokes, application_cursor)
    text = key if key is not None else keystrokes.replace("\r\n", "\r").replace("\n", "\r")
    return text.encode()


def _named_key(name: str, application_cursor: bool) -> str | None:
    """The characters of the key called ``name``, or None where that is no key's name."""
    if name in _PLAIN_KEYS:
        return _PLAIN_KEYS[name]
    match = _KEY_NAME.fullmatch(name)
    if match is None:
        return None
    modifiers, base = set(match[1].replace("-", "")), match[2]
    if base in _CURSOR_KEYS or base in _FUNCTION_KEYS or base in _EDITING_KEYS:
        return _special_key(base, modifiers, application_cursor)
    return _modified_character(base, modifiers)


def _special_key(base: str, modifiers: set[str], application_cursor: bool) -> str:
    """A cursor, editing or function key as xterm encodes it: modifiers are a parameter, 1 + the sum of their bits."""
    parameter = 1 + sum(_MODIFIER_BITS[modifier] for modifier in modifiers)
    if base in _EDITING_KEYS:
        code = _EDITING_KEYS[base]
        return f"\x1b[{code}~" if not modifiers else f"\x1b[{code};{parameter}~"
    final = _CURSOR_KEYS.get(base) or _FUNCTION_KEYS[base]
    if modifiers:
        return f"\x1b[1;{parameter}{final}"
    return f"\x1bO{final}" if application_cursor or base in _FUNCTION_KEYS else f"\x1b[{final}"


def _modified_character(base: str, modifiers: set[str]) -> str | None:
    """Ctrl and Meta with one character: Ctrl keeps its low five bits (``C-?`` is DEL), Meta puts ESC before it."""
    if not modifiers or "S" in modifiers:
        return None
    character = _PLAIN_KEYS.get(base, base)
    if "C" in modifiers:
        if character == "?":
            character = "\x7f"
        elif len(character) == 1 and "@" <= character.upper() <= "_":
            character = chr(ord(character.upper()) & 0x1F)
        else:
            return None
    elif len(character) != 1:
        return None
    return f"\x1b{character}" if "M" in modifiers else character
