"""Build a sandbox image for an engine, once."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from sandboxes.images import docker_image, unpacked
from sandboxes.images.definition import image_definition

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
    Two builds of one image wait for each other. A failed or killed build leaves no image and may simply be run again.

    Raises ``InputError`` for an unknown image, ``EngineUnavailableError``, or ``SandboxError`` with the reason.
    """
    definition = image_definition(name)
    with _only_builder(name):
        if engine == "docker":
            digest = docker_image.built_digest(definition)
            return BuiltImage(name, engine, digest or docker_image.build(definition, progress), digest is None)
        found = unpacked.find(definition)
        return BuiltImage(name, engine, found.digest if found else unpacked.build(definition, progress), found is None)


def is_built(name: str, *, engine: ImageEngine) -> bool:
    """Whether the image is there in its present version. Raises as ``build_image`` does."""
    definition = image_definition(name)
    found = docker_image.built_digest(definition) if engine == "docker" else unpacked.find(definition)
    return found is not None


@contextmanager
def _only_builder(name: str) -> Iterator[None]:
    path = unpacked.cache_folder() / "images" / f".{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
