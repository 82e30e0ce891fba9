"""An engine that a test can look into."""

from __future__ import annotations

from sandboxes.engines import Container, ContainerSpec, Engine, Resource
from sandboxes.leases import LEASE_LABEL, Lease


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
