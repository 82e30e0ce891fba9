"""Real files of other projects: what a right import of each shows. They are data, and lie outside the project."""

from __future__ import annotations

import pytest

from tests.trajectories.importers.import_support import (
    actions,
    answers,
    case,
    first_line,
    imported,
    only,
    results,
    store_rows,
)
from trajectories import Status
from trajectories.importers import NoTrajectory, Problem, UnreadableError

FIND = '{"name": "find_file", "arguments": {"file_name": "missing_colon.py"}}'
LISTING = "Here's the files and directories up to 2 levels deep in /workspace, excluding hidden items:"

ONE_EACH = [
    # format, file, number of turns, beginning of the first action, first line of the last observation
    (
        "atif",
        "atif/v1.5-terminus2-timeout.trajectory.json",
        3,
        '[{"keystrokes": "echo \'Hello, world!\'\\n", "duration": 0.1}]',
        "New Terminal Output:",
    ),
    (
        "atif",
        "atif/v1.5-terminus2-linear-history",
        7,
        '[{"keystrokes": "mkdir test_dir\\n", "duration": 0.1}]',
        "New Terminal Output:",
    ),
    (
        "atif",
        "atif/v1.5-openhands-hello-world.trajectory.json",
        1,
        '{"name": "str_replace_editor", "arguments": {"command": "create", "path": "/app/hello.txt"',
        "File created successfully at: /app/hello.txt",
    ),
    (
        "atif",
        "atif/v1.7-nat-gemini-tool-call.json",
        1,
        '{"name": "get_current_time", "arguments": {"timezone": "Asia/Tokyo"}}',
        "2026-04-30T15:30:00+09:00",
    ),
    (
        "atif",
        "atif/v1.7-letta-no-source-call-id.json",
        1,
        '{"name": "check", "arguments": ["fast"]}',
        "Check complete.",
    ),
    (
        "atif",
        "adp/atif-dialect-toucan-row0.sample_atif.json",
        1,
        '{"name": "web_search_exa", "arguments": {"query": "\\"StellarPay',
        '{"success": true, "results"',
    ),
    (
        "adp",
        "adp/legacy-toucan_1_5m.sample_std.json",
        1,
        '{"name": "web_search_exa", "arguments": {"query": "StellarPay',
        '{"success": true, "results"',
    ),
    ("swe-agent", "swe-agent/tool-calling-missing-colon.traj", 5, "find_file missing_colon.py", "\r"),
    ("swe-agent", "swe-agent/humanevalfix-python-0.traj", 5, "ls -a", ""),
    ("swe-agent", "swe-agent/demo-in-history-pydicom.traj", 12, "create reproduce_bug.py", ""),
    ("swe-agent", "swe-agent/history-only-function-calling.traj", 5, FIND, "\r"),
    ("swe-agent", "swe-agent/mini-swe-agent-local.traj.json", 2, "echo 'hello world'", ""),
    (
        "openhands-v0",
        "openhands-v0/rename-file.json",
        3,
        '{"name": "read", "arguments": {"path": "/workspace"',
        LISTING,
    ),
    ("openhands", "openhands-v1/pwd-silent-output", 1, '{"name": "terminal", "arguments": {"command": "pwd > ', ""),
    (
        "openhands",
        "openhands-v1/goal-events-orphan-observation.jsonl",
        2,
        '{"name": "terminal", "arguments": {"command": "SESSION_URL=\\"${AUTOMATION_SESSION_URL:-',
        "SESSION_URL=<secret-hidden>",
    ),
    (
        "osworld",
        "osworld/bing-default-search/traj.jsonl",
        15,
        'pyautogui.typewrite("set Bing as default search engine"); pyautogui.press("enter")',
        "",
    ),
    (
        "messages",
        "openai-messages/bank-agent-metadata-row.jsonl",
        2,
        '{"name": "get_most_recent_transactions", "arguments": {"n": 5}}',
        "{'message': 'Transaction to US133000000121212121212 for 0.01 sent.'}",
    ),
    (
        "messages",
        "openai-messages/arguments-as-object.jsonl",
        6,
        '{"name": "plan", "arguments": {"plan": ',
        "Final result of plan execution:",
    ),
    (
        "messages",
        "openai-messages/tau-bench-airline-trial.json",
        12,
        '{"name": "get_user_details", "arguments": {"user_id": "mia_li_3668"}}',
        '{"reservation_id": "HATHAT", "user_id": "mia_li_3668", "origin": "EWR", ',
    ),
    (
        "messages",
        "openai-messages/mini-swe-agent-v2-api-error.traj.json",
        4,
        '{"name": "bash", "arguments": {"command": "ls -la /testbed"}}',
        "<returncode>0</returncode>",
    ),
]


