"""Of a sandbox that died, a source may tell in the last answer alone, in the words of its harness."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.trajectories.importers.import_support import written
from trajectories import Dataset, ErrorKind
from trajectories.importers import import_trajectories

DEATHS = [
    "Error response from daemon: container 9f is not running",
    "Error response from daemon: No such container: 9f86d081884c\n",
    "Error: container died unexpectedly",
    "[sandbox terminated]",
    "Sandbox timed out and was destroyed",
    "ERROR: Command execution failed: the runtime has crashed. Please restart.",
    'docker.errors.APIError: 409 Client Error: Conflict ("container is not running")',
    "tmux session terminated",
    "COMMAND TIMED OUT. SHELL EXITED",
    "The action has not been executed due to a runtime error. The runtime system may have crashed.",
    "AgentRuntimeDisconnectedError: Server disconnected without sending a response.",
    "\nBROKEN PIPE ERROR. RESTARTING PROCESS.",
    "Exit due to environment error",
    "no server running on /tmp/tmux-0/default",
    "OCI runtime exec failed: exec failed: cannot exec in a stopped container: unknown",
]
OF_THE_WORLD = [
    "",
    "container.py:3: error",
    "The runtime of the sort is n log n",
    "Error: the service was terminated",
    "Error response from daemon: container 9f is not running\nmake: *** [up] Error 1",
    "starting\nError response from daemon: container 9f is not running",
    "The sandbox terminated 3 processes that\nhad been left behind",
    "the process was killed",
    "The sandbox terminated 3 processes",
    " Container web-1  Stopped",
    "Container stopped responding to health checks",
    "Connection to 10.0.0.7 closed.",
]


def _kinds(folder: Path, *answered: tuple[str, str]) -> tuple[list[str | None], int]:
    """The kinds of error of the turns, and how many were inferred, of commands and what answered them."""
    messages: list[object] = [{"role": "user", "content": "go"}]
    for number, (command, text) in enumerate(answered):
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        messages.append({"role": "assistant", "tool_calls": [{"id": str(number), "function": function}]})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": text})
    data = Dataset(folder / "data")
    report = import_trajectories(data, "messages", [written(folder, "a.jsonl", {"messages": messages})], licence="MIT")
    kinds = data.scan_turns().sort("turn").collect()["error_kind"].to_list()
    return kinds, report.loss.inferred["end of the sandbox, by the words of the last answer"]


@pytest.mark.parametrize("text", DEATHS)
def test_the_last_answer_tells_that_the_sandbox_is_gone(text: str, tmp_path: Path) -> None:
    assert _kinds(tmp_path, ("ls", "a"), ("make", text)) == ([None, ErrorKind.ENVIRONMENT], 1)


@pytest.mark.parametrize("text", OF_THE_WORLD)
def test_what_the_world_says_of_an_end_is_no_death(text: str, tmp_path: Path) -> None:
    assert _kinds(tmp_path, ("ls", "a"), ("make", text)) == ([None, None], 0)


def test_where_the_session_goes_on_the_sandbox_was_not_gone(tmp_path: Path) -> None:
    assert _kinds(tmp_path, ("make", DEATHS[0]), ("ls", "a")) == ([None, None], 0)


def test_an_agent_that_works_with_containers_sees_theirs_end(tmp_path: Path) -> None:
    assert _kinds(tmp_path, ("ls", "a"), ("docker exec web ls", DEATHS[0])) == ([None, None], 0)
