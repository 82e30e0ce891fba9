"""What an agent thinks, and what it tells its harness, is no part of an action: it is kept aside, in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trajectories.importers.import_support import actions, answers, only, written
from trajectories.importers import Imported

THOUGHT = "It must be the valve."
RISK = {"security_risk": "LOW"}
LOOK = {"at": "it"}
LOOKED = '{"name": "look", "arguments": {"at": "it"}}'
Json = Any


def _function(name: str, arguments: Json, call_id: str = "1") -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _chat(*messages: Json) -> list[Json]:
    return [{"messages": [{"role": "user", "content": "go"}, *messages]}]


def _said(text: str) -> Json:
    return {"role": "assistant", "content": text}


def _seen(text: str, call_id: str = "1") -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def _openhands(name: str, number: int, **action: Json) -> list[Json]:
    call = {"kind": "ActionEvent", "id": f"a{number}", "tool_name": name, "tool_call_id": f"c{number}"}
    answer = {"kind": "ObservationEvent", "action_id": f"a{number}", "observation": {"content": f"answer {number}"}}
    return [{**call, "action": action}, answer]


def _atif(*steps: Json) -> list[Json]:
    return [{"schema_version": "ATIF-v1.6", "agent": {"name": "tester"}, "steps": list(steps)}]


def _step(name: str, arguments: Json, text: str) -> Json:
    call = {"tool_call_id": "1", "function_name": name, "arguments": arguments}
    results = [{"source_call_id": "1", "content": text}]
    return {"source": "agent", "message": "", "tool_calls": [call], "observation": {"results": results}}


def _written_step(message: str, text: str) -> Json:
    return {"source": "agent", "message": message, "observation": {"results": [{"content": text}]}}


def _items(name: str, arguments: Json, call_id: str, text: str) -> list[Json]:
    return [
        {"type": "function_call", "call_id": call_id, "name": name, "arguments": json.dumps(arguments)},
        {"type": "function_call_output", "call_id": call_id, "output": text},
    ]


def _claude(name: str, arguments: Json, call_id: str, text: str) -> list[Json]:
    return [
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": call_id, "name": name, **arguments}]}},
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": call_id, "content": text}]},
        },
    ]


def _gemini(name: str, arguments: Json, text: str) -> Json:
    result = [{"functionResponse": {"response": {"output": text}}}]
    return {"type": "gemini", "content": "", "toolCalls": [{"name": name, "args": arguments, "result": result}]}


def _adp(name: str, arguments: Json, text: str) -> list[Json]:
    return [
        {"class_": "api_action", "function": name, "kwargs": arguments},
        {"class_": "text_observation", "content": text, "source": "environment"},
    ]


THINK = {"thought": THOUGHT}
THOUGHTFUL = {**LOOK, **THINK, **RISK}
TAGGED_THINK = f"<function=think>\n<parameter=thought>{THOUGHT}</parameter>\n</function>"
TAGGED_LOOK = "<function=look>\n<parameter=at>it</parameter>\n</function>"
HERMES_LOOK = f"<tool_call>{json.dumps({'name': 'look', 'arguments': LOOK})}</tool_call>"

THINKING_FIRST = {
    "messages": _chat(
        {"role": "assistant", "tool_calls": [_function("think", THINK)]},
        _seen("logged"),
        {"role": "assistant", "tool_calls": [_function("look", LOOK, "2")]},
        _seen("a valve", "2"),
        {"role": "assistant", "tool_calls": [_function("finish", {"message": "done"}, "3")]},
        _seen("ended", "3"),
    ),
    "sharegpt": [
        {
            "conversations": [
                {"from": "human", "value": "go"},
                {"from": "function_call", "value": json.dumps({"name": "think", "arguments": THINK})},
                {"from": "observation", "value": "logged"},
                {"from": "function_call", "value": json.dumps({"name": "look", "arguments": LOOK})},
                {"from": "observation", "value": "a valve"},
            ]
        }
    ],
    "swe-agent": [
        {
            "history": [
                {"role": "user", "content": "go"},
                _said(TAGGED_THINK),
                {"role": "user", "content": "logged"},
                _said(TAGGED_LOOK),
                {"role": "user", "content": "a valve"},
            ]
        }
    ],
    "responses": [{"output": [*_items("think", THINK, "1", "logged"), *_items("look", LOOK, "2", "a valve")]}],
    "codex": [
        {"type": "response_item", "payload": item}
        for item in (*_items("think", THINK, "1", "logged"), *_items("look", LOOK, "2", "a valve"))
    ],
    "claude-code": [
        *_claude("think", {"input": THINK}, "1", "logged"),
        *_claude("look", {"input": LOOK}, "2", "a valve"),
    ],
    "gemini-cli": [{"messages": [_gemini("think", THINK, "logged"), _gemini("look", LOOK, "a valve")]}],
    "adp": [{"content": [*_adp("think", THINK, "logged"), *_adp("look", LOOK, "a valve")]}],
    "openhands": [*_openhands("think", 1, **THINK), *_openhands("look", 2, **LOOK)],
    "openhands-v0": [
        {
            "history": [
                {"id": 1, "source": "agent", "action": "think", "args": THINK},
                {"id": 2, "cause": 1, "observation": "think", "content": "logged"},
                {"id": 3, "source": "agent", "action": "look", "args": LOOK},
                {"id": 4, "cause": 3, "observation": "look", "content": "a valve"},
            ]
        }
    ],
    "atif": _atif(_step("think", THINK, "logged"), _step("look", LOOK, "a valve")),
}
"""Format → an agent that calls ``think``, and then ``look``."""

THOUGHT_AS_ARGUMENT = {
    "messages": _chat({"role": "assistant", "tool_calls": [_function("look", THOUGHTFUL)]}, _seen("a valve")),
    "responses": [{"output": _items("look", THOUGHTFUL, "1", "a valve")}],
    "codex": [{"type": "response_item", "payload": item} for item in _items("look", THOUGHTFUL, "1", "a valve")],
    "claude-code": _claude("look", {"input": THOUGHTFUL}, "1", "a valve"),
    "gemini-cli": [{"messages": [_gemini("look", THOUGHTFUL, "a valve")]}],
    "adp": [{"content": _adp("look", THOUGHTFUL, "a valve")}],
    "openhands": _openhands("look", 1, **THOUGHTFUL),
    "atif": _atif(_step("look", THOUGHTFUL, "a valve")),
}
"""Format → a call whose arguments hold the agent's thought, and what the harness asks for beside it."""


