"""Servers that crash, hang, flood and lie harm the turn they are called in, never the sandbox or the collector."""

import asyncio
import json

import pytest

from sandboxes.errors import SandboxError
from sandboxes.mcp import McpSandbox, McpServer
from tests.sandboxes.mcp_support import call, odd_sandbox, odd_server, slow_call
from tests.sandboxes.watched_engine import WatchedEngine
from trajectories import ErrorKind, InputError, Observation

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_tools_of_the_same_name_carry_their_servers_name(watched_engine: WatchedEngine) -> None:
    sandbox = odd_sandbox(watched_engine, servers=[odd_server("left"), odd_server("right")])
    await sandbox.start()
    try:
        names = {tool["name"] for tool in sandbox.facts.tools}
        assert {"left__echo", "right__echo"} <= names
        assert "echo" not in names
        observation = await call(sandbox, "right__echo", text="hi")
        assert observation.text == "hi"
        assert observation.raw is not None
        assert json.loads(next(iter(observation.raw)).data)["server"] == "right"
    finally:
        await sandbox.close()


@pytest.mark.parametrize("tool", ["hang", "flood"])
async def test_a_call_without_an_answer_times_out_and_ends_its_server_only(
    watched_engine: WatchedEngine, tool: str
) -> None:
    sandbox = odd_sandbox(watched_engine, servers=[odd_server("left", "well"), odd_server("right")], call_timeout_s=1.0)
    await sandbox.start()
    try:
        observation = await call(sandbox, f"left__{tool}")
        assert observation.timed_out
        assert observation.text == "MCP error -32001: Request timed out"
        assert observation.error == f"'{tool}' gave no answer within 1 s"
        assert not observation.ended
        running = (await call(sandbox, "right__processes")).text
        assert "odd.py well" not in running
        assert (await call(sandbox, "left__echo", text="again")).text == "again"
    finally:
        await sandbox.close()


async def test_a_crash_is_an_environment_error_with_the_servers_last_words(watched_engine: WatchedEngine) -> None:
    sandbox = odd_sandbox(watched_engine, max_restarts=1)
    await sandbox.start()
    try:
        observation = await call(sandbox, "die")
        assert observation.text == "MCP error -32000: Connection closed"
        assert observation.error_kind is ErrorKind.ENVIRONMENT
        assert observation.error == "the MCP server 'odd' ended with exit code 3 (ValueError: out of ideas)"
        assert not observation.ended
        assert (await call(sandbox, "echo", text="again")).text == "again"
        assert (await call(sandbox, "die")).ended, "it was restarted once, and is the only server"
        late = await call(sandbox, "echo", text="again")
        assert late.ended
        assert late.error == "the MCP server 'odd' has ended too often and is not started again"
    finally:
        await sandbox.close()


CHANGED = '{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'
CHANGED_RIGHT = {"tools_changed": ["right"]}


async def test_a_server_that_changes_its_tools_is_named_in_the_outcome_and_the_recording(
    watched_engine: WatchedEngine,
) -> None:
    sandbox = odd_sandbox(watched_engine, servers=[odd_server("left"), odd_server("right")])
    await sandbox.start()
    try:
        declared = sandbox.facts.tools
        before = await call(sandbox, "left__echo", text="hello")
        assert (before.outcome, marks_of(before)) == ({}, [])
        answer = '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": "grown"}]}}'
        changed = await call(sandbox, "right__raw", line=f"{CHANGED}\n{answer}")
        assert (changed.outcome, marks_of(changed)) == (CHANGED_RIGHT, ["the tools of right have changed"])
        after = await call(sandbox, "left__echo", text="hello")
        assert (after.outcome, marks_of(after)) == (CHANGED_RIGHT, [])
        assert (changed.text, after.text) == ("grown", "hello")
        assert sandbox.facts.tools == declared
    finally:
        await sandbox.close()


async def test_a_server_that_comes_up_again_with_other_tools_is_named_too(watched_engine: WatchedEngine) -> None:
    sandbox = odd_sandbox(watched_engine, servers=[odd_server("odd", "other-tools-next-time")])
    await sandbox.start()
    try:
        assert [tool["name"] for tool in sandbox.facts.tools] == ["die", "first"]
        assert (await call(sandbox, "die")).outcome == {}
        again = await call(sandbox, "die")
        assert again.outcome == {"tools_changed": ["odd"]}
        assert marks_of(again) == ["the tools of odd have changed"]
    finally:
        await sandbox.close()


def marks_of(observation: Observation) -> list[str]:
    assert observation.raw is not None
    return [event.data for event in observation.raw if event.kind == "m"]


async def test_a_server_that_takes_too_much_memory_is_ended_and_the_limit_named(watched_engine: WatchedEngine) -> None:
    sandbox = odd_sandbox(watched_engine)
    await sandbox.start()
    try:
        observation = await call(sandbox, "hoard")
        assert observation.error_kind is ErrorKind.ENVIRONMENT
        assert observation.error == f"the memory limit of {512 * 2**20} bytes ended a process"
        assert (await call(sandbox, "echo", text="again")).text == "again"
    finally:
        await sandbox.close()


