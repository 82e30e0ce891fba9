"""How a container begins and ends, by its owner's will or otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from sandboxes.conformance.check import IMAGE, fresh_container, of_container, of_engine, require
from sandboxes.engines.base import Container, ContainerSpec, Engine, Limits
from sandboxes.errors import SandboxDiedError
from sandboxes.leases import LEASE_LABEL
from trajectories import InputError

_DEADLINE_S = 10.0


async def _require_death(call: Awaitable[object]) -> None:
    """The call must say that the sandbox died, and soon."""
    try:
        async with asyncio.timeout(_DEADLINE_S):
            answer = await call
    except SandboxDiedError:
        return
    except TimeoutError:
        answer = "nothing"
    require(False, f"{answer!r} from a dead sandbox")


async def _owned_ids(engine: Engine) -> set[str]:
    return {resource.id for resource in await engine.owned()}


async def _ids_of_the_same_lease(engine: Engine, container: Container) -> set[str]:
    """Others may use the same engine meanwhile: only what this one's lease owns counts."""
    owned = await engine.owned()
    leases = [resource.labels[LEASE_LABEL] for resource in owned if resource.id == container.id]
    return {resource.id for resource in owned if resource.labels[LEASE_LABEL] in leases}


@of_engine
async def an_image_that_is_not_there_is_named_in_the_error(engine: Engine) -> None:
    try:
        await engine.create(ContainerSpec(image="no-such-image"))
    except InputError as error:
        require("no-such-image" in str(error), str(error))
    else:
        require(False, "a container")


@of_engine
async def closing_is_idempotent_and_leaves_nothing_behind(engine: Engine) -> None:
    async with fresh_container(engine) as container:
        require(await container.alive(), "a dead container")
        require(container.id in await _owned_ids(engine), "a container without our labels")
        await container.close()
        require(not await container.alive(), "a living container")
        require(container.id not in await _owned_ids(engine), "the container, still there")
        await container.close()


@of_engine
async def a_cancelled_start_leaves_nothing_behind(engine: Engine) -> None:
    async with fresh_container(engine) as container:
        before = await _ids_of_the_same_lease(engine, container)
        for pause_s in (0.0, 0.02, 0.1):
            start = asyncio.create_task(engine.create(ContainerSpec(image=IMAGE)))
            await asyncio.wait([start], timeout=pause_s)
            start.cancel()
            await asyncio.wait([start])
            if not start.cancelled():
                await start.result().close()
            after = await _ids_of_the_same_lease(engine, container)
            require(after == before, f"{len(after - before)} left after {pause_s} s")


@of_container()
async def a_killed_sandbox_is_reported_as_such(container: Container) -> None:
    await container.kill()
    require(not await container.alive(), "a living container")
    await _require_death(container.exec(["true"]))
    await _require_death(container.oom_kills())
    await _require_death(container.write_files({"a": b"b"}))
    await _require_death(container.open_pty(["bash"], rows=24, columns=80))
    await container.close()


@of_container()
async def a_sandbox_killed_during_a_command_is_reported_as_such(container: Container) -> None:
    command = asyncio.create_task(container.exec(["sh", "-c", "echo > /tmp/started; sleep 300"]))
    await container.exec(["bash", "-c", "until [[ -e /tmp/started ]]; do sleep 0.02; done"])
    await container.kill()
    await _require_death(command)


@of_container()
async def the_streams_of_a_killed_sandbox_end(container: Container) -> None:
    shell = await container.open_pty(["bash"], rows=24, columns=80)
    pipes = await container.open_pipes(["cat"])
    await container.kill()
    async with asyncio.timeout(_DEADLINE_S):
        async for _ in shell:
            pass
        async for _ in pipes:
            pass
    require(await shell.exit_code() is None and await pipes.exit_code() is None, "an exit code")
    await _require_death(pipes.write(bytes(2**20)))
    await shell.close()
    await pipes.close()


@of_container(Limits(lifetime_s=1.0))
async def a_sandbox_ends_itself_after_its_lifetime(container: Container) -> None:
    pipes = await container.open_pipes(["cat"])
    async with asyncio.timeout(_DEADLINE_S):
        async for _ in pipes:
            pass
    await _require_death(container.exec(["true"]))
