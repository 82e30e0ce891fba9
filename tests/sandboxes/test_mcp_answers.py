"""What an odd server answers is the observation, whatever it is."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandboxes.base import Sandbox
from sandboxes.mcp.wire import MESSAGE_CAP
from tests.sandboxes.mcp_support import ENGINES, WatchedEngine, call, odd_sandbox, watched_engine
from trajectories import Action, ErrorKind, JsonValue

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(params=ENGINES, scope="module", loop_scope="module")
async def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[WatchedEngine]:
    async with watched_engine(request.param, tmp_path_factory.mktemp("state")) as engine:
        yield engine


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(engine: WatchedEngine) -> AsyncIterator[Sandbox]:
    """One odd server; no test here ends it."""
    sandbox = odd_sandbox(engine)
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
