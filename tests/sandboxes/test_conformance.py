from __future__ import annotations

import pytest

from sandboxes.conformance import CHECKS, Check, carry_out, run_conformance
from sandboxes.conformance import check as kit
from sandboxes.engines import Container, ContainerSpec, Engine
from sandboxes.engines.docker import DockerEngine


@pytest.mark.parametrize("check", CHECKS, ids=str)
async def test_every_engine_conforms(engine: Engine, check: Check) -> None:
    await check.run(engine)


@pytest.mark.docker
async def test_a_fact_that_does_not_hold_is_a_result_with_what_was_seen(docker_engine: DockerEngine) -> None:
    @kit.of_container()
    async def the_moon_is_in_the_sandbox(container: Container) -> None:
        listing = await container.exec(["ls", "/moon"])
        kit.require(listing.exit_code == 0, listing.exit_code)

    result = await carry_out(the_moon_is_in_the_sandbox, docker_engine)
    assert (result.name, result.passed) == ("the moon is in the sandbox", False)
    assert result.detail == "ConformanceError: seen instead: 2"


async def test_an_engine_that_fails_in_its_own_way_is_a_result_too() -> None:
    class Broken:
        name = "broken"

        async def create(self, spec: ContainerSpec) -> None:
            raise ZeroDivisionError(spec.image)

    results = await run_conformance(Broken())  # type: ignore[arg-type] # that it is none is what is tested
    assert len(results) == len(CHECKS)
    assert not any(result.passed for result in results)


def test_every_check_is_named_as_a_fact() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS) > 40
    assert all(" " in check.name and "_" not in check.name for check in CHECKS)