@pytest.mark.parametrize(("source_format", "name", "num_turns", "action", "last"), ONE_EACH)
def test_a_recording_has_its_turns(source_format: str, name: str, num_turns: int, action: str, last: str) -> None:
    trajectory = only(source_format, case(name))
    assert len(trajectory.turns) == num_turns
    assert actions(trajectory)[0].startswith(action)
    assert first_line(answers(trajectory)[-1]).startswith(last)
    store_rows(trajectory)


def test_a_continuation_is_followed_and_its_copied_steps_are_not_turns() -> None:
    trajectory = only("atif", case("atif/v1.5-terminus2-linear-history"))
    keys = [turn.action.payload for turn in trajectory.turns]
    assert keys[3] == [{"keystrokes": "printf 'Hello, world!\\n' > hello.txt\n", "duration": 0.1}]
    assert keys[5:] == [[], []]
    assert answers(trajectory)[4].rstrip().endswith("Hello, world!")
    assert trajectory.domain == "terminal"
    assert trajectory.loss.skipped["step copied from an earlier context"] == 4
    assert trajectory.loss.skipped["observation of a system step"] == 1


def test_what_an_atif_trajectory_loses_is_told() -> None:
    trajectory = only("atif", case("atif/v1.7-letta-no-source-call-id.json"))
    assert trajectory.loss.skipped["observation without its action"] == 1
    assert trajectory.loss.skipped["subagent that does not act"] == 1
    assert trajectory.loss.no_place["content that is no text"] == 1


def test_the_tools_of_an_agent_are_kept_with_their_schemas() -> None:
    trajectory = only("atif", case("atif/v1.5-openhands-hello-world.trajectory.json"))
    assert len(trajectory.tools) == 6
    assert trajectory.loss.skipped["system event"] == 2


def test_a_demonstration_before_the_task_is_no_turn() -> None:
    trajectories = imported("adp", case("adp/legacy-agenttuning_os.sample_std.json"))
    assert [len(trajectory.turns) for trajectory in trajectories] == [3, 2, 2, 3, 4]
    assert [trajectory.loss.skipped["action of a demonstration"] for trajectory in trajectories] == [2] * 5
    assert trajectories[0].instruction.startswith("Now, I will start a new problem")
    assert "ls /etc" in trajectories[0].prompt.demonstrations
    assert "\x1b]0;root@287e51facd12: /\x07" in answers(trajectories[0])[0]


def test_answers_of_the_environment_may_say_that_they_are_the_users() -> None:
    trajectories = imported("adp", case("adp/legacy-codeactinstruct.sample_std.json"))
    assert [len(trajectory.turns) for trajectory in trajectories] == [3, 3, 2, 1, 2]
    assert actions(trajectories[0])[0].startswith("from sympy import symbols, Eq, solve")
    assert answers(trajectories[0])[0].startswith("Out[1]: ")
    assert len({trajectory.trajectory_id("adp") for trajectory in trajectories}) == 5


