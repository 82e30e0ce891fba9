"""What the tests of the MCP sandbox share: the odd server."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from sandboxes.base import Sandbox
from sandboxes.engines import Container, Engine
from sandboxes.mcp import McpSandbox, McpServer
from trajectories import Action, JsonValue, Observation

ODD_SERVER = Path(__file__).with_name("odd_mcp_server.py").read_bytes()


def odd_server(name: str = "odd", *how: str) -> McpServer:
    return McpServer(name=name, command=("python3", "/workspace/odd.py", *how))


def odd_sandbox(
    engine: Engine, *, servers: Sequence[McpServer] = (odd_server(),), call_timeout_s: float = 20.0, **options: float
) -> McpSandbox:
    """A sandbox of odd servers only."""
    return McpSandbox(
        engine,
        files={"odd.py": ODD_SERVER},
        servers=servers,
        call_timeout_s=call_timeout_s,
        start_timeout_s=options.get("start_timeout_s", 20.0),
        max_restarts=int(options.get("max_restarts", 3)),
    )


async def call(sandbox: Sandbox, tool: str, **arguments: JsonValue) -> Observation:
    return await sandbox.step(Action.call(tool, arguments))


async def slow_call(sandbox: Sandbox, container: Container) -> asyncio.Task[Observation]:
    """A call that takes a minute, and that the odd server is known to be carrying out."""
    calling = asyncio.create_task(call(sandbox, "slow", seconds=60))
    began = await container.exec(["bash", "-c", "until [ -e /workspace/slow ]; do sleep 0.02; done"], timeout_s=20)
    assert began.exit_code == 0
    return calling
