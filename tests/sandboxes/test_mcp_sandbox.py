"""The MCP sandbox over the three real servers, in real containers."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandboxes.base import Sandbox
from sandboxes.mcp import McpSandbox
from tests.sandboxes.mcp_support import call
from tests.sandboxes.watched_engine import WatchedEngine
from trajectories import Action, ErrorKind
from trajectories.renderers.mcp_text import RENDERER, render

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(watched_engine: WatchedEngine) -> AsyncIterator[Sandbox]:
    sandbox = McpSandbox(
        watched_engine,
        files={"notes.txt": "naïve 漢字\n".encode(), "repo/README.md": b"# A project\n"},
        setup=["printf 'two\\n' > repo/second.txt", "mkdir 'a folder'"],
    )
    await sandbox.start()
    yield sandbox
    await sandbox.close()


async def test_the_facts_hold_every_servers_own_tool_list(sandbox: Sandbox) -> None:
    tools = {tool["name"]: tool for tool in sandbox.facts.tools}
    assert {"read_text_file", "git_status", "read_query"} <= tools.keys()
    assert tools["read_query"] == {
        "name": "read_query",
        "description": "Execute a SELECT query on the SQLite database",
        "inputSchema": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "SELECT SQL query to execute"}},
            "required": ["query"],
        },
    }
    assert all(isinstance(tool["inputSchema"], dict) for tool in tools.values())
    assert json.loads(json.dumps(sandbox.facts.tools)) == sandbox.facts.tools


async def test_the_action_space_shows_every_tool_with_its_schema(sandbox: Sandbox) -> None:
    shown = [json.loads(line) for line in sandbox.facts.prompt.action_space.splitlines()[1:]]
    assert [(tool["name"], tool["inputSchema"]) for tool in shown] == [
        (tool["name"], tool["inputSchema"]) for tool in sandbox.facts.tools
    ]


async def test_the_initial_state_says_what_there_is(sandbox: Sandbox) -> None:
    servers, _, files = sandbox.facts.prompt.initial_state.partition("\n\n")
    assert "- sqlite (sqlite 0.1.0): read_query, write_query, " in servers
    assert files.splitlines() == [
        "Files in /workspace:",
        "a folder/",
        "data.db (0 bytes)",
        "notes.txt (14 bytes)",
        "repo/",
        "repo/.git/",
        "repo/README.md (12 bytes)",
        "repo/second.txt (4 bytes)",
    ]
    assert sandbox.facts.versions.keys() == {"filesystem", "git", "sqlite"}
    assert sandbox.facts.network == "none"


async def test_an_observation_is_the_tools_own_text(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "read_text_file", path="/workspace/notes.txt")
    assert observation.text == "naïve 漢字\n"
    assert observation.bytes_total == 14
    assert observation.error_kind is None
    assert observation.renderer == RENDERER
    assert 0 < observation.settle_s < 20


async def test_the_git_server_has_a_repository_with_one_commit_and_what_the_task_added(sandbox: Sandbox) -> None:
    log = await call(sandbox, "git_log", repo_path="/workspace/repo")
    assert log.text.count("Commit: ") == 1
    assert "Message: Initial commit" in log.text
    status = await call(sandbox, "git_status", repo_path="/workspace/repo")
    assert "Untracked files" in status.text
    assert "second.txt" in status.text
    assert "README.md" not in status.text


async def test_what_one_call_changes_the_next_one_sees(sandbox: Sandbox) -> None:
    await call(sandbox, "create_table", query="CREATE TABLE cities (name TEXT)")
    await call(sandbox, "write_query", query="INSERT INTO cities VALUES ('Zürich')")
    assert (await call(sandbox, "read_query", query="SELECT name FROM cities")).text == "[{'name': 'Zürich'}]"


async def test_arguments_against_the_schema_are_answered_by_the_server(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "read_query", sql=1)
    assert observation.text == "Input validation error: 'query' is a required property"
    assert observation.error_kind is ErrorKind.TOOL
    assert observation.error == observation.text


async def test_a_path_outside_the_workspace_is_refused_by_the_server(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "read_text_file", path="/etc/passwd")
    assert observation.text.startswith("Access denied")
    assert observation.error_kind is ErrorKind.TOOL


async def test_an_unknown_tool_is_the_agents_error(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "make_coffee")
    assert observation.text == "MCP error -32602: Unknown tool: make_coffee"
    assert observation.error_kind is ErrorKind.AGENT


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "git_status",
        {},
        {"name": ""},
        {"name": 7, "arguments": {}},
        {"name": "git_status", "arguments": ["repo"]},
        {"name": "git_status", "args": {}},
        {"name": "git_status", "arguments": {"repo_path": float("nan")}},
        {"name": "git_status", "arguments": {"repo_path": "\ud800"}},
    ],
)
async def test_a_malformed_action_is_the_agents_error(sandbox: Sandbox, payload: object) -> None:
    observation = await sandbox.step(Action("?", payload))  # type: ignore[arg-type]  # what an agent might send
    assert observation.text.startswith("MCP error -32600: Invalid request: ")
    assert observation.error_kind is ErrorKind.AGENT
    assert not observation.ended


async def test_the_raw_events_hold_the_request_and_the_whole_answer(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "read_text_file", path="/workspace/notes.txt")
    assert observation.raw is not None
    request, answer = observation.raw
    assert (request.kind, answer.kind) == ("i", "o")
    assert json.loads(request.data) == {
        "server": "filesystem",
        "name": "read_text_file",
        "arguments": {"path": "/workspace/notes.txt"},
    }
    assert json.loads(answer.data)["structuredContent"] == {"content": "naïve 漢字\n"}
    assert 0 < request.seconds <= answer.seconds


@pytest.mark.parametrize("tool", ["list_allowed_directories", "git_status", "no_such_tool"])
async def test_the_text_can_be_rendered_again_from_the_raw_events(sandbox: Sandbox, tool: str) -> None:
    observation = await call(sandbox, tool)
    assert observation.raw is not None
    assert render(json.loads(list(observation.raw)[-1].data)) == observation.text
