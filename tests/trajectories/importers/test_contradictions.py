"""A source that contradicts itself: refused where its turns are not sure, counted as inferred where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import actions, answers, only, results, written
from trajectories import Dataset
from trajectories.importers import Imported, Problem, import_trajectories

Json = Any


def _osworld(*numbers: int) -> list[Json]:
    return [{"step_num": number, "action": f"act({n})"} for n, number in enumerate(numbers)]


def _claude(session: str, number: int, parent: str | None = None) -> list[Json]:
    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"c{number}"}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x"}
    return [
        {
            "type": "assistant",
            "sessionId": session,
            "uuid": f"call-{number}",
            "parentUuid": parent,
            "message": {"content": [call]},
        },
        {
            "type": "user",
            "sessionId": session,
            "uuid": f"answer-{number}",
            "parentUuid": f"call-{number}",
            "message": {"content": [result]},
        },
    ]


def _codex(meta: Json, number: int) -> list[Json]:
    call = {"type": "function_call", "call_id": str(number), "name": "f", "arguments": f'{{"n": {number}}}'}
    answer = {"type": "function_call_output", "call_id": str(number), "output": "o"}
    return [
        {"type": "session_meta", "payload": meta},
        *({"type": "response_item", "payload": item} for item in (call, answer)),
    ]


def _chat(*messages: Json) -> Json:
    return {"messages": [{"role": "user", "content": "go"}, *messages]}


def _calls(*names: str, ids: bool) -> Json:
    calls = [{"id": name if ids else "", "function": {"name": name, "arguments": "{}"}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _openhands(event_id: str, command: str) -> list[Json]:
    action = {"kind": "ActionEvent", "id": event_id, "tool_name": "terminal", "action": {"command": command}}
    seen = {"kind": "ObservationEvent", "action_id": event_id, "observation": {"content": command}}
    return [action, seen]


def _swe_agent(*told: str) -> Json:
    steps = [{"action": f"cat {number}", "observation": f"text of {number}"} for number in range(3)]
    history = [{"role": "user", "content": "go"}]
    for text in told:
        history += [{"role": "assistant", "content": "cat"}, {"role": "user", "content": text}]
    return {"trajectory": steps, "history": history}


WORLD = {**samples.WORLD_BENCH, "turn_idx": 2, "total_turns": 5}

REFUSED = [
    ("osworld", "traj.jsonl", _osworld(3, 1, 1), "step_num 1 comes after 3"),
    ("osworld", "traj.jsonl", _osworld(1, 2, 1, 2), "step_num 1 comes after 2"),
    ("codex", "a.jsonl", [*_codex({"id": "A"}, 1), *_codex({"id": "B"}, 2)], "sessions A and B"),
    ("agentworldbench", "os_test.jsonl", [{**WORLD, "turn_idx": "7"}], "turn_idx is 7"),
    ("agentworldbench", "os_test.jsonl", [{**WORLD, "total_turns": 0}], "total_turns is 0"),
    ("agentworldbench", "os_test.jsonl", [{**WORLD, "total_turns": 1}], "total_turns is 1"),
    ("openhands", "a.jsonl", [*_openhands("e", "ls"), *_openhands("e", "pwd")], "two actions have the id e"),
    (
        "messages",
        "a.jsonl",
        [_chat(_calls("look", ids=False), {"role": "tool", "name": "press", "content": "x"})],
        "an answer of press",
    ),
]


@pytest.mark.parametrize(("source_format", "name", "rows", "reason"), REFUSED)
def test_where_no_turn_is_sure_nothing_is_imported(
    tmp_path: Path, source_format: str, name: str, rows: list[Json], reason: str
) -> None:
    (problem,) = results(source_format, written(tmp_path, name, *rows))
    assert isinstance(problem, Problem)
    assert reason in problem.reason


def test_several_actions_of_one_osworld_step_are_no_contradiction(tmp_path: Path) -> None:
    assert len(only("osworld", written(tmp_path, "traj.jsonl", *_osworld(1, 1, 2, 4))).turns) == 4


def test_a_claude_session_within_the_file_of_another_is_refused(tmp_path: Path) -> None:
    rows = [*_claude("A", 1), *_claude("B", 2), *_claude("A", 3)]
    refused, trajectory = results("claude-code", written(tmp_path, "a.jsonl", *rows))
    assert isinstance(refused, Problem)
    assert (refused.line, "session B begins" in refused.reason) == (3, True)
    assert isinstance(trajectory, Imported)
    assert ["c2" in action for action in actions(trajectory)] == [False, False]
    assert trajectory.loss.skipped["line of another session"] == 1


def test_a_claude_session_that_is_resumed_under_another_id_is_one(tmp_path: Path) -> None:
    rows = [*_claude("A", 1), *_claude("B", 2, parent="answer-1"), *_claude("B", 3, parent="answer-2")]
    trajectory = only("claude-code", written(tmp_path, "a.jsonl", *rows))
    assert (len(trajectory.turns), trajectory.source_id) == (3, "A")
    assert trajectory.loss.inferred["session that goes on under another id"] == 1


def test_a_codex_fork_repeats_the_session_that_it_names(tmp_path: Path) -> None:
    rows = [*_codex({"id": "B", "forked_from_id": "A"}, 1), *_codex({"id": "A"}, 2), *_codex({"id": "B"}, 3)]
    trajectory = only("codex", written(tmp_path, "a.jsonl", *rows))
    assert (len(trajectory.turns), trajectory.source_id) == (3, "B")
    assert trajectory.loss.inferred["turns of the session that this one was forked from"] == 1
    assert trajectory.loss.skipped["session_meta repeated"] == 1


def test_a_number_of_turns_may_be_a_string(tmp_path: Path) -> None:
    row = {**WORLD, "turn_idx": "2"}
    trajectory = only("agentworldbench", written(tmp_path, "os_test.jsonl", row))
    assert len(trajectory.turns) == 2
    assert trajectory.loss.inferred["string taken as a number"] == 1


TWICE = '{"messages": [{"role": "user", "content": "a"}], "id": "1", "id": "2"}'


@pytest.mark.parametrize("layout", ["{0}\n{1}\n{0}\n", "[{0}, {1}, {0}]", "[\n{0},\n{1},\n{0}\n]"])
def test_a_row_with_a_key_twice_is_refused_and_the_others_are_not(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(layout.format(json.dumps(_chat()), TWICE))
    one, refused, other = results("messages", path)
    assert isinstance(one, Imported)
    assert isinstance(other, Imported)
    assert isinstance(refused, Problem)
    assert (refused.line, "'id' twice" in refused.reason) == (2, True)


def test_a_key_that_the_first_rows_have_twice_does_not_hide_that_a_file_has_lines(tmp_path: Path) -> None:
    found = results("messages", written(tmp_path, "a.jsonl", TWICE, TWICE, _chat()))
    assert [isinstance(result, Problem) for result in found] == [True, True, False]


def test_arguments_with_a_key_twice_stay_the_string_that_they_are(tmp_path: Path) -> None:
    call = {"id": "1", "function": {"name": "look", "arguments": '{"a": 1, "a": 2}'}}
    rows = _chat({"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "1", "content": "x"})
    trajectory = only("messages", written(tmp_path, "a.jsonl", rows))
    assert trajectory.turns[0].action.payload == {"name": "look", "arguments": '{"a": 1, "a": 2}'}
    assert trajectory.loss.inferred["arguments that are no JSON kept as a string"] == 1


def test_an_answer_that_names_another_tool_than_its_call_is_told(tmp_path: Path) -> None:
    answer = {"role": "tool", "tool_call_id": "look", "name": "press", "content": "x"}
    trajectory = only("messages", written(tmp_path, "a.jsonl", _chat(_calls("look", ids=True), answer)))
    assert (len(trajectory.turns), answers(trajectory)) == (1, ["x"])
    assert trajectory.loss.inferred["answer joined to its call by id, though it names another tool"] == 1


def test_answers_without_ids_go_to_the_calls_of_the_tools_that_they_name(tmp_path: Path) -> None:
    given = [{"role": "tool", "name": name, "content": f"of {name}"} for name in ("press", "look")]
    trajectory = only("messages", written(tmp_path, "a.jsonl", _chat(_calls("look", "press", ids=False), *given)))
    assert [
        ("press" in action, answer) for action, answer in zip(actions(trajectory), answers(trajectory), strict=True)
    ] == [
        (True, "of press"),
        (False, "of look"),
    ]


def test_a_gemini_result_of_another_tool_is_told(tmp_path: Path) -> None:
    result = [{"functionResponse": {"name": "press", "response": {"output": "x"}}}]
    message = {"type": "gemini", "content": "", "toolCalls": [{"name": "look", "args": {}, "result": result}]}
    trajectory = only("gemini-cli", written(tmp_path, "a.json", {"messages": [message]}))
    assert trajectory.loss.inferred["answer beside its call, though it names another tool"] == 1


def test_an_openhands_action_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", *_openhands("e", "ls"), *_openhands("e", "ls"), *_openhands("f", "pwd"))
    trajectory = only("openhands", path)
    assert answers(trajectory) == ["ls", "pwd"]
    assert trajectory.loss.skipped == {"action repeated": 1, "observation without its action": 1}


@pytest.mark.parametrize(
    ("told", "count"),
    [
        (["text of 0\nbash-$", " text\r\nof 1 ", "<output>text of 2</output>"], 0),
        (["text of 0\nbash-$", "text of 1"], 0),
        (["text of 0", "another text", "text of 2"], 1),
        (["another text", "another text"], 2),
        (["text of 0", "text\n[truncated]"], 0),
        (["another text"], 0),
    ],
    ids=["the-same", "the-last-unanswered", "one", "all", "cut", "not-side-by-side"],
)
def test_an_observation_that_the_history_tells_otherwise_is_counted(
    tmp_path: Path, told: list[str], count: int
) -> None:
    trajectory = only("swe-agent", written(tmp_path, "a.traj", _swe_agent(*told)))
    assert answers(trajectory) == ["text of 0", "text of 1", "text of 2"]
    assert trajectory.loss.inferred["observation of a step, which the history tells otherwise"] == count


def test_an_event_that_is_no_object_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([*samples.OPENHANDS_V0, None, "x"]))
    found, whole = only("openhands-v0", path), len(samples.OPENHANDS_V0)
    assert len(found.turns) == 2
    for number in (whole + 1, whole + 2):
        assert found.loss.skipped[f"event {number} of a history, which is no object"] == 1


@pytest.mark.parametrize(("action", "num_turns"), [("exit_cost", 1), ("exit_context\n", 1), ("exit_forfeit", 2)])
def test_what_a_harness_does_to_end_a_session_is_no_turn(action: str, num_turns: int, tmp_path: Path) -> None:
    steps = [{"action": "ls", "observation": "a"}, {"action": action, "observation": "Exited (autosubmitted)"}]
    path = tmp_path / "a.traj"
    path.write_text(json.dumps({"trajectory": steps, "history": [], "info": {}}))
    found = only("swe-agent", path)
    assert len(found.turns) == num_turns
    assert found.loss.skipped[f"{action.strip()} of the harness"] == 2 - num_turns


def test_halves_of_surrogate_pairs_are_counted_where_they_stand(tmp_path: Path) -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "do \ud83d"},
        {"role": "assistant", "content": "I \ude00 will", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "\ud800 and \ud800, and the pair 😀"},
    ]
    path = written(tmp_path, "a.jsonl", {"messages": messages})
    report = import_trajectories(Dataset(tmp_path / "data"), "messages", [path], licence="MIT")
    assert report.loss.inferred["half a surrogate pair shown as U+FFFD"] == 4
