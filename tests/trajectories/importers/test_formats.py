"""Every format's awkward features, on sources made here."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import actions, answers, imported, only, results, written
from trajectories import ErrorKind, Status
from trajectories.importers import Imported, Problem


def test_atif_calls_that_share_an_id_are_answered_in_order(tmp_path: Path) -> None:
    trajectory = only("atif", written(tmp_path, "a.json", samples.ATIF))
    assert actions(trajectory) == [
        '{"name": "look", "arguments": {"at": "north"}}',
        '{"name": "look", "arguments": {"at": "south"}}',
        '[{"keystrokes": "ls\\n", "duration": 0.5}]',
    ]
    assert answers(trajectory) == ["a wall", "a door", "$ ls"]
    assert trajectory.turns[2].action.reasoning == "a\np"
    assert (trajectory.instruction, trajectory.prompt.task_description) == ("Look around.", "You look.")
    assert trajectory.loss.skipped == {"step copied from an earlier context": 1, "call of finish": 1}


def test_one_atif_result_without_an_id_answers_all_calls_of_its_step(tmp_path: Path) -> None:
    calls = [
        {"tool_call_id": str(n), "function_name": "bash_command", "arguments": {"keystrokes": k, "duration": n}}
        for n, k in enumerate("ab", 1)
    ]
    step = {"source": "agent", "message": "", "tool_calls": calls, "observation": {"results": [{"content": "ab"}]}}
    trajectory = only("atif", written(tmp_path, "a.json", {**samples.ATIF, "steps": [step]}))
    assert trajectory.turns[0].action.payload == [
        {"keystrokes": "a", "duration": 1},
        {"keystrokes": "b", "duration": 2},
    ]


def _terminus(tmp_path: Path, **step: object) -> Imported:
    agent = {"name": "terminus-2", "version": "2"}
    results = {"observation": {"results": [{"content": "seen"}]}}
    steps = [{"source": "agent", "message": "", **results, **step}]
    return only("atif", written(tmp_path, "a.json", {"schema_version": "ATIF-v1.5", "agent": agent, "steps": steps}))


def test_saying_that_the_task_is_complete_sends_no_keys(tmp_path: Path) -> None:
    call = {"tool_call_id": "1", "function_name": "mark_task_complete", "arguments": {}}
    trajectory = _terminus(tmp_path, tool_calls=[call])
    assert (actions(trajectory), answers(trajectory), trajectory.domain) == (["[]"], ["seen"], "terminal")


def test_a_message_that_terminus_refuses_is_no_turn(tmp_path: Path) -> None:
    refused = _terminus(tmp_path, message='Here: {"commands": [{"keystrokes": "ls\\n"}]}')
    assert not refused.turns
    assert refused.loss.skipped == {"message that acts on nothing, and its answer": 1}
    taken = _terminus(
        tmp_path, message='Here: {"analysis": "", "plan": "", "commands": [{"keystrokes": "ls\\n"}]} there'
    )
    assert taken.turns[0].action.payload == [{"keystrokes": "ls\n", "duration": 1.0}]


WRITTEN = "Now.\n<function=edit>\n<parameter=path>/a</parameter>\n<parameter=text>\none\ntwo\n</parameter>\n</function>"
WRITTEN_ACTION = '{"name": "edit", "arguments": {"path": "/a", "text": "one\\ntwo"}}'


def test_a_call_that_is_written_into_an_atif_message_is_an_action(tmp_path: Path) -> None:
    results = {"observation": {"results": [{"content": "edited"}]}}
    steps = [{"source": "agent", "message": text, **results} for text in (WRITTEN, "<function=think></function>")]
    trajectory = only("atif", written(tmp_path, "a.json", {**samples.ATIF, "steps": steps}))
    assert (actions(trajectory), answers(trajectory)) == ([WRITTEN_ACTION], ["edited"])
    assert trajectory.turns[0].action.reasoning == "Now."


def test_a_call_that_is_written_into_a_chat_is_answered_by_the_next_message(tmp_path: Path) -> None:
    texts = ("Do it.", WRITTEN, "edited", "<function=finish></function>")
    messages = [{"role": role, "content": text} for role, text in zip(("user", "assistant") * 2, texts, strict=True)]
    trajectory = only("messages", written(tmp_path, "a.jsonl", {"messages": messages}))
    assert (actions(trajectory), answers(trajectory)) == ([WRITTEN_ACTION], ["edited"])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema_version": "ATIF-v2.0"}, "ATIF-v2.0"),
        ({"steps": "none"}, "not a list"),
        ({"steps": [{"step_id": 2, "source": "user"}, {"step_id": 1, "source": "user"}]}, "comes after"),
        ({"steps": [{"source": "world"}]}, "'world'"),
        ({"continued_trajectory_ref": "a.json"}, "continues itself"),
    ],
)
def test_an_atif_document_that_contradicts_itself_is_a_problem(tmp_path: Path, change: object, reason: str) -> None:
    assert isinstance(change, dict)
    (problem,) = results("atif", written(tmp_path, "a.json", {**samples.ATIF, **change}))
    assert isinstance(problem, Problem)
    assert reason in problem.reason


@pytest.mark.parametrize("reference", ["../secret.json", "/", ".", "..", "b.json"])
def test_a_continuation_that_is_no_file_of_the_folder_is_not_read(reference: str, tmp_path: Path) -> None:
    written(tmp_path, "secret.json", samples.ATIF)
    path = written(tmp_path / "inner", "a.json", {**samples.ATIF, "continued_trajectory_ref": reference})
    assert only("atif", path).loss.skipped["continuation whose file is not there"] == 1


def test_a_subagent_that_acts_is_a_trajectory_of_its_own(tmp_path: Path) -> None:
    path = written(tmp_path, "a.json", {**samples.ATIF, "subagent_trajectories": [samples.ATIF]})
    main, subagent = imported("atif", path)
    assert main.trajectory_id("atif") != subagent.trajectory_id("atif")
    assert subagent.place.endswith("#subagent-1")


def test_adp_observations_follow_their_actions(tmp_path: Path) -> None:
    trajectory = only("adp", written(tmp_path, "a.jsonl", samples.ADP))
    assert actions(trajectory) == ['{"name": "click", "arguments": {"bid": "1"}}', "date"]
    assert answers(trajectory) == ["[2] text 'Bought'", "Monday"]
    assert trajectory.initial.text == "[1] button 'Buy'"
    assert trajectory.turns[0].action.reasoning == "I shall click.\nto buy"
    assert trajectory.loss.skipped["action without an observation"] == 1
    assert trajectory.domain == "web"


def test_chat_answers_are_joined_though_every_id_is_the_same(tmp_path: Path) -> None:
    trajectory = only("messages", written(tmp_path, "a.jsonl", samples.CHAT))
    assert actions(trajectory) == [
        '{"name": "add", "arguments": {"a": 1, "b": 2}}',
        '{"name": "add", "arguments": "1, 2"}',
        '{"name": "add", "arguments": {}}',
    ]
    assert answers(trajectory) == ["3", "not JSON", "nothing to add"]
    assert trajectory.turns[1].observation.error_kind is ErrorKind.AGENT
    assert trajectory.turns[2].action.reasoning == "No."
    assert trajectory.instruction == "Add up."
    assert trajectory.loss.no_place["content that is no text"] == 1


def test_a_fenced_command_is_answered_by_the_next_message(tmp_path: Path) -> None:
    path = tmp_path / "a.traj.json"
    path.write_text(json.dumps(samples.SHELL_CHAT, indent=1))
    trajectory = only("messages", path)
    assert (actions(trajectory), answers(trajectory)) == (["echo hello"], ["<returncode>1</returncode>\nhello"])
    assert trajectory.turns[0].observation.exit_code == 1
    assert trajectory.turns[0].action.reasoning == "I shall."
    assert trajectory.loss.skipped["action without an observation"] == 1
    assert trajectory.domain == "swe"


def test_mini_swe_agents_first_version_fences_its_commands_as_bash(tmp_path: Path) -> None:
    said = ["```bash\nls\n```", "```bash\na\n```\nor\n```bash\nb\n```"]
    messages = [{"role": "user", "content": "Do it."}]
    for text in said:
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": f"to {text[8]}"}]
    row = {"trajectory_format": "mini-swe-agent-1", "messages": json.dumps(messages)}
    trajectory = only("messages", written(tmp_path, "a.json", row))
    assert (actions(trajectory), answers(trajectory)) == (["ls"], ["to l"])
    assert not only("messages", written(tmp_path, "b.json", messages)).turns


def test_blocks_of_tool_use_are_calls_and_their_results_answers(tmp_path: Path) -> None:
    trajectory = only("messages", written(tmp_path, "a.jsonl", samples.ANTHROPIC))
    assert actions(trajectory) == [
        '{"name": "read", "arguments": {"path": "b"}}',
        '{"name": "read", "arguments": {"path": "a"}}',
    ]
    assert answers(trajectory) == ["no such file", "A"]
    assert trajectory.turns[0].observation.error_kind is ErrorKind.TOOL
    assert trajectory.turns[1].action.reasoning == "hm\nI shall."
    assert "content that is no text" not in trajectory.loss.no_place
    assert trajectory.loss.skipped == {"agent message without a call": 1}


@pytest.mark.parametrize("roles", [("tool_call", "tool_response"), ("function_call", "observation")])
def test_calls_and_answers_may_be_messages_of_their_own(roles: tuple[str, str], tmp_path: Path) -> None:
    call, response = roles
    messages = [
        {"role": "user", "content": "Add up."},
        {"role": call, "content": '{"name": "add", "arguments": {"a": 1}}'},
        {"role": response, "content": "1"},
        {"role": call, "content": "add 1"},
        {"role": response, "content": "not JSON"},
    ]
    trajectory = only("messages", written(tmp_path, "a.jsonl", {"messages": messages}))
    assert actions(trajectory) == ['{"name": "add", "arguments": {"a": 1}}', "add 1"]
    assert answers(trajectory) == ["1", "not JSON"]
    assert trajectory.loss.inferred["call that is no JSON kept as a string"] == 1


@pytest.mark.parametrize("as_text", [True, False])
def test_a_number_that_json_cannot_hold_is_told_where_it_becomes_a_string(as_text: bool, tmp_path: Path) -> None:
    numbers = '{"a": NaN, "b": [[-Infinity, 1e999, 1e300]], "c": "NaN"}'
    call = f'{{"name": "add", "arguments": {json.dumps(numbers) if as_text else numbers}}}'
    row = f"""{{"messages": [
        {{"role": "assistant", "tool_calls": [{{"id": "1", "function": {call}}}]}},
        {{"role": "tool", "tool_call_id": "1", "content": "3"}}]}}"""
    trajectory = only("messages", written(tmp_path, "a.jsonl", row.replace("\n", "")))
    assert actions(trajectory) == [
        '{"name": "add", "arguments": {"a": "NaN", "b": [["-Infinity", "1e999", 1e+300]], "c": "NaN"}}'
    ]
    assert trajectory.loss.inferred["number that JSON cannot hold kept as a string"] == 3


def test_answers_in_tags_within_a_users_message_are_answers(tmp_path: Path) -> None:
    call = '<tool_call>{"name": "find", "arguments": {}}</tool_call>'
    texts = ("Do it.", call, "<tool_response>\nfound\n</tool_response>", "Found.")
    messages = [{"role": role, "content": text} for role, text in zip(("user", "assistant") * 2, texts, strict=True)]
    trajectory = only("messages", written(tmp_path, "a.jsonl", {"messages": messages}))
    assert (actions(trajectory), answers(trajectory)) == (['{"name": "find", "arguments": {}}'], ["found"])
    assert trajectory.instruction == "Do it."


def test_a_sharegpt_conversation_has_calls_and_observations(tmp_path: Path) -> None:
    trajectory = only("sharegpt", written(tmp_path, "a.json", [samples.SHAREGPT]))
    assert actions(trajectory) == [
        '{"name": "add", "arguments": {"a": 1, "b": 2}}',
        '{"name": "add", "arguments": {}}',
        '{"name": "add", "arguments": {}}',
    ]
    assert answers(trajectory) == ["3", "nothing to add", "still nothing"]
    assert (trajectory.instruction, trajectory.prompt.task_description) == ("Add up.", "You add.")
    assert [tool["name"] for tool in trajectory.tools] == ["add"]
    assert trajectory.loss.no_place == {"message.weight": 1}


def test_hermes_calls_and_answers_are_told_by_their_tags(tmp_path: Path) -> None:
    trajectory = only("sharegpt", written(tmp_path, "a.jsonl", samples.HERMES))
    assert actions(trajectory) == [
        '{"name": "find", "arguments": {"q": "a"}}',
        '{"name": "find", "arguments": {"q": "b"}}',
    ]
    assert answers(trajectory) == ['{"hits": 1}', "none"]
    assert trajectory.turns[0].action.reasoning == "Both."
    assert trajectory.source_id == "h"


def _searched(tool: str, argument: str) -> dict[str, object]:
    call = {"id": "c", "type": "function", "function": {"name": tool, "arguments": {argument: "x"}}}
    return {
        "tools": [{"name": tool, "parameters": {"properties": {argument: {"type": "string"}}}}],
        "messages": [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "found"},
        ],
    }


@pytest.mark.parametrize(
    ("source_format", "rows"),
    [("messages", [_searched("find", "q"), _searched("grep", "pattern")]), ("sharegpt", [samples.HERMES])],
)
def test_a_table_holds_chats_as_a_file_of_lines_does(
    source_format: str, rows: list[dict[str, object]], tmp_path: Path
) -> None:
    """In a table every struct has the fields of all: those that a row does not have must not be in its calls."""
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    table = imported(source_format, tmp_path / "a.parquet")
    lines = [only(source_format, written(tmp_path, f"{number}.jsonl", row)) for number, row in enumerate(rows)]
    assert [(actions(each), answers(each), each.tools) for each in table] == [
        (actions(each), answers(each), each.tools) for each in lines
    ]
    assert [each.place for each in table] == [f"{tmp_path}/a.parquet:{number}" for number in range(1, len(rows) + 1)]


def test_a_row_of_the_sibling_format_says_which_it_is(tmp_path: Path) -> None:
    for source_format, row, mend in (
        ("messages", samples.SHAREGPT, "import it as sharegpt"),
        ("sharegpt", samples.CHAT, "import it as messages"),
    ):
        (problem,) = results(source_format, written(tmp_path, "a.jsonl", row))
        assert isinstance(problem, Problem)
        assert mend in problem.reason


def test_a_speaker_who_is_unknown_is_a_problem(tmp_path: Path) -> None:
    row = {"conversations": [{"from": "narrator", "value": "Once."}]}
    (problem,) = results("sharegpt", written(tmp_path, "a.jsonl", row))
    assert isinstance(problem, Problem)
    assert "'narrator'" in problem.reason


def test_response_items_may_be_answered_in_another_order(tmp_path: Path) -> None:
    trajectory = only("responses", written(tmp_path, "a.jsonl", samples.RESPONSE))
    assert actions(trajectory) == [
        '{"name": "patch", "arguments": "*** free text"}',
        '{"name": "roll", "arguments": {"sides": 6}}',
    ]
    assert answers(trajectory) == ["patched", "4"]
    assert trajectory.loss.skipped["observation without its action"] == 1
    assert trajectory.loss.skipped["item of the type web_search_call"] == 1
    assert trajectory.outcome == {"reward": 0.5}


def test_swe_agents_repeated_query_is_dropped_and_an_empty_answer_kept(tmp_path: Path) -> None:
    trajectory = only("swe-agent", written(tmp_path, "a.traj", samples.SWE_AGENT))
    assert (actions(trajectory), answers(trajectory)) == (["cat empty", "submit"], ["", "\r\ndiff --git"])
    assert trajectory.turns[0].action.payload == "cat empty\n"
    assert trajectory.turns[1].duration_s == 0.25
    assert trajectory.loss.no_place["step.query"] == 1
    assert trajectory.instruction == "Mend it."
    assert trajectory.status is Status.COMPLETED


def test_openhands_events_are_joined_by_their_cause(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(samples.OPENHANDS_V0, indent=1))
    trajectory = only("openhands-v0", path)
    assert actions(trajectory) == [
        '{"name": "write", "arguments": {"path": "a", "content": "b"}}',
        '{"name": "run", "arguments": {"command": "make"}}',
    ]
    assert trajectory.turns[0].observation.error_kind is ErrorKind.TOOL
    assert trajectory.turns[1].observation.exit_code == 2
    assert trajectory.turns[1].duration_s == 3
    assert trajectory.turns[1].action.reasoning == "try"


def test_openhands_pairs_of_action_and_observation_are_read(tmp_path: Path) -> None:
    pair = [{"action": "run", "args": {"command": "ls"}}, {"observation": "run", "content": "a"}]
    trajectory = only("openhands-v0", written(tmp_path, "a.jsonl", {"instance_id": "i", "history": [pair, pair]}))
    assert answers(trajectory) == ["a", "a"]


def test_tools_that_come_later_are_declared_too(tmp_path: Path) -> None:
    edit = {"kind": "FileEditorTool", "title": "file_editor"}
    update = {"kind": "SystemPromptUpdateEvent", "system_prompt": {"text": "New."}, "tools": [edit]}
    rows = [*samples.OPENHANDS_V1[:2], update, update, *samples.OPENHANDS_V1[2:]]
    trajectory = only("openhands", written(tmp_path, "a.jsonl", *rows))
    assert list(trajectory.tools) == [*samples.OPENHANDS_V1[0]["tools"], edit]
    assert trajectory.prompt.task_description == "You run."
    assert '"title": "file_editor"' in trajectory.prompt.action_space


@pytest.mark.parametrize("layout", ["folder", "lines"])
def test_openhands_event_files_and_lines_are_one_conversation(tmp_path: Path, layout: str) -> None:
    if layout == "lines":
        written(tmp_path, "a.jsonl", *samples.OPENHANDS_V1)
    else:
        for number, event in enumerate(samples.OPENHANDS_V1):
            written(tmp_path, f"events/event-{number:05d}-{event['id']}.json", event)
    trajectory = only("openhands", tmp_path)
    assert actions(trajectory) == [
        '{"name": "terminal", "arguments": {"command": "true"}}',
        '{"name": "edit", "arguments": {"path": "x"}}',
    ]
    assert answers(trajectory) == ["", "no such tool"]
    assert trajectory.turns[0].duration_s == 1.5
    assert trajectory.turns[1].observation.error_kind is ErrorKind.AGENT
    assert trajectory.loss.skipped == {
        "observation without its action": 1,
        "call of finish": 1,
        "answer to a call of the harness": 1,
        "SomethingNewEvent of the harness": 1,
    }


def test_events_of_version_0_say_which_format_they_are(tmp_path: Path) -> None:
    (problem, *_) = results("openhands", written(tmp_path, "a.jsonl", *samples.OPENHANDS_V0))
    assert "openhands-v0" in str(problem)


def test_an_osworld_screenshot_shows_what_came_after_its_action(tmp_path: Path) -> None:
    path = written(tmp_path, "chrome/task-1/traj.jsonl", *samples.OSWORLD)
    path.with_name("step_1.png").write_bytes(b"an image")
    path.with_name("result.txt").write_text("1.0\n")
    trajectory = only("osworld", path)
    assert actions(trajectory) == ["pyautogui.click(1, 2)", "WAIT"]
    assert trajectory.screenshots == {1: path.with_name("step_1.png")}
    assert trajectory.loss.no_place == {"text of an observation, which was kept as an image": 1}
    assert trajectory.loss.skipped == {"screenshot whose file is not there": 1, "DONE of the agent": 1}
    assert trajectory.source_id == "chrome/task-1"
    assert trajectory.outcome == {"reward": 1, "done": True, "ended_by": "DONE", "score": 1.0}
    first, second = trajectory.turns
    assert second.started_at - first.started_at == timedelta(seconds=1, microseconds=123456)


def test_an_agentworldbench_row_is_taken_apart(tmp_path: Path) -> None:
    trajectory = only("agentworldbench", written(tmp_path, "terminal_test.jsonl", samples.WORLD_BENCH))
    assert actions(trajectory) == ['[{"a": 1}]', "import os"]
    assert trajectory.turns[0].action.payload == [{"a": 1}]
    assert answers(trajectory) == ["a\nb", "c"]
    assert (trajectory.domain, trajectory.instruction, trajectory.prompt.initial_state) == ("terminal", "List.", "$ ")


@pytest.mark.parametrize(
    "change", [{"turn_idx": 3}, {"response": ["one"]}, {"prompt": [], "response": [], "turn_idx": 0}]
)
def test_an_agentworldbench_row_that_contradicts_itself_is_a_problem(tmp_path: Path, change: object) -> None:
    assert isinstance(change, dict)
    (problem,) = results("agentworldbench", written(tmp_path, "os_test.jsonl", {**samples.WORLD_BENCH, **change}))
    assert isinstance(problem, Problem)


def test_a_claude_code_session_is_one_trajectory_without_its_repeated_lines(tmp_path: Path) -> None:
    trajectory = only("claude-code", written(tmp_path, "a.jsonl", *samples.CLAUDE_CODE))
    assert actions(trajectory) == ['{"name": "Bash", "arguments": {"command": "false"}}']
    (turn,) = trajectory.turns
    assert (turn.action.reasoning, turn.observation.text, turn.duration_s) == ("hm\nI shall.", "no", 2)
    assert turn.observation.error_kind is ErrorKind.TOOL
    assert trajectory.instruction == "Do it."
    assert trajectory.loss.skipped == {
        "line of the type summary": 1,
        "message of the harness": 1,
        "line repeated": 1,
        "line of a subagent": 1,
    }


def test_a_codex_rollout_has_calls_of_every_kind(tmp_path: Path) -> None:
    trajectory = only("codex", written(tmp_path, "a.jsonl", *samples.CODEX))
    assert actions(trajectory) == [
        '{"name": "apply_patch", "arguments": "*** Begin"}',
        '{"name": "tool_search", "arguments": {"query": "files"}}',
    ]
    assert answers(trajectory) == ["Done", '[{"name": "read"}]']
    assert (trajectory.instruction, trajectory.prompt.task_description) == ("Do it.", "Be brief.")
    assert trajectory.turns[0].duration_s == 2


def test_a_codex_call_of_the_local_shell_is_a_call(tmp_path: Path) -> None:
    command = {"type": "exec", "command": ["ls", "-a"]}
    items = [
        {"type": "local_shell_call", "call_id": "1", "status": "completed", "action": command},
        {"type": "function_call_output", "call_id": "1", "output": ".git"},
    ]
    rows = [{"type": "response_item", "payload": item} for item in items]
    trajectory = only("codex", written(tmp_path, "a.jsonl", *rows))
    assert trajectory.turns[0].action.payload == {"name": "local_shell", "arguments": command}
    assert answers(trajectory) == [".git"]


def test_a_gemini_call_that_was_cancelled_is_no_turn(tmp_path: Path) -> None:
    trajectory = only("gemini-cli", written(tmp_path, "a.json", samples.GEMINI_CLI))
    assert answers(trajectory) == ["no such file"]
    assert trajectory.turns[0].observation.error_kind is ErrorKind.TOOL
    assert trajectory.turns[0].action.reasoning == "Plan\nread first\nI shall."
    assert trajectory.loss.skipped == {"message of the type info": 1, "action without an observation": 1}
