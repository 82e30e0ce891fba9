"""Hardened containers from a Docker daemon."""

from __future__ import annotations

import asyncio
import uuid

from docker import APIClient
from docker.errors import APIError, ImageNotFound

from sandboxes.engines.base import ContainerSpec, Resource
from sandboxes.engines.closing import close_all
from sandboxes.engines.docker import resources
from sandboxes.engines.docker.container import DockerContainer, remove_container
from sandboxes.engines.docker.daemon import Daemon
from sandboxes.engines.docker.hardening import container_config
from sandboxes.engines.docker.processes import ProcessTable
from sandboxes.engines.docker.warden import Warden, warden_command
from sandboxes.engines.uninterrupted import uninterrupted
from sandboxes.errors import ImageMissingError, SandboxError
from sandboxes.images.docker_image import docker_tag
from sandboxes.leases import Lease


class DockerEngine:
    """See ``sandboxes.engines.base.Engine``.

    Every container carries the lease's labels, ends itself after its lifetime or as soon as this process is gone, and
    is then removed by the daemon.
    """

    name = "docker"

    def __init__(self, daemon: Daemon, lease: Lease, *, max_creates: int, max_exec_starts: int) -> None:
        self._daemon = daemon
        self._lease = lease
        self._creates = asyncio.Semaphore(max_creates)
        self._exec_starts = asyncio.Semaphore(max_exec_starts)
        self._containers: set[DockerContainer] = set()

    @classmethod
    async def connect(cls, lease: Lease, *, max_creates: int = 4, max_exec_starts: int = 8) -> DockerEngine:
        """An engine on ``$DOCKER_HOST`` or this machine's own daemon.

        Args:
            lease: the owner of all that is made.
            max_creates: containers being created at the same time.
            max_exec_starts: processes being started at the same time, over all containers.

        Raises ``EngineUnavailableError`` where no daemon answers.
        """
        daemon = await Daemon.connect(num_threads=max_creates + max_exec_starts)
        return cls(daemon, lease, max_creates=max_creates, max_exec_starts=max_exec_starts)

    async def create(self, spec: ContainerSpec) -> DockerContainer:
        async with self._creates:
            # Named beforehand, so that it can be removed whatever is known of it when something goes wrong.
            name = f"worldtape-{self._lease.id}-{uuid.uuid4().hex[:12]}"
            try:
                container = await self._start(name, spec)
            except APIError as error:
                await uninterrupted(remove_container(self._daemon, name))
                raise SandboxError(f"Docker could not start it: {error.explanation}", where=spec.image) from error
            except BaseException:
                await uninterrupted(remove_container(self._daemon, name))
                raise
        self._containers.add(container)
        return container

    async def owned(self) -> list[Resource]:
        return await resources.owned(self._daemon)

    async def remove(self, resource: Resource) -> None:
        await resources.remove(self._daemon, resource)

    async def close(self) -> None:
        """Close every container it made. Idempotent."""
        try:
            await close_all(tuple(self._containers))
        finally:
            await self._daemon.close()

    async def _start(self, name: str, spec: ContainerSpec) -> DockerContainer:
        digest = await self._image_digest(spec.image)
        labels = self._lease.labels(spec.limits.lifetime_s)
        config = container_config(spec, digest, warden_command(spec.limits.lifetime_s), labels)
        created = await self._daemon.call(APIClient.create_container_from_config, config, name)
        if created["Warnings"]:
            raise SandboxError(f"Docker cannot harden it: {' '.join(created['Warnings'])}", where=spec.image)
        container_id = created["Id"]
        attached = await self._daemon.hijack(f"/containers/{container_id}/attach?stream=1&stdin=1&stdout=1")
        warden = Warden(container_id, attached)
        try:
            await self._daemon.call(APIClient.start, container_id)
            await warden.instruct()
        except BaseException:
            await warden.close()
            raise
        processes = ProcessTable(container_id, self._daemon, warden, self._exec_starts)
        return DockerContainer(container_id, digest, self._daemon, warden, processes, self._containers.discard)

    async def _image_digest(self, image: str) -> str:
        try:
            facts = await self._daemon.call(APIClient.inspect_image, docker_tag(image))
        except ImageNotFound as error:
            raise ImageMissingError(
                "a sandbox image is not built", where=f"image {image}", mend=f"run: worldtape images build {image}"
            ) from error
        digest: str = facts["Id"]
        return digest
