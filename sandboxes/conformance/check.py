"""What a conformance check is, and how one is made of a small function."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from sandboxes.engines.base import Container, ContainerSpec, Engine, Limits
from trajectories import WorldtapeError

IMAGE = "terminal"
"""The image the checks run in; they need its bash, coreutils and python3."""

EngineCheck: TypeAlias = Callable[[Engine], Awaitable[None]]
ContainerCheck: TypeAlias = Callable[[Container], Awaitable[None]]


class ConformanceError(WorldtapeError):
    """An engine does not do what every engine must."""


@dataclass(frozen=True, slots=True)
class Check:
    """A fact that holds for every engine. ``run`` raises ``ConformanceError`` where it does not."""

    name: str
    run: EngineCheck

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether a fact holds for an engine, and if not, what was seen instead."""

    name: str
    passed: bool
    detail: str
    duration_s: float


def of_engine(check: EngineCheck) -> Check:
    """A check that makes its own containers."""
    return Check(_sentence(check.__name__), check)


def of_container(limits: Limits | None = None) -> Callable[[ContainerCheck], Check]:
    """A check of one fresh container with these limits."""

    def decorate(check: ContainerCheck) -> Check:
        async def run(engine: Engine) -> None:
            async with fresh_container(engine, limits) as container:
                await check(container)

        return Check(_sentence(check.__name__), run)

    return decorate


@asynccontextmanager
async def fresh_container(engine: Engine, limits: Limits | None = None) -> AsyncIterator[Container]:
    container = await engine.create(ContainerSpec(image=IMAGE, limits=limits or Limits()))
    try:
        yield container
    finally:
        await container.close()


def require(fact: bool, seen: object) -> None:
    """Raise ``ConformanceError`` with what was seen unless ``fact`` holds."""
    if not fact:
        raise ConformanceError(f"seen instead: {seen!r}")


async def carry_out(check: Check, engine: Engine) -> CheckResult:
    """Run one check; whatever goes wrong in it is its result."""
    started = time.monotonic()
    try:
        await check.run(engine)
    except Exception as error:
        return CheckResult(check.name, False, f"{type(error).__name__}: {error}", time.monotonic() - started)
    return CheckResult(check.name, True, "", time.monotonic() - started)


def _sentence(function_name: str) -> str:
    return function_name.replace("_", " ")
