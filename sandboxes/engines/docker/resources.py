"""Everything on a daemon that carries a lease's labels, whoever made it."""

from __future__ import annotations

from docker import APIClient
from docker.errors import APIError, NotFound

from sandboxes.engines.base import Resource
from sandboxes.engines.docker.container import remove_container
from sandboxes.engines.docker.daemon import Daemon
from sandboxes.errors import SandboxError
from sandboxes.leases import LEASE_LABEL

_OURS = {"label": LEASE_LABEL}


async def owned(daemon: Daemon) -> list[Resource]:
    """Containers in any state, networks, volumes, and images that never got their name."""
    containers = await daemon.call(APIClient.containers, all=True, filters=_OURS)
    networks = await daemon.call(APIClient.networks, filters=_OURS)
    volumes = await daemon.call(APIClient.volumes, filters=_OURS)
    images = await daemon.call(APIClient.images, filters={**_OURS, "dangling": True})
    return [
        *(Resource(kind="container", id=facts["Id"], labels=facts["Labels"]) for facts in containers),
        *(Resource(kind="network", id=facts["Id"], labels=facts["Labels"]) for facts in networks),
        *(Resource(kind="volume", id=facts["Name"], labels=facts["Labels"]) for facts in volumes["Volumes"] or ()),
        *(Resource(kind="image", id=facts["Id"], labels=facts["Labels"]) for facts in images),
    ]


async def remove(daemon: Daemon, resource: Resource) -> None:
    try:
        match resource.kind:
            case "container":
                await remove_container(daemon, resource.id)
            case "network":
                await daemon.call(APIClient.remove_network, resource.id)
            case "volume":
                await daemon.call(APIClient.remove_volume, resource.id)
            case "image":
                await daemon.call(APIClient.remove_image, resource.id)
    except NotFound:
        return  # somebody else was faster
    except APIError as error:
        what = f"Docker could not remove a {resource.kind}: {error.explanation}"
        raise SandboxError(what, where=resource.id) from error
