"""``mcp-text@1``: a tool's answer as text, in the tool's own words, never re-wrapped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from trajectories.errors import InputError
from trajectories.model import JsonValue, canonical_json
from trajectories.recording import SessionRecording, marked_turn

RENDERER: Final = "mcp-text@1"


def replay_mcp(recording: SessionRecording) -> Iterator[tuple[int, str]]:
    """Each turn's text, made again from its ``o`` event; the header's ``text_cap`` says where it was cut.

    A turn in which the sandbox failed has no such event, and an empty text.
    """
    cap = recording.header.get("text_cap")
    if not isinstance(cap, int):
        raise InputError("the recording's header has no text_cap", mend="only an MCP recording can be replayed so")
    turn, text = 0, ""
    for event in recording:
        if event.kind == "o":
            text, _ = cut(render(json.loads(event.data)), cap)
        elif (next_turn := marked_turn(event)) is not None:
            yield turn, text
            turn, text = next_turn, ""
    yield turn, text


def cut(text: str, cap: int) -> tuple[str, int]:
    """``text`` cut between two characters to at most ``cap`` bytes of UTF-8, and its whole size in bytes."""
    encoded = text.encode(errors="replace")
    return encoded[:cap].decode(errors="ignore"), len(encoded)


def render(outcome: Mapping[str, JsonValue]) -> str:
    """Text of a ``tools/call`` result, or of ``{"error": {"code", "message", "data"?}}``.

    Parts of the content are joined by a newline. Text is taken as it is, other content is named with its type and
    size; what is not in the protocol's form is shown as JSON.
    """
    error, content = outcome.get("error"), outcome.get("content")
    if isinstance(error, Mapping):
        return _error(error)
    if isinstance(content, list) and (content or "structuredContent" not in outcome):
        return "\n".join(_part(part) for part in content)
    return canonical_json(outcome.get("structuredContent", outcome))


def is_failure(outcome: Mapping[str, JsonValue]) -> bool:
    """Whether the server says that the call has failed."""
    return "error" in outcome or outcome.get("isError") is True


def _error(error: Mapping[str, JsonValue]) -> str:
    line = f"MCP error {error.get('code')}: {error.get('message')}"
    data = error.get("data")
    if data is None:
        return line
    return f"{line}\n{data if isinstance(data, str) else canonical_json(data)}"


def _part(part: JsonValue) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data), "mimeType": str(media)}:
            return f"[{kind} {media}, {_decoded_size(data)} bytes]"
        case {"type": "resource_link", "uri": str(uri), **rest}:
            return f"[resource link {_described(uri, rest)}]"
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text), **rest}}:
            return f"[resource {_described(uri, rest)}]\n{text}"
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob), **rest}}:
            return f"[resource {_described(uri, rest)}, {_decoded_size(blob)} bytes]"
        case _:
            return canonical_json(part)


def _described(uri: str, rest: Mapping[object, object]) -> str:
    media = rest.get("mimeType")
    return f"{uri}, {media}" if media else uri


def _decoded_size(base64: str) -> int:
    return len(base64) * 3 // 4 - base64[-2:].count("=")
