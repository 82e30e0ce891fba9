"""What is a text, a list of parts, or anything else in a source is read the same way in every format."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import answers, only, written
from trajectories.importers import Imported, LossReport
from trajectories.importers.contents import joined_text
from trajectories.importers.images import without_images
from trajectories.model import JsonValue

Rows = Callable[[Any], list[Any]]
NO_TEXT = "content that is no text"
NOTHING_LEFT = "answer of which no text is left"
AS_JSON = "content that is no text shown as JSON"
CALL = {"id": "c", "function": {"name": "f", "arguments": "{}"}}


def _anthropic(content: JsonValue) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": content}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def _atif(content: JsonValue) -> Any:
    call = {"tool_call_id": "c", "function_name": "f", "arguments": {}}
    observation = {"results": [{"source_call_id": "c", "content": content}]}
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": [call], "observation": observation}
    return {**samples.ATIF, "steps": [step]}


def _openhands(content: JsonValue) -> list[dict[str, Any]]:
    called = {"tool_name": "f", "tool_call_id": "c"}
    action = {"kind": "ActionEvent", "id": "1", **called, "action": {}}
    observed = {"kind": "ObservationEvent", "id": "2", "action_id": "1", **called, "observation": {"content": content}}
    return [action, observed]


def _responses(content: JsonValue) -> list[dict[str, Any]]:
    call: JsonValue = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    return [{"output": [call, {"type": "function_call_output", "call_id": "c", "output": content}]}]


def _gemini(content: JsonValue) -> list[dict[str, Any]]:
    given: JsonValue = {"functionResponse": {"name": "f", "response": {"output": content}}}
    parts: JsonValue = content if isinstance(content, list) and content else [given]
    call: dict[str, JsonValue] = {"id": "c", "name": "f", "args": {}, "result": parts}
    return [{"sessionId": "s", "messages": [{"type": "gemini", "content": "", "toolCalls": [call]}]}]


def _openhands_v0(content: JsonValue) -> list[dict[str, Any]]:
    action = {"id": 1, "source": "agent", "action": "run", "args": {"command": "a"}}
    return [{"history": [action, {"id": 2, "observation": "run", "content": content, "cause": 1}]}]


def _adp(content: JsonValue) -> list[dict[str, Any]]:
    action = {"class_": "api_action", "function": "f", "kwargs": {}}
    seen: JsonValue = {"class_": "image_observation", "content": "a.png"}
    if not isinstance(content, list):
        seen = {"class_": "text_observation", "content": content, "source": "environment"}
    return [{"id": "a", "content": [action, seen]}]


FORMATS: Mapping[str, tuple[str, Rows]] = {
    "chat": (
        "messages",
        lambda content: [
            {
                "messages": [
                    {"role": "assistant", "tool_calls": [CALL]},
                    {"role": "tool", "tool_call_id": "c", "content": content},
                ]
            }
        ],
    ),
    "Anthropic's chat": ("messages", lambda content: [{"messages": _anthropic(content)}]),
    "Claude Code": (
        "claude-code",
        lambda content: [{"type": message["role"], "message": message} for message in _anthropic(content)],
    ),
    "ATIF": ("atif", lambda content: [_atif(content)]),
    "OpenHands": ("openhands", _openhands),
}
"""Where an answer has a content → its format, and the rows that have it."""


EVERY: Mapping[str, tuple[str, Rows]] = {
    **FORMATS,
    "Responses API": ("responses", _responses),
    "Gemini CLI": ("gemini-cli", _gemini),
    "OpenHands V0": ("openhands-v0", _openhands_v0),
    "ADP": ("adp", _adp),
}
OF_PARTS = sorted(EVERY.keys() - {"OpenHands V0"})
"""Formats in which an answer may be more than one text."""
PNG = "iVBORw0KGgo" + 40 * "AAAA" + "="
URL = f"data:image/png;base64,{PNG}"


def _answer(where: str, content: JsonValue, folder: Path) -> Imported:
    source_format, rows = EVERY[where]
    return only(source_format, written(folder, "a.jsonl", *rows(content)))


@pytest.mark.parametrize("where", FORMATS)
def test_the_texts_of_an_answer_are_joined_and_its_other_parts_counted(where: str, tmp_path: Path) -> None:
    found = _answer(where, ["a", {"type": "text", "text": "b"}, {"type": "image"}, 5, {"text": None}], tmp_path)
    assert answers(found) == ["a\nb"]
    assert found.loss.no_place[NO_TEXT] == 3


@pytest.mark.parametrize("where", FORMATS)
def test_an_answer_that_is_no_content_is_shown_as_json(where: str, tmp_path: Path) -> None:
    found = _answer(where, {"hits": [1, 2]}, tmp_path)
    assert answers(found) == ['{"hits": [1, 2]}']
    assert found.loss.inferred[AS_JSON] == 1


def _told(found: Imported) -> tuple[str, bool, int]:
    """The text of the one answer, whether it is marked as cut, and how often that is for want of text."""
    (turn,) = found.turns
    return turn.observation.text, turn.observation.truncated, found.loss.no_place[NOTHING_LEFT]


@pytest.mark.parametrize("where", OF_PARTS)
def test_an_answer_that_is_an_image_alone_is_cut_and_no_silence(where: str, tmp_path: Path) -> None:
    found = _answer(where, [{"type": "image", "source": {"type": "base64", "data": PNG}}], tmp_path)
    assert _told(found) == ("", True, 1)


@pytest.mark.parametrize("where", EVERY)
def test_an_answer_that_is_null_is_cut_and_no_silence(where: str, tmp_path: Path) -> None:
    assert _told(_answer(where, None, tmp_path)) == ("", True, 1)


@pytest.mark.parametrize("where", EVERY)
def test_an_answer_that_is_an_empty_text_is_silence(where: str, tmp_path: Path) -> None:
    assert _told(_answer(where, "", tmp_path)) == ("", False, 0)


@pytest.mark.parametrize("where", sorted(FORMATS.keys() | {"Responses API"}))
def test_an_answer_of_no_parts_is_silence_but_for_images(where: str, tmp_path: Path) -> None:
    parts: list[JsonValue] = [{"type": "input_text" if where == "Responses API" else "text", "text": "a"}]
    image: JsonValue = {"type": "input_image", "image_url": URL}
    assert _told(_answer(where, [], tmp_path))[1:] == (False, 0)
    assert _told(_answer(where, [*parts, image], tmp_path)) == ("a", False, 0)


def test_a_result_of_anthropics_api_without_a_content_is_silence(tmp_path: Path) -> None:
    rows = _anthropic("")
    del rows[1]["content"][0]["content"]
    assert _told(only("messages", written(tmp_path, "a.jsonl", {"messages": rows}))) == ("", False, 0)


@pytest.mark.parametrize("where", EVERY)
@pytest.mark.parametrize("image", [URL, PNG, f"![image]({URL})"])
def test_an_image_written_as_text_is_none(where: str, image: str, tmp_path: Path) -> None:
    found = _answer(where, image, tmp_path)
    assert _told(found) == ("", True, 1)
    assert found.loss.no_place[NO_TEXT] == 1


@pytest.mark.parametrize("where", EVERY)
@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"a\n![image]({URL})\nb", "a\nb"),
        (f'<img src="{URL}">\n', f'<img src="{URL}">\n'),
        ("/9j/ is how a JPEG begins", "/9j/ is how a JPEG begins"),
        ("data:text/plain;base64,AAAA", "data:text/plain;base64,AAAA"),
    ],
)
def test_only_whole_lines_of_a_text_are_images(where: str, text: str, left: str, tmp_path: Path) -> None:
    assert _told(_answer(where, text, tmp_path)) == (left, False, 0)


@pytest.mark.parametrize(
    ("value", "left", "num_images"),
    [
        ({"a": 1, "shot": URL}, {"a": 1}, 1),
        ({"content": [{"type": "image", "data": PNG}]}, {}, 1),
        ([{"type": "image", "name": "logo"}, ""], [{"type": "image", "name": "logo"}, ""], 0),
        ({"a": None, "b": []}, {"a": None, "b": []}, 0),
    ],
)
def test_images_are_taken_out_of_json(value: JsonValue, left: JsonValue, num_images: int) -> None:
    assert without_images(value) == (left, num_images)


def test_a_value_that_is_nested_very_deep_stays_as_it_is() -> None:
    value: JsonValue = URL
    for _ in range(sys.getrecursionlimit()):
        value = [value]
    left, num_images = without_images(value)
    assert left is value
    assert num_images == 0


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["text", "type", "x"]), inner),
    max_leaves=8,
)


@given(_VALUES)
def test_a_content_is_taken_whole_or_its_parts_are_counted(content: JsonValue) -> None:
    loss = LossReport()
    text = joined_text(content, loss)
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        told = [each for each in texts if isinstance(each, str)]
        assert text == "\n".join(told)
        assert loss.no_place[NO_TEXT] == len(content) - len(told)
    else:
        assert loss.inferred[AS_JSON] == (not isinstance(content, str | None))
