"""Calls that an agent without tool calling writes into its messages as ``<function=NAME>`` markup."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from trajectories.importers.values import Object

_FUNCTION: Final = re.compile(r"<function=([^>\n]+)>(.*?)</function>", re.DOTALL)
_PARAMETER: Final = re.compile(r"<parameter=([^>\n]+)>\n?(.*?)\n?</parameter>", re.DOTALL)


class WrittenCall(NamedTuple):
    """A call, and what was said before it. Arguments are strings: the markup has no other types."""

    name: str
    arguments: Object
    said: str


def written_call(text: str) -> WrittenCall | None:
    """The one call that a message holds; None where it holds none, or several."""
    found = list(_FUNCTION.finditer(text))
    if len(found) != 1:
        return None
    (call,) = found
    arguments = {parameter[1]: parameter[2] for parameter in _PARAMETER.finditer(call[2])}
    return WrittenCall(call[1], arguments, text[: call.start()].strip())
