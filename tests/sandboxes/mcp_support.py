"""What the tests of the MCP sandbox share: an engine that remembers its container, and the odd server."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandboxes.base import Sandbox
from sandboxes.engines import Container, ContainerSpec, Engine, EngineName, open_engine
from sandboxes.engines.base import Resource
from sandboxes.errors import EngineUnavailableError
from sandboxes.leases import LEASE_LABEL, Lease
from sandboxes.mcp import McpSandbox, McpServer
from trajectories import Action, JsonValue, Observation

ENGINES = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]

ODD_SERVER = Path(__file__).with_name("odd_mcp_server.py").read_bytes()


class WatchedEngine:
    """An engine whose last container the tests can look at, and end as an accident would."""

    def __init__(self, engine: Engine, lease: Lease) -> None:
        self._engine = engine
        self._lease = lease
        self.container: Container | None = None

    @property
    def name(self) -> str:
        return self._engine.name

    async def create(self, spec: ContainerSpec) -> Container:
        self.container = await self._engine.create(spec)
        return self.container

    async def owned(self) -> list[Resource]:
        return await self._engine.owned()

    async def remove(self, resource: Resource) -> None:
        await self._engine.remove(resource)

    async def close(self) -> None:
        await self._engine.close()

    async def remains(self) -> list[Resource]:
        """What is left of the sandboxes made here."""
        return [resource for resource in await self.owned() if resource.labels[LEASE_LABEL] == self._lease.id]


@asynccontextmanager
async def watched_engine(name: EngineName, state: Path) -> AsyncIterator[WatchedEngine]:
    with Lease.acquire("test-mcp", state=state) as lease:
        try:
            engine = WatchedEngine(await open_engine(name, lease), lease)
        except EngineUnavailableError as error:
            pytest.skip(str(error))
        try:
            yield engine
        finally:
            await engine.close()


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