@pytest.mark.parametrize("moment", ["between calls", "during a call"])
async def test_a_killed_sandbox_is_reported_as_such(watched_engine: WatchedEngine, moment: str) -> None:
    sandbox = odd_sandbox(watched_engine)
    await sandbox.start()
    try:
        assert watched_engine.container is not None
        if moment == "between calls":
            await watched_engine.container.kill()
            observation = await call(sandbox, "echo", text="anybody?")
        else:
            calling = await slow_call(sandbox, watched_engine.container)
            await watched_engine.container.kill()
            observation = await calling
        assert observation.ended
        assert observation.error_kind is ErrorKind.ENVIRONMENT
        assert observation.error == "the container died"
        assert observation.text == "MCP error -32000: Connection closed"
    finally:
        await sandbox.close()


@pytest.mark.parametrize(
    ("how", "timeout_s", "message"),
    [
        ("dying", 20, r"'odd' ended with exit code 3 \(ValueError: out of ideas\) before it was initialised"),
        (
            "silent",
            3,
            r"does not answer initialize and tools/list within 3 s \(hanging now\) \(python3 /workspace/odd.py",
        ),
        ("garbage", 3, r"does not answer initialize and tools/list within 3 s \(Welcome to the odd server\)"),
        ("flooding", 1, r"does not answer initialize and tools/list within 1 s"),
        ("endless-line", 1, r"does not answer initialize and tools/list within 1 s"),
        ("endless-pages", 1, r"does not answer initialize and tools/list within 1 s"),
        ("refusing", 20, r"the MCP server 'odd' refuses to start: no licence"),
        (
            "other-version",
            20,
            r"answers outside the protocol: Unsupported protocol version from the server: 1999-01-01",
        ),
        ("bad-tools", 20, r"answers outside the protocol: "),
        ("deep-tools", 20, r"answers outside the protocol: The answer is malformed: .*recursion limit"),
        ("same-tool-twice", 20, r"the MCP server 'odd' lists the tool 'odd__echo' twice"),
    ],
)
async def test_a_server_that_cannot_start_is_one_clear_error_that_leaves_nothing(
    watched_engine: WatchedEngine, how: str, timeout_s: float, message: str
) -> None:
    sandbox = odd_sandbox(watched_engine, servers=[odd_server("odd", how)], start_timeout_s=timeout_s)
    with pytest.raises(SandboxError, match=message) as raised:
        async with asyncio.timeout(30):
            await sandbox.start()
    assert "\n" not in str(raised.value)
    assert not await watched_engine.remains()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_command_that_does_not_exist_is_one_clear_error(watched_engine: WatchedEngine) -> None:
    sandbox = odd_sandbox(watched_engine, servers=[McpServer(name="none", command=("no-such-program",))])
    with pytest.raises(SandboxError, match="no-such-program"):
        await sandbox.start()
    assert not await watched_engine.remains()


async def test_close_ends_what_a_server_left_running(watched_engine: WatchedEngine) -> None:
    sandbox = odd_sandbox(watched_engine)
    await sandbox.start()
    await call(sandbox, "spawn")
    assert "sleep 1234" in (await call(sandbox, "processes")).text
    await sandbox.close()
    assert not await watched_engine.remains()


async def test_close_may_come_from_another_task_while_a_call_runs_and_twice(watched_engine: WatchedEngine) -> None:
    sandbox = odd_sandbox(watched_engine)
    await asyncio.create_task(sandbox.start())
    assert watched_engine.container is not None
    calling = await slow_call(sandbox, watched_engine.container)
    await asyncio.create_task(sandbox.close())
    assert (await calling).ended
    await sandbox.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_cancelled_call_leaves_a_sandbox_that_still_works(watched_engine: WatchedEngine) -> None:
    sandbox = odd_sandbox(watched_engine)
    await sandbox.start()
    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await call(sandbox, "slow", seconds=1)
        assert (await call(sandbox, "echo", text="next")).text == "next"
    finally:
        await sandbox.close()


@pytest.mark.parametrize("after_s", [0.05, 0.4, 1.0])
async def test_a_cancelled_start_leaves_nothing(watched_engine: WatchedEngine, after_s: float) -> None:
    sandbox = odd_sandbox(watched_engine, servers=[odd_server("odd", "silent")])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(after_s):
            await sandbox.start()
    await sandbox.close()
    assert not await watched_engine.remains()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_failing_set_up_command_is_named_and_leaves_nothing(watched_engine: WatchedEngine) -> None:
    sandbox = McpSandbox(watched_engine, servers=["sqlite"], setup=["echo oh dear >&2; exit 4"])
    with pytest.raises(SandboxError, match=r"a set-up command failed with exit code 4: oh dear \(echo oh dear"):
        await sandbox.start()
    assert not await watched_engine.remains()


async def test_a_file_that_leaves_the_workspace_is_refused(watched_engine: WatchedEngine) -> None:
    with pytest.raises(InputError):
        await McpSandbox(watched_engine, servers=["sqlite"], files={"../etc/x": b""}).start()
    assert not await watched_engine.remains()
