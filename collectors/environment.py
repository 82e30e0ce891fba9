"""An engine whose containers all get some environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sandboxes.engines.base import Container, ContainerSpec, Engine, Resource


@dataclass(frozen=True, slots=True)
class EngineWithEnvironment:
    """Any engine, and variables (name → value) that whatever runs in its containers can read."""

    engine: Engine
    env: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.engine.name

    async def create(self, spec: ContainerSpec) -> Container:
        return await self.engine.create(replace(spec, env={**spec.env, **self.env}))

    async def owned(self) -> list[Resource]:
        return await self.engine.owned()

    async def remove(self, resource: Resource) -> None:
        await self.engine.remove(resource)

    async def close(self) -> None:
        await self.engine.close()
