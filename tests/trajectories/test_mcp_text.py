"""The text of a tool's answer."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajectories import JsonValue, RawEvent, SessionRecording, canonical_json
from trajectories.recording import event_line
from trajectories.renderers.mcp_text import cut, render, replay_mcp

PIXELS = base64.b64encode(b"12345").decode()


def text_part(text: str) -> dict[str, JsonValue]:
    return {"type": "text", "text": text}


@given(st.text())
def test_a_tools_own_text_is_not_changed(text: str) -> None:
    assert render({"content": [text_part(text)]}) == text


def test_parts_are_joined_by_a_newline() -> None:
    assert render({"content": [text_part("a\n"), text_part("b")]}) == "a\n\nb"


def test_text_wins_over_the_same_as_structured_content() -> None:
    assert render({"content": [text_part("[1]")], "structuredContent": {"result": [1]}}) == "[1]"


def test_structured_content_alone_is_shown_as_json() -> None:
    assert render({"content": [], "structuredContent": {"é": [1, None]}}) == '{"é": [1, null]}'


def test_an_empty_answer_is_empty() -> None:
    assert render({"content": []}) == ""


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "image", "data": PIXELS, "mimeType": "image/png"}, "[image image/png, 5 bytes]"),
        ({"type": "audio", "data": PIXELS, "mimeType": "audio/wav"}, "[audio audio/wav, 5 bytes]"),
        ({"type": "resource_link", "uri": "file:///a.txt", "name": "a"}, "[resource link file:///a.txt]"),
        (
            {"type": "resource_link", "uri": "file:///a.txt", "name": "a", "mimeType": "text/plain"},
            "[resource link file:///a.txt, text/plain]",
        ),
        ({"type": "resource", "resource": {"uri": "x:/t", "text": "hi"}}, "[resource x:/t]\nhi"),
        (
            {"type": "resource", "resource": {"uri": "x:/b", "blob": PIXELS, "mimeType": "a/b"}},
            "[resource x:/b, a/b, 5 bytes]",
        ),
        ({"type": "hologram", "depth": 3}, '{"type": "hologram", "depth": 3}'),
        (7, "7"),
    ],
)
def test_content_that_is_not_text_is_named_by_its_type(part: JsonValue, text: str) -> None:
    assert render({"content": [part]}) == text


def test_a_protocol_error_reads_as_a_client_shows_it() -> None:
    assert render({"error": {"code": -32602, "message": "No such tool"}}) == "MCP error -32602: No such tool"
    assert render({"error": {"code": 1, "message": "m", "data": {"k": 1}}}) == 'MCP error 1: m\n{"k": 1}'


@given(
    st.dictionaries(
        st.sampled_from(["content", "error", "structuredContent", "isError", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(), lambda c: st.lists(c) | st.dictionaries(st.text(), c)
        ),
    )
)
def test_any_json_object_has_a_text(outcome: dict[str, JsonValue]) -> None:
    assert isinstance(render(outcome), str)


@given(st.text(), st.integers(0, 20))
def test_a_cut_falls_between_two_characters_and_tells_the_whole_size(text: str, cap: int) -> None:
    kept, num_bytes = cut(text, cap)
    assert text.startswith(kept)
    assert num_bytes == len(text.encode())
    assert cap - 4 < len(kept.encode()) <= cap or kept == text


def test_every_turn_is_replayed_from_its_answer() -> None:
    def event(kind: str, data: str) -> RawEvent:
        return RawEvent(0.0, kind, data)

    answers = [
        canonical_json({"content": [text_part(text)]}) for text in ("at the start", "first", "third, which is long")
    ]
    events = [
        event("o", answers[0]),
        event("m", "turn 1"),
        event("i", "{}"),
        event("o", answers[1]),
        event("m", "turn 2"),
        event("m", "turn 3"),
        event("o", answers[2]),
    ]
    tape = SessionRecording(lambda: iter([b'{"text_cap": 12}\n', *map(event_line, events)]))
    assert list(replay_mcp(tape)) == [
        (0, "at the start"),
        (1, "first"),
        (2, ""),
        (3, "third, which"),
    ]