def _read(source_format: str, folder: Path, rows: list[Json]) -> Imported:
    name = "a.traj" if source_format == "swe-agent" else "a.jsonl"
    return only(source_format, written(folder, name, *rows))


@pytest.mark.parametrize("source_format", THINKING_FIRST)
def test_a_call_that_only_thinks_is_no_turn_but_a_reason_of_the_next(tmp_path: Path, source_format: str) -> None:
    trajectory = _read(source_format, tmp_path, THINKING_FIRST[source_format])
    assert (actions(trajectory), len(trajectory.turns)) == ([LOOKED], 1)
    assert trajectory.turns[0].action.reasoning == THOUGHT
    assert "logged" not in answers(trajectory)
    assert sum(trajectory.loss.skipped.values()) >= 2


@pytest.mark.parametrize("source_format", THOUGHT_AS_ARGUMENT)
def test_arguments_for_the_harness_are_no_part_of_the_action(tmp_path: Path, source_format: str) -> None:
    trajectory = _read(source_format, tmp_path, THOUGHT_AS_ARGUMENT[source_format])
    assert actions(trajectory) == [LOOKED]
    assert trajectory.turns[0].action.reasoning == THOUGHT
    assert trajectory.loss.no_place["argument security_risk of the harness"] == 1
    assert trajectory.loss.inferred["argument that is a thought taken as reasoning"] == 1


def test_a_tool_whose_business_is_thoughts_keeps_them(tmp_path: Path) -> None:
    rows = _chat({"role": "assistant", "tool_calls": [_function("sequentialthinking", THINK)]}, _seen("noted"))
    assert THOUGHT in actions(_read("messages", tmp_path, rows))[0]


@pytest.mark.parametrize("call", [TAGGED_LOOK, HERMES_LOOK, f"<tool_call>\n{TAGGED_LOOK}\n</tool_call>"])
def test_what_is_said_around_a_written_call_is_its_reason(tmp_path: Path, call: str) -> None:
    rows = _chat({**_said(f"Before.\n{call}\nAfter."), "reasoning_content": THOUGHT}, {"role": "user", "content": "x"})
    if call == HERMES_LOOK:
        rows[0]["messages"][-1]["content"] = "<tool_response>x</tool_response>"
    trajectory = _read("messages", tmp_path, rows)
    assert actions(trajectory) == [LOOKED]
    assert trajectory.turns[0].action.reasoning == f"{THOUGHT}\nBefore.\nAfter."


def test_thoughts_are_kept_in_whatever_fields_they_stand_and_each_once(tmp_path: Path) -> None:
    content = [{"type": "thinking", "thinking": "A second one."}, {"type": "text", "text": "So:"}]
    message = {"role": "assistant", "reasoning_content": THOUGHT, "reasoning": THOUGHT, "content": content}
    rows = _chat({**message, "tool_calls": [_function("look", LOOK)]}, _seen("a valve"))
    trajectory = _read("messages", tmp_path, rows)
    assert trajectory.turns[0].action.reasoning == f"{THOUGHT}\nA second one.\nSo:"


def test_openhands_blocks_of_thought_are_kept_and_the_hidden_ones_counted(tmp_path: Path) -> None:
    call, answer = _openhands("look", 1, **LOOK)
    blocks = [{"type": "thinking", "thinking": THOUGHT}, {"type": "redacted_thinking", "data": "…"}]
    rows = [{**call, "thinking_blocks": blocks, "thought": [{"type": "text", "text": "So:"}]}, answer]
    trajectory = _read("openhands", tmp_path, rows)
    assert trajectory.turns[0].action.reasoning == f"{THOUGHT}\nSo:"
    assert trajectory.loss.no_place["thinking that is hidden"] == 1


def test_the_content_of_reasoning_items_is_kept_beside_their_summary(tmp_path: Path) -> None:
    reasoning = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "The valve."}],
        "content": [{"type": "reasoning_text", "text": THOUGHT}],
    }
    trajectory = _read("responses", tmp_path, [{"output": [reasoning, *_items("look", LOOK, "1", "a valve")]}])
    assert trajectory.turns[0].action.reasoning == f"The valve.\n{THOUGHT}"


@pytest.mark.parametrize(
    ("message", "action"),
    [
        (f"{THOUGHT}\n```bash\nls\n```", "ls"),
        (f"<think>{THOUGHT}</think>\npress it", "press it"),
        (
            f"<analysis>{THOUGHT}</analysis><commands><keystrokes duration='0.5'>ls\n</keystrokes></commands>",
            '[{"keystrokes": "ls\\n", "duration": 0.5}]',
        ),
    ],
)
def test_a_message_that_is_an_action_has_its_thoughts_aside(tmp_path: Path, message: str, action: str) -> None:
    trajectory = _read("atif", tmp_path, _atif(_written_step(message, "seen")))
    assert actions(trajectory) == [action]
    assert THOUGHT in str(trajectory.turns[0].action.reasoning)
