"""Sandbox images as Docker images: tag ``worldtape/NAME:latest``, built by the classic builder through the API."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import requests
from docker import APIClient
from docker.errors import APIError, DockerException, ImageNotFound

from sandboxes.docker_host import docker_host
from sandboxes.errors import EngineUnavailableError, SandboxError
from sandboxes.images.commands import check_free_space
from sandboxes.images.debian import PYTHON_VERSION, bootstrap
from sandboxes.images.definition import DEBIAN_SUITE, DOCKERFILE, SETUP_SCRIPT, ImageDefinition
from sandboxes.images.folders import scratch_folder
from sandboxes.images.tools import fetch_tools
from sandboxes.leases import Lease

IMAGE_LABEL = "worldtape.image"
CONTENT_LABEL = "worldtape.content"

_REGISTRY_BASE = f"debian:{DEBIAN_SUITE}-slim"
_OWN_BASE = f"worldtape/base:{DEBIAN_SUITE}"
_CALL_TIMEOUT_S = 60
_REGISTRY_TIMEOUT_S = 20
"""For the registry's first answer, and for any pause after it."""
_NEEDED_BYTES = 3 * 2**30
_LIFETIME_S = 6 * 3600.0
"""Of what a build makes on its way: longer than any build takes."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Found:
    id: str
    labels: Mapping[str, str]


def docker_tag(name: str) -> str:
    return f"worldtape/{name}:latest"


def built_digest(image: ImageDefinition) -> str | None:
    """The id of the image if Docker has it in its present version."""
    with _docker() as client:
        found = _inspect(client, docker_tag(image.name))
        if found is None or found.labels.get(CONTENT_LABEL) != image.content_key():
            return None
        return found.id


def build(image: ImageDefinition, lease: Lease, progress: Progress) -> str:
    """Build and tag the image and return its id. The tag moves only when all went well.

    Every container and image on the way carries the lease's labels, the finished image does not.
    """
    tag = docker_tag(image.name)
    labels = lease.labels(_LIFETIME_S)
    with _docker() as client:
        _check_disk(client)
        base = _base(client, lease, progress)
        with scratch_folder(lease) as folder:
            _fill_context(image, labels, Path(folder), progress)
            progress(f"building {tag} from {base}")
            steps = client.build(
                path=folder,
                tag=tag,
                buildargs={"BASE": base},
                labels={**dict.fromkeys(labels, ""), IMAGE_LABEL: image.name, CONTENT_LABEL: image.content_key()},
                network_mode="host",  # for the package archive: bridges are often closed to nested engines
                rm=True,
                forcerm=True,
                timeout=None,
                decode=True,
            )
            _follow(steps, what=f"cannot build {tag}", mend="check that Debian's archive answers, then run it again")
        built = _inspect(client, tag)
        assert built is not None, "the builder says it has tagged it"
        _discard_older(client, image.name)
        return built.id


@contextmanager
def _docker() -> Iterator[APIClient]:
    """A client for the time of a block; the SDK's and the transport's errors leave it as ours."""
    try:
        with closing(_client(_CALL_TIMEOUT_S)) as client:
            yield client
    except APIError as error:
        raise SandboxError(f"Docker refused: {error.explanation or error}") from error
    except (DockerException, requests.RequestException) as error:
        raise EngineUnavailableError(
            f"no Docker engine answers: {error}",
            mend="start it (sudo systemctl start docker), or use --engine bubblewrap",
        ) from error


def _client(timeout_s: int) -> APIClient:
    address, _ = docker_host()
    return APIClient(address, version="auto", timeout=timeout_s)


def _base(client: APIClient, lease: Lease, progress: Progress) -> str:
    """The image to build on: the registry's if it is here or can be had at the first try, else one of our own."""
    for known in (_REGISTRY_BASE, _OWN_BASE):
        if _inspect(client, known) is not None:
            return known
    try:
        progress(f"pulling {_REGISTRY_BASE}")
        return _pulled(_REGISTRY_BASE)
    except (SandboxError, APIError, requests.RequestException):
        progress(f"no registry answers: making {_OWN_BASE} with mmdebstrap")
    with scratch_folder(lease) as folder:
        tar = Path(folder, "base.tar")
        bootstrap(tar, lease)
        repository, _, version = _OWN_BASE.partition(":")
        client.import_image_from_file(
            str(tar), repository=repository, tag=version, changes=[f"LABEL {IMAGE_LABEL}=base"]
        )
    return _OWN_BASE


def _pulled(reference: str) -> str:
    with closing(_client(_REGISTRY_TIMEOUT_S)) as client:
        _follow(client.pull(reference, stream=True, decode=True), what=f"cannot pull {reference}", mend=None)
    return reference


def _fill_context(image: ImageDefinition, labels: Mapping[str, str], folder: Path, progress: Progress) -> None:
    (folder / "Dockerfile").write_text(_labelled(DOCKERFILE.read_text(), labels))
    for path in (SETUP_SCRIPT, image.package_list):
        shutil.copy(path, folder)
    fetch_tools(image, folder / "opt", python_version=PYTHON_VERSION, progress=progress)


def _labelled(dockerfile: str, labels: Mapping[str, str]) -> str:
    """The Dockerfile with labels on all that its steps make."""
    head, base, steps = dockerfile.partition("FROM ${BASE}\n")
    assert base, "the Dockerfile has one stage"
    return f"{head}{base}LABEL {' '.join(f'{name}={json.dumps(value)}' for name, value in labels.items())}\n{steps}"


def _follow(events: Iterable[Mapping[str, str]], *, what: str, mend: str | None) -> None:
    """Wait for the end of a build or pull; its error event becomes a ``SandboxError``."""
    last_words = ""
    for event in events:
        if "error" in event:
            raise SandboxError(f"{what}: {event['error']} {last_words}", mend=mend)
        last_words = event.get("stream", "").strip() or last_words


def _check_disk(client: APIClient) -> None:
    root = Path(client.info()["DockerRootDir"])
    if root.is_dir():  # else the engine is on another machine
        check_free_space(root, _NEEDED_BYTES)


def _inspect(client: APIClient, reference: str) -> _Found | None:
    try:
        facts = client.inspect_image(reference)  # type: ignore[no-untyped-call]  # the stubs lack this one
    except ImageNotFound:
        return None
    return _Found(facts["Id"], facts["Config"]["Labels"] or {})


def _discard_older(client: APIClient, name: str) -> None:
    """Remove the builds whose tag has moved on, unless a container still runs one: then the next build does."""
    for older in client.images(filters={"dangling": True, "label": f"{IMAGE_LABEL}={name}"}, quiet=True):
        try:
            client.remove_image(older)
        except APIError as error:
            if error.status_code != HTTPStatus.CONFLICT:
                raise
