"""Build a sandbox image for an engine, once."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from sandboxes.images import docker_image, unpacked
from sandboxes.images.definition import ImageDefinition, image_definition
from sandboxes.images.folders import images_folder
from sandboxes.leases import Lease

ImageEngine = Literal["docker", "bubblewrap"]


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image an engine can run. ``digest`` goes into every recording made in it."""

    name: str
    engine: ImageEngine
    digest: str
    is_new: bool
    """False where it was there already."""


def build_image(name: str, *, engine: ImageEngine, progress: Callable[[str], None] = lambda _: None) -> BuiltImage:
    """Build the image ``name`` for ``engine`` unless its present version is there already.

    Docker images stand on the registry's Debian, or, where none answers, on one made by mmdebstrap; bubblewrap's are
    made by mmdebstrap, or, where that cannot run, of this machine's own ``/usr``. ``progress`` gets one line a step.
    Two builds of one image wait for each other. A failed or killed build leaves no image and may simply be run again;
    what a killed one was working on carries its lease, and ``sandboxes.gc`` removes it.

    Raises ``InputError`` for an unknown image, ``EngineUnavailableError``, or ``SandboxError`` with the reason.
    """
    definition = image_definition(name)
    with _only_builder(name):
        if digest := _present_digest(definition, engine):
            return BuiltImage(name, engine, digest, is_new=False)
        with Lease.acquire(f"images build {name}") as lease:
            build = docker_image.build if engine == "docker" else unpacked.build
            return BuiltImage(name, engine, build(definition, lease, progress), is_new=True)


def is_built(name: str, *, engine: ImageEngine) -> bool:
    """Whether the image is there in its present version. Raises as ``build_image`` does."""
    return _present_digest(image_definition(name), engine) is not None


def _present_digest(definition: ImageDefinition, engine: ImageEngine) -> str | None:
    if engine == "docker":
        return docker_image.built_digest(definition)
    found = unpacked.find(definition)
    return None if found is None else found.digest


@contextmanager
def _only_builder(name: str) -> Iterator[None]:
    path = images_folder() / f".{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