def test_a_page_before_the_first_action_is_the_initial_state_and_an_unanswered_action_no_turn() -> None:
    trajectories = imported("adp", case("adp/legacy-webarena_successful.sample_std.json"))
    assert [len(trajectory.turns) for trajectory in trajectories] == [0, 0, 1, 0, 1, 0]
    assert sum(trajectory.loss.skipped["action without an observation"] for trajectory in trajectories) == 6
    assert actions(trajectories[2]) == ['{"name": "click", "arguments": {"element_id": "1121"}}']
    assert all("RootWebArea 'Dashboard" in trajectory.initial.text for trajectory in trajectories)
    assert len({trajectory.trajectory_id("adp") for trajectory in trajectories}) == 6


def test_a_tool_declaration_in_model_markup_is_the_system_prompt() -> None:
    trajectory = only("adp", case("adp/legacy-toucan_1_5m.sample_std.json"))
    assert trajectory.prompt.task_description.startswith("<|im_system|>")
    assert trajectory.turns[0].action.reasoning is not None
    assert trajectory.turns[0].action.reasoning.startswith("I'll help you")


def test_a_swe_agent_demonstration_is_neither_turns_nor_the_instruction() -> None:
    trajectory = only("swe-agent", case("swe-agent/demo-in-history-pydicom.traj"))
    assert trajectory.instruction.startswith("We're currently solving the following issue")
    assert trajectory.loss.skipped["message of a demonstration"] == 1
    assert answers(trajectory)[10] == ""


def test_old_openhands_events_without_ids_are_paired_by_position() -> None:
    first, second = imported("openhands-v0", case("openhands-v0/resolver-output-no-ids.jsonl"))
    assert actions(first)[0] == '{"name": "run", "arguments": {"command": "touch LICENSE"}}'
    assert first_line(answers(first)[-1]) == "MIT License\r"
    assert len(second.turns) == 21
    assert actions(second)[0] == '{"name": "run", "arguments": {"command": "ls -R /workspace"}}'
    assert first_line(answers(second)[-1]) == "[File: /workspace/src/App.css (79 lines total)]"


def test_a_conversation_of_messages_only_has_no_turns() -> None:
    trajectory = only("openhands-v0", case("openhands-v0/messages-only.json"))
    assert trajectory.instruction == "what's 1+1?"
    assert not trajectory.turns
    updated = only("openhands", case("openhands-v1/system-prompt-update"))
    assert not updated.turns
    assert [tool["title"] for tool in updated.tools] == ["file_editor", "finish", "think", "terminal"]


def test_an_observation_whose_action_was_cut_away_is_reported() -> None:
    trajectory = only("openhands", case("openhands-v1/goal-events-orphan-observation.jsonl"))
    assert trajectory.loss.skipped["observation without its action"] == 1
    refused, failed = (turn.observation for turn in trajectory.turns)
    assert (refused.error_kind, refused.exit_code) == ("agent", None)
    assert (failed.error_kind, failed.exit_code) == (None, 1)


def test_osworlds_missing_screenshots_are_reported_and_do_not_look_like_silence() -> None:
    trajectory = only("osworld", case("osworld/bing-default-search/traj.jsonl"))
    assert actions(trajectory).count("pyautogui.scroll(-800)") == 12
    assert trajectory.loss.skipped["screenshot whose file is not there"] == 15
    assert {turn.observation.tree_status for turn in trajectory.turns} == {"missing"}


def test_a_rollout_that_is_an_error_is_a_failed_trajectory() -> None:
    trajectory = only("osworld", case("osworld/error-only/traj.jsonl"))
    assert (len(trajectory.turns), trajectory.status) == (0, Status.FAILED)
    assert trajectory.error is not None
    assert "a bytes-like object is required" in trajectory.error


def test_a_git_lfs_pointer_says_how_to_get_the_data() -> None:
    with pytest.raises(UnreadableError, match="git lfs pull"):
        results("osworld", case("osworld/git-lfs-pointer/traj.jsonl"))


