"""Container engines: Docker and bubblewrap behind one interface."""

from __future__ import annotations

from typing import Literal, TypeAlias

from sandboxes.engines.base import Container, ContainerSpec, Engine, ExecResult, Limits, PipeStream, Resource, Stream
from sandboxes.errors import EngineUnavailableError
from sandboxes.leases import Lease
from trajectories import InputError

__all__ = [
    "Container",
    "ContainerSpec",
    "Engine",
    "EngineName",
    "ExecResult",
    "Limits",
    "PipeStream",
    "Resource",
    "Stream",
    "open_engine",
]

EngineName: TypeAlias = Literal["auto", "docker", "bubblewrap"]


async def open_engine(name: EngineName, lease: Lease) -> Engine:
    """The engine of that name; ``auto`` is Docker where it answers, else bubblewrap.

    Raises ``EngineUnavailableError`` where it cannot be had; the message says how to get one.
    """
    match name:
        case "docker":
            return await _docker(lease)
        case "bubblewrap":
            return await _bubblewrap(lease)
        case "auto":
            return await _first_available(lease)
        case _:
            raise InputError("there is no such engine", where=repr(name), mend="use auto, docker or bubblewrap")


async def _first_available(lease: Lease) -> Engine:
    try:
        return await _docker(lease)
    except EngineUnavailableError as no_docker:
        try:
            return await _bubblewrap(lease)
        except EngineUnavailableError as no_bubblewrap:
            raise EngineUnavailableError(
                f"no container engine: {no_docker.what}; {no_bubblewrap.what}",
                mend="install one: sudo apt-get install docker.io, or sudo apt-get install bubblewrap",
            ) from no_bubblewrap


async def _docker(lease: Lease) -> Engine:
    from sandboxes.engines.docker import DockerEngine  # needs the 'collect' extra

    return await DockerEngine.connect(lease)


async def _bubblewrap(lease: Lease) -> Engine:
    from sandboxes.engines.bubblewrap import BubblewrapEngine

    return await BubblewrapEngine.connect(lease)
