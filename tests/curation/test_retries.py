"""Cycles of retries: what of them is masked, and what is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation import Filters
from tests.curation.filter_support import AGENT, BAD, NEW, RETRY, TOOL, reasons, told_of
from tests.curation.recordings import a_header, cut_row_groups, record_turns, turn
from trajectories import Dataset, ErrorKind, compact
from trajectories.importers import import_trajectories


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return Dataset(tmp_path / "recorded")


@pytest.mark.parametrize(
    ("turns", "masked"),
    [
        ([(BAD, AGENT), (RETRY, None)], [True, False]),
        ([(BAD, AGENT), (BAD, AGENT), (RETRY, None), (RETRY, None)], [True, True, False, False]),
        ([(BAD, AGENT), (BAD, AGENT), ("ls", None)], [True, True, False]),
        ([(BAD, AGENT), ("ls", None), (RETRY, None)], [False, False, False]),
        ([("ls", None), (BAD, AGENT)], [False, False]),
        ([("!!", AGENT), ("!!", AGENT)], [True, True]),
        ([(BAD, TOOL), (RETRY, None)], [False, False]),
        ([(BAD, TOOL), (BAD, AGENT)], [False, False]),
    ],
)
@pytest.mark.parametrize("rows_a_group", [1, 2, 100])
def test_a_cycle_of_retries_is_masked_up_to_the_action_that_is_carried_out(
    dataset: Dataset, turns: list[tuple[str, ErrorKind | None]], masked: list[bool], rows_a_group: int
) -> None:
    record_turns(dataset, a_header("t"), [turn(action, NEW, error_kind=kind) for action, kind in turns])
    record_turns(dataset, a_header("u"), [turn(BAD, NEW), turn(BAD, NEW)])
    compact(dataset, "r1")
    cut_row_groups(dataset, rows_a_group)
    told = reasons(dataset)
    assert told["t"] == ["retry" if is_masked else "kept" for is_masked in masked]
    assert told["u"] == ["kept", "kept"]


def test_a_retry_does_not_reach_into_another_trajectory(dataset: Dataset) -> None:
    record_turns(dataset, a_header("a"), [turn("ls", NEW), turn(BAD, NEW, error_kind=AGENT)])
    record_turns(dataset, a_header("b"), [turn(BAD, NEW, error_kind=AGENT), turn("ls", NEW)])
    compact(dataset, "r1")
    for rows in (1, 4):
        cut_row_groups(dataset, rows)
        assert reasons(dataset, name=f"by-{rows}") == {"a": ["kept"] * 2, "b": ["kept"] * 2}


def test_retries_of_malformed_calls_in_a_chat_are_masked_by_what_the_harness_answers(
    dataset: Dataset, tmp_path: Path
) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Add."}]
    answers = {'{"a": 1, "b"}': "failed to parse function arguments: expected a colon", '{"a": 1, "b": 2}': NEW}
    for number, (arguments, text) in enumerate(answers.items()):
        called = {"id": f"c{number}", "type": "function", "function": {"name": "add", "arguments": arguments}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [called]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
    chats = tmp_path / "chats.jsonl"
    chats.write_text(json.dumps({"messages": messages}) + "\n")
    import_trajectories(dataset, "messages", [chats], licence="MIT")
    assert list(reasons(dataset).values()) == [["retry", "kept"]]


def test_a_file_that_is_not_there_is_the_worlds_answer_and_stays(dataset: Dataset, tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    told = [("/a/b/c.py", "error", "File not found: /a/b/c.py"), ("/a/b/c.ts", "read", NEW)]
    for number, (path, kind, text) in enumerate(told):
        events.append({"id": 2 * number, "source": "agent", "action": "read", "args": {"path": path}})
        events.append({"id": 2 * number + 1, "observation": kind, "content": text, "cause": 2 * number})
    stream = tmp_path / "events.json"
    stream.write_text(json.dumps(events))
    import_trajectories(dataset, "openhands-v0", [stream], licence="MIT")
    ((missing, found),) = reasons(dataset).values()
    assert found == "kept"
    assert missing in ("kept", "drawn_out"), "only the draw may leave it out"


def test_how_alike_a_retry_must_be_is_a_setting(dataset: Dataset) -> None:
    turns = [turn("open the red door", NEW, error_kind=AGENT), turn("open a green window", NEW)]
    assert told_of(dataset, turns) == ["kept", "kept"]
    assert reasons(dataset, Filters(retry_similarity=0.1), "loose")["t"] == ["retry", "kept"]
