"""What is a text, a list of parts, or anything else in a source is read the same way in every format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import answers, only, written
from trajectories.importers import Imported, LossReport
from trajectories.importers.values import joined_text
from trajectories.model import JsonValue

Rows = Callable[[Any], list[Any]]
NO_TEXT = "content that is no text"
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


def _answer(where: str, content: JsonValue, folder: Path) -> Imported:
    source_format, rows = FORMATS[where]
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
