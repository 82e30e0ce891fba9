"""Calls that are written into the text of a chat: each is answered, or counted as unanswered."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajectories.importers.conversation import Conversation
from trajectories.importers.values import Object
from trajectories.model import Turn

_FENCED = "```mswea_bash_command\nls {}\n```"
_FUNCTION = "<function=ls>\n<parameter=path>{}</parameter>\n</function>"
_CALLED: Object = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
}
_TASK: Object = {"role": "user", "content": "Do it."}


def _agent(text: str) -> Object:
    return {"role": "assistant", "content": text}


def _user(text: str) -> Object:
    return {"role": "user", "content": text}


def _tool(text: str, call_id: str = "") -> Object:
    return {"role": "tool", "content": text, "tool_call_id": call_id}


def _read(*messages: Object) -> tuple[list[tuple[str, str]], Conversation]:
    """Each action with its answer."""
    conversation = Conversation()
    return [_pair(turn) for turn in conversation.read(messages)], conversation


def _pair(turn: Turn) -> tuple[str, str]:
    return turn.action.text, turn.observation.text


def test_of_two_commands_in_a_row_the_one_that_nothing_answers_is_counted() -> None:
    pairs, conversation = _read(_TASK, *(_agent(_FENCED.format(name)) for name in "ab"), _user("out"))
    assert pairs == [("ls b", "out")]
    assert conversation.loss.skipped == {"action without an observation": 1}


@pytest.mark.parametrize("call", [_FENCED, _FUNCTION])
def test_a_written_call_is_answered_by_a_tool_as_by_the_user(call: str) -> None:
    calls = [_agent(call.format(name)) for name in "ab"]
    by_user, _ = _read(_TASK, calls[0], _user("one"), calls[1], _user("two"))
    by_tool, conversation = _read(_TASK, calls[0], _tool("one"), calls[1], _tool("two"))
    assert by_tool == by_user
    assert [answered for _, answered in by_tool] == ["one", "two"]
    assert not conversation.loss.skipped


def test_a_function_in_markup_is_answered_between_tags() -> None:
    response = "<tool_response>\nout\n</tool_response>"
    pairs, conversation = _read(_TASK, _agent(_FUNCTION.format("a")), _user(response), _user("Thanks."))
    assert [answered for _, answered in pairs] == ["out"]
    assert conversation.loss.skipped == {"user message after the first": 1}


def test_the_code_of_a_command_is_read_whoever_tells_it() -> None:
    for answered in (_user, _tool):
        (turn,) = Conversation().read([_TASK, _agent(_FENCED.format("a")), answered("<returncode>2</returncode>\nno")])
        assert turn.observation.exit_code == 2


def test_what_a_user_says_after_another_call_is_no_answer_to_an_earlier_command() -> None:
    pairs, conversation = _read(_TASK, _agent(_FENCED.format("a")), _CALLED, _tool("out", "c"), _user("Go on."))
    assert [answered for _, answered in pairs] == ["out"]
    assert conversation.loss.skipped == {"action without an observation": 1, "user message after the first": 1}


@given(
    st.lists(
        st.sampled_from(
            [
                _agent(_FENCED.format("a")),
                _agent(_FUNCTION.format("a")),
                _agent('<tool_call>{"name": "f", "arguments": {}}</tool_call>'),
                _CALLED,
                _agent("Hm."),
                _user("out"),
                _user("<tool_response>\nout\n</tool_response>"),
                _tool("out"),
                _tool("out", "c"),
            ]
        )
    )
)
def test_no_call_and_no_answer_vanishes_uncounted(messages: Sequence[Object]) -> None:
    pairs, conversation = _read(_TASK, *messages)
    skipped = conversation.loss.skipped
    num_calls = sum(message.get("role") == "assistant" and message.get("content") != "Hm." for message in messages)
    num_answers = sum(message.get("role") != "assistant" for message in messages)
    assert num_calls == len(pairs) + skipped["action without an observation"]
    unused = ("observation without its action", "user message after the first")
    assert num_answers == len(pairs) + sum(skipped[kind] for kind in unused)