@pytest.mark.parametrize("source_format", ["osworld", "responses"])
def test_rollouts_without_observations_are_refused_with_the_reason(source_format: str) -> None:
    found = results(source_format, case("osworld/nemo-gym-osworld-rollouts.jsonl"))
    assert [type(result) for result in found] == [Problem] * 5
    assert "no observation of any kind was kept" in str(found[0])


def test_arguments_that_are_no_json_stay_a_string_and_a_call_without_an_answer_is_no_turn() -> None:
    trajectory = only("messages", case("openai-messages/invalid-json-arguments.jsonl"))
    assert not trajectory.turns
    assert trajectory.loss.inferred["arguments that are no JSON kept as a string"] == 1
    assert trajectory.loss.skipped["action without an observation"] == 1


def test_a_row_of_metadata_is_no_trajectory_and_pairing_by_order_is_told() -> None:
    metadata, trajectory = results("messages", case("openai-messages/arguments-as-object.jsonl"))
    assert isinstance(metadata, NoTrajectory)
    assert not isinstance(trajectory, Problem | NoTrajectory)
    assert trajectory.loss.inferred["answer joined to its call by order"] == 5


def test_a_model_that_dies_is_the_agents_error() -> None:
    trajectory = only("messages", case("openai-messages/mini-swe-agent-v2-api-error.traj.json"))
    assert trajectory.status is Status.INTERRUPTED
    assert trajectory.outcome["exit_status"] == "InternalServerError"
    assert {turn.observation.error_kind for turn in trajectory.turns} == {None}


def test_items_of_the_responses_api_are_joined_by_call_id() -> None:
    trajectories = imported("responses", case("openai-messages/responses-api-multi-step.jsonl"))
    assert [len(trajectory.turns) for trajectory in trajectories] == [3, 3, 4, 3, 3]
    assert actions(trajectories[0])[0] == '{"name": "get_synonym_value", "arguments": {"synonym": "Blazing"}}'
    assert answers(trajectories[0])[0] == '{"synonym_value": 711}'
    assert {answers(trajectory)[-1] for trajectory in trajectories} == {'{"success": true}'}
    assert [len(trajectory.tools) for trajectory in trajectories] == [2] * 5
    assert [trajectory.outcome["reward"] for trajectory in trajectories] == [1.0] * 5


def test_transcripts_of_coding_agents_have_their_turns() -> None:
    claude = only("claude-code", case("transcripts/claude-code-sample-session.jsonl"))
    assert actions(claude)[0].startswith('{"name": "Write", "arguments": {"file_path": ')
    assert (answers(claude)[0], first_line(answers(claude)[1])) == (
        "File written successfully",
        "[main abc1234] Add hello function",
    )
    codex = only("codex", case("transcripts/codex-tool-calls.jsonl"))
    assert len(codex.turns) == 3
    assert actions(codex)[0] == '{"name": "update_plan", "arguments": {"explanation": "review and commit"}}'
    assert answers(codex)[:2] == ["Plan updated", "Done"]
    assert codex.instruction == "create one focused commit"
    gemini = only("gemini-cli", case("transcripts/gemini-cli-tool-calls.json"))
    assert actions(gemini) == ['{"name": "read_file", "arguments": {"file_path": "OVERVIEW.md"}}']
    assert answers(gemini) == ["Project overview"]


def test_broken_lines_of_a_transcript_are_named_and_the_rest_counts() -> None:
    found = results("claude-code", case("transcripts/claude-code-edge-cases.jsonl"))
    problems = [result for result in found if isinstance(result, Problem)]
    assert [problem.line for problem in problems][:2] == [10, 11]
    (trajectory,) = (result for result in found if not isinstance(result, Problem | NoTrajectory))
    assert answers(trajectory) == ["Error: Tool execution failed with error: Command not found"]
    assert trajectory.turns[0].observation.error_kind == "tool"
    assert trajectory.loss.skipped["action without an observation"] >= 1
