"""What an odd server answers is the observation, whatever it is."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandboxes.base import Sandbox
from sandboxes.mcp.wire import MESSAGE_CAP
from tests.sandboxes.mcp_support import call, odd_sandbox
from tests.sandboxes.watched_engine import WatchedEngine
from trajectories import Action, ErrorKind, JsonValue

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(watched_engine: WatchedEngine) -> AsyncIterator[Sandbox]:
    """One odd server; no test here ends it."""
    sandbox = odd_sandbox(watched_engine)
    await sandbox.start()
    yield sandbox
    await sandbox.close()


async def test_every_page_of_the_tool_list_is_read_and_kept_verbatim(sandbox: Sandbox) -> None:
    tools = {tool["name"]: tool for tool in sandbox.facts.tools}
    assert {"arguments", "chatter", "die", "echo", "surrogate"} <= tools.keys()
    assert tools["echo"] == {
        "name": "echo",
        "description": "Does echo",
        "inputSchema": {"type": "object"},
        "extra": {"kept": None},
    }


async def test_arguments_arrive_as_they_were_given(sandbox: Sandbox) -> None:
    arguments: dict[str, JsonValue] = {"null": None, "nested": {"none": None, "list": [1, 2.5, "é", {}]}, "": True}
    assert json.loads((await sandbox.step(Action.call("arguments", arguments))).text) == arguments


async def test_a_servers_noise_is_not_part_of_the_observation(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "chatter")
    assert observation.text == "after the chatter"
    assert observation.error_kind is None


async def test_a_picture_is_named_by_its_type_and_kept_whole_in_the_raw_events(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "picture")
    assert observation.text == "[image image/png, 5 bytes]"
    assert observation.raw is not None
    assert json.loads(list(observation.raw)[-1].data)["content"][0]["data"] == "aGVsbG8="


async def test_a_protocol_error_of_the_server_is_a_tool_error(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "refuse")
    assert observation.text == "MCP error -32050: I would rather not"
    assert observation.error_kind is ErrorKind.TOOL


async def test_an_answer_outside_the_protocol_is_shown_as_it_is(sandbox: Sandbox) -> None:
    assert (await call(sandbox, "malformed")).text == '{"content": "not a list"}'


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ('"result": null', "It is no JSON-RPC response"),
        ('"result": "hello"', "It is no JSON-RPC response"),
        ('"error": {"code": "x", "message": "m"}', "It is no JSON-RPC response"),
        ('"result": ' + '{"a": ' * 5000 + "1" + "}" * 5000, "Invalid JSON: recursion limit exceeded"),
        ('"result": {"a": NaN}', "Invalid JSON: Out of range float values"),
        ('"result": {"a": 1e999}', "Invalid JSON: Out of range float values"),
        ('"result": {"a": ' + "9" * 5000 + "}", "Invalid JSON: number out of range"),
    ],
    ids=["null", "text", "code", "deep", "nan", "infinite", "digits"],
)
async def test_a_malformed_answer_is_an_error_at_once_and_kept_as_it_came(
    sandbox: Sandbox, part: str, reason: str
) -> None:
    line = '{"jsonrpc": "2.0", "id": ID, ' + part + "}"
    observation = await call(sandbox, "raw", line=line)
    assert observation.text.startswith(f"MCP error -32603: The answer is malformed: {reason}")
    assert (observation.error_kind, observation.timed_out, observation.ended) == (ErrorKind.ENVIRONMENT, False, False)
    assert observation.raw is not None
    kept = json.loads(list(observation.raw)[-1].data)["error"]["data"]
    assert kept.partition(part)[1] == part
    assert (await call(sandbox, "echo", text="again")).text == "again"


async def test_a_line_that_only_looks_like_an_answer_is_noise(sandbox: Sandbox) -> None:
    for line in ('{"level": "info", "msg": NaN}', '{"jsonrpc": "2.0", "id": 12345, "result": null}'):
        answer = json.dumps({"jsonrpc": "2.0", "id": 0, "result": {"content": [{"type": "text", "text": "real"}]}})
        observation = await call(sandbox, "raw", line=f"{line}\n{answer.replace('0,', 'ID,')}")
        assert observation.text == "real"


async def test_text_that_cannot_be_stored_is_replaced(sandbox: Sandbox) -> None:
    assert (await call(sandbox, "surrogate")).text == "a\ufffdb"


async def test_a_long_answer_is_cut_and_says_its_true_size(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "long", characters=2**20)
    assert observation.text == "é" * 2**19
    assert observation.truncated
    assert observation.bytes_total == 2**21
    assert observation.raw is not None
    assert len(json.loads(list(observation.raw)[-1].data)["content"][0]["text"]) == 2**20


async def test_an_answer_too_large_to_take_is_counted_and_the_next_one_is_fine(sandbox: Sandbox) -> None:
    observation = await call(sandbox, "long", characters=MESSAGE_CAP // 4)
    assert observation.truncated
    assert observation.bytes_total > MESSAGE_CAP
    assert observation.error_kind is ErrorKind.ENVIRONMENT
    assert "is larger than" in observation.text
    assert not observation.ended
    assert (await call(sandbox, "echo", text="still here")).text == "still here"
