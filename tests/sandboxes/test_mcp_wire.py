"""The wire to a tool server: lines of any size and content become messages, or are refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import JSONRPCResponse

from sandboxes.mcp.wire import LineSplitter, parse_message


def response(result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


@given(st.lists(st.binary(max_size=40)), st.integers(1, 20))
def test_lines_are_the_same_however_the_stream_is_cut(chunks: list[bytes], cap: int) -> None:
    splitter = LineSplitter(cap)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    whole = b"".join(chunks).split(b"\n")[:-1]
    assert [(line.data, line.size) for line in lines] == [(line[:cap], len(line)) for line in whole]


def test_a_message_is_what_it_was_on_the_wire() -> None:
    result = {"content": [{"type": "text", "text": "ü\n漢"}], "unknownField": [None, 1.5]}
    message = parse_message(response(result))
    assert isinstance(message, JSONRPCResponse)
    assert message.result == result


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        (rb'"\ud800"', "\ufffd"),
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (b'"\xff"', "\ufffd"),
    ],
)
def test_text_that_cannot_be_stored_is_replaced(sent: bytes, taken: str) -> None:
    message = parse_message(b'{"jsonrpc": "2.0", "id": 1, "result": {"text": ' + sent + b"}}")
    assert isinstance(message, JSONRPCResponse)
    assert message.result == {"text": taken}


@pytest.mark.parametrize(
    "line",
    [b"Server started.", b"{}", b"[1]", b'{"jsonrpc": "1.0", "id": 1, "result": {}}', b"[" * 100_000, b"\x00\xff"],
)
def test_a_line_that_is_no_message_is_none(line: bytes) -> None:
    assert parse_message(line) is None
