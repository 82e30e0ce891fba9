"""What an agent asks for: a tool call, checked for its form only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from mcp.types import INVALID_REQUEST

from trajectories import InputError, JsonValue


class CallRefusedError(InputError):
    """The call cannot be sent to any server; ``code`` and ``what`` are what an MCP client is told."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call in good form. Whether the arguments fit the tool's schema is for the server to say."""

    name: str
    arguments: Mapping[str, JsonValue]

    @classmethod
    def parse(cls, payload: JsonValue) -> ToolCall:
        """The call in ``{"name": str, "arguments": object}``. Raises ``CallRefusedError``."""
        if not isinstance(payload, Mapping):
            raise _malformed("an action is an object with a name and arguments")
        if unknown := payload.keys() - {"name", "arguments"}:
            raise _malformed(f"unknown key {min(unknown)!r} in the action")
        name, arguments = payload.get("name"), payload.get("arguments", {})
        if not isinstance(name, str) or not name:
            raise _malformed("the action's name must be a string that names a tool")
        if not isinstance(arguments, Mapping):
            raise _malformed("the action's arguments must be an object")
        try:
            json.dumps(arguments, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise _malformed(f"the action's arguments are not JSON: {error}") from error
        return cls(name, arguments)


def _malformed(reason: str) -> CallRefusedError:
    return CallRefusedError(INVALID_REQUEST, f"Invalid request: {reason}")
