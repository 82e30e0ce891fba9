"""Calls and answers as markup in the text of messages.

``<function=NAME>`` is what agents without tool calling write, ``<tool_call>`` and ``<tool_response>`` are Hermes' and
Qwen's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from trajectories.importers.json_text import parse
from trajectories.importers.values import arguments
from trajectories.model import JsonValue

_FUNCTION: Final = re.compile(r"(?:<tool_call>\s*)?<function=([^>\n]+)>(.*?)</function>(?:\s*</tool_call>)?", re.DOTALL)
"""Qwen writes such calls between its tags of calls."""
_PARAMETER: Final = re.compile(r"<parameter=([^>\n]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_TAGGED_CALL: Final = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_THOUGHT: Final = re.compile(r"\s*<think(?:ing)?>(.*?)</think(?:ing)?>\s*", re.DOTALL)
_TAGGED_ANSWER: Final = re.compile(r"<tool_response>\n?(.*?)\n?</tool_response>", re.DOTALL)


class WrittenCall(NamedTuple):
    """A call, and what was said around it. In the markup of functions arguments are strings: it has no other types."""

    name: str
    arguments: JsonValue
    said: str


def written_call(text: str) -> WrittenCall | None:
    """The one call that a message holds; None where it holds none, or several."""
    found = list(_FUNCTION.finditer(text))
    if len(found) != 1:
        return None
    (call,) = found
    arguments = {parameter[1]: parameter[2] for parameter in _PARAMETER.finditer(call[2])}
    return WrittenCall(call[1], arguments, said_around(found, text))


def tagged_calls(text: str) -> list[WrittenCall]:
    """The calls that a message holds as JSON between tags; none where one of them is not such JSON."""
    found = list(_TAGGED_CALL.finditer(text))
    said = said_around(found, text)
    calls = [named_call(call[1], said) for call in found]
    whole = [call for call in calls if call is not None]
    return whole if len(whole) == len(calls) else []


def named_call(text: JsonValue, said: str = "") -> WrittenCall | None:
    """A call as JSON: a name, and arguments or parameters; None for all else."""
    try:
        value = parse(text) if isinstance(text, str) else text
    except ValueError:
        return None
    name = value.get("name") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(name, str):
        return None
    return WrittenCall(name, arguments(value.get("arguments", value.get("parameters"))), said)


def said_around(calls: Sequence[re.Match[str]], text: str) -> str:
    """A text without the calls in it: their matches, in order."""
    begins, ends = [0, *(call.end() for call in calls)], [*(call.start() for call in calls), len(text)]
    return "\n".join(filter(None, (text[begin:end].strip() for begin, end in zip(begins, ends, strict=True))))


def tagged_answers(text: str) -> list[str]:
    """The answers that a message holds between tags; none where it holds anything else too."""
    return [] if _TAGGED_ANSWER.sub("", text).strip() else [found[1] for found in _TAGGED_ANSWER.finditer(text)]


class Said(NamedTuple):
    """A message, and what was thought before it."""

    text: str
    thought: str


def without_thought(text: str) -> Said:
    """A message without the thought between tags that it begins with."""
    found = _THOUGHT.match(text)
    return Said(text[found.end() :], found[1].strip()) if found else Said(text, "")
