"""What is particular to the Docker engine; what every engine does is in test_conformance.py."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import pytest
from docker import APIClient
from docker.errors import APIError, NotFound
from requests import Response

from sandboxes.engines import ContainerSpec, Limits, open_engine
from sandboxes.engines.docker import DockerEngine
from sandboxes.engines.docker.container import remove_container
from sandboxes.engines.docker.daemon import Daemon
from sandboxes.errors import EngineUnavailableError, ImageMissingError, SandboxDiedError, SandboxError
from sandboxes.images import is_built
from sandboxes.leases import LEASE_LABEL, Lease
from tests.sandboxes.docker_support import relay

SPEC = ContainerSpec(image="terminal")
DEADLINE_S = 15.0
P = ParamSpec("P")
T = TypeVar("T")


@pytest.fixture
def daemon(docker_engine: DockerEngine) -> Iterator[APIClient]:
    """The daemon, past the engine."""
    assert docker_engine.name == "docker"
    client = APIClient(version="auto")
    yield client
    client.close()


def ids_of(daemon: APIClient, lease_id: str) -> list[str]:
    return [facts["Id"] for facts in daemon.containers(all=True, filters={"label": f"{LEASE_LABEL}={lease_id}"})]


def wait_until_none_of(daemon: APIClient, lease_id: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while ids_of(daemon, lease_id):
        assert time.monotonic() < deadline, "containers are left"
        time.sleep(0.02)


class _EndsFirst(Daemon):
    """Where a container ends by itself in the moment in which Docker would kill it: to Docker a server error."""

    has_ended = False

    async def call(self, method: Callable[Concatenate[APIClient, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        if method is APIClient.remove_container and not self.has_ended:
            self.has_ended = True
            container = str(args[0])
            await super().call(APIClient.kill, container)
            await super().call(APIClient.wait, container)
            raise APIError("could not kill", response=_answer(HTTPStatus.INTERNAL_SERVER_ERROR))
        return await super().call(method, *args, **kwargs)


class _Broken(Daemon):
    """One that does not remove containers."""

    async def call(self, method: Callable[Concatenate[APIClient, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        if method is APIClient.remove_container:
            raise APIError("broken", response=_answer(HTTPStatus.INTERNAL_SERVER_ERROR), explanation="the disk is gone")
        return await super().call(method, *args, **kwargs)


def _answer(status: HTTPStatus) -> Response:
    response = Response()
    response.status_code = status
    return response


@pytest.fixture
def running(daemon: APIClient) -> Iterator[str]:
    """The id of a container that runs, and stays when it has ended."""
    container = str(daemon.create_container("worldtape/terminal:latest", ["sleep", "60"])["Id"])
    daemon.start(container)
    yield container
    with suppress(NotFound):
        daemon.remove_container(container, force=True)


@pytest.mark.docker
async def test_a_container_that_ends_while_it_is_being_removed_is_removed(daemon: APIClient, running: str) -> None:
    removing = await _EndsFirst.connect(num_threads=1)
    await remove_container(removing, running)
    await removing.close()
    assert removing.has_ended
    with pytest.raises(NotFound):
        daemon.inspect_container(running)


@pytest.mark.docker
async def test_a_container_that_docker_does_not_remove_is_an_error(running: str) -> None:
    removing = await _Broken.connect(num_threads=1)
    with pytest.raises(SandboxError, match="could not remove a container: the disk is gone"):
        await remove_container(removing, running)
    await removing.close()


@pytest.mark.docker
async def test_every_limit_and_every_hardening_reaches_the_daemon(
    docker_engine: DockerEngine, daemon: APIClient, lease: Lease
) -> None:
    limits = Limits(memory_bytes=300 * 2**20, num_processes=77, num_cpus=0.5, tmpfs_bytes=2**20, lifetime_s=50)
    container = await docker_engine.create(ContainerSpec(image="terminal", limits=limits))
    facts = daemon.inspect_container(container.id)
    host = facts["HostConfig"]
    assert (host["Memory"], host["MemorySwap"], host["PidsLimit"]) == (300 * 2**20, 300 * 2**20, 77)
    assert (host["NanoCpus"], host["NetworkMode"], host["ReadonlyRootfs"]) == (500_000_000, "none", True)
    assert (host["CapDrop"], host["SecurityOpt"], host["Privileged"]) == (["ALL"], ["no-new-privileges"], False)
    assert host["CapAdd"] in (["KILL"], ["CAP_KILL"])
    assert (host["AutoRemove"], host["Init"], host["Binds"], facts["Mounts"]) == (True, True, None, [])
    assert sorted(host["Tmpfs"]) == ["/home/user", "/tmp", "/workspace"]
    assert facts["Config"]["User"] == "0:0"
    assert {**facts["Config"]["Labels"], **lease.labels(50)}.keys() == facts["Config"]["Labels"].keys()
    assert facts["Config"]["Labels"][LEASE_LABEL] == lease.id
    image = daemon.inspect_image("worldtape/terminal:latest")  # type: ignore[no-untyped-call]  # its stub has no types
    assert container.image_digest == facts["Image"] == image["Id"]


@pytest.mark.docker
async def test_a_sandbox_shows_nothing_of_how_it_is_run(docker_engine: DockerEngine) -> None:
    container = await docker_engine.create(SPEC)
    processes = await container.exec(["ps", "-eo", "args="])
    assert processes.stdout.decode().split("\n") == [
        "/sbin/docker-init -- bash -s 3600",
        "bash -s 3600",
        "ps -eo args=",
        "",
    ]
    limits = await container.exec(
        ["bash", "-c", "ulimit -a | grep -v 'file locks' | grep -c worldtape; env | grep -ci worldtape"]
    )
    assert limits.stdout == b"0\n0\n"


@pytest.mark.docker
async def test_a_sandbox_dies_with_the_process_that_made_it(daemon: APIClient, state: Path) -> None:
    script = """
import asyncio, sys
from sandboxes.engines import ContainerSpec, open_engine
from sandboxes.leases import Lease

async def main():
    with Lease.acquire("killed") as lease:
        engine = await open_engine("docker", lease)
        container = await engine.create(ContainerSpec(image="terminal"))
        await container.open_pty(["bash"], rows=24, columns=80)
        print(lease.id, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""
    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=subprocess.PIPE)
    assert owner.stdout is not None
    lease_id = (await owner.stdout.readline()).decode().strip()
    assert len(ids_of(daemon, lease_id)) == 1
    owner.kill()
    await owner.wait()
    await asyncio.to_thread(wait_until_none_of, daemon, lease_id)
    assert (state / "leases" / f"{lease_id}.json").exists(), "it was not killed but ended in good order"


@pytest.mark.docker
async def test_closing_the_engine_closes_what_it_made(lease: Lease, daemon: APIClient) -> None:
    engine = await DockerEngine.connect(lease)
    await asyncio.gather(*(engine.create(SPEC) for _ in range(3)))
    assert len(ids_of(daemon, lease.id)) == 3
    await engine.close()
    assert ids_of(daemon, lease.id) == []
    await engine.close()


@pytest.mark.docker
async def test_no_more_containers_are_created_at_once_than_allowed(lease: Lease, daemon: APIClient) -> None:
    engine = await DockerEngine.connect(lease, max_creates=1)
    creates = [asyncio.create_task(engine.create(SPEC)) for _ in range(4)]
    while not all(create.done() for create in creates):
        seen = len(await asyncio.to_thread(ids_of, daemon, lease.id))
        assert seen <= sum(create.done() for create in creates) + 1
    assert len({(await create).id for create in creates}) == 4
    await engine.close()


@pytest.mark.docker
async def test_a_start_that_fails_halfway_leaves_nothing_behind(
    docker_engine: DockerEngine, daemon: APIClient, lease: Lease
) -> None:
    with pytest.raises(SandboxError, match="Docker could not start it"):
        await docker_engine.create(ContainerSpec(image="terminal", workdir="relative"))
    with pytest.raises(SandboxError, match="Docker could not start it"):
        await docker_engine.create(ContainerSpec(image="terminal", limits=Limits(memory_bytes=1)))
    assert ids_of(daemon, lease.id) == []


@pytest.mark.docker
async def test_an_image_that_is_not_built_comes_with_the_command_to_build_it(docker_engine: DockerEngine) -> None:
    with pytest.raises(ImageMissingError, match="run: worldtape images build no-such-image") as caught:
        await docker_engine.create(ContainerSpec(image="no-such-image"))
    assert caught.value.exit_code == 2


@pytest.mark.docker
async def test_one_sandbox_that_dies_harms_no_other(docker_engine: DockerEngine) -> None:
    first, second = await asyncio.gather(docker_engine.create(SPEC), docker_engine.create(SPEC))
    await first.kill()
    with pytest.raises(SandboxDiedError):
        await first.exec(["true"])
    assert (await second.exec(["echo", "well"])).stdout == b"well\n"


@pytest.mark.docker
async def test_an_attach_that_is_lost_is_tried_once_more(
    daemon: APIClient, lease: Lease, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    num_to_drop = 0

    def is_dropped(request_line: bytes) -> bool:
        nonlocal num_to_drop
        if b"/exec/" not in request_line or b"/start" not in request_line or num_to_drop == 0:
            return False
        num_to_drop -= 1
        return True

    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/relay.sock")
    async with relay(tmp_path / "relay.sock", is_dropped):
        engine = await DockerEngine.connect(lease)
        container = await engine.create(SPEC)
        num_to_drop = 1
        assert (await container.exec(["echo", "answered"])).stdout == b"answered\n"
        num_to_drop = 2
        with pytest.raises(SandboxError, match="Docker dropped a connection"):
            await container.exec(["echo", "lost"])
        assert (await container.exec(["echo", "usable"])).stdout == b"usable\n"
        await engine.close()
    assert ids_of(daemon, lease.id) == []


async def test_an_engine_that_is_not_there_is_one_line_with_the_mend(
    lease: Lease, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for address in (f"unix://{tmp_path}/none.sock", "tcp://127.0.0.1:9", "nonsense://"):
        monkeypatch.setenv("DOCKER_HOST", address)
        with pytest.raises(EngineUnavailableError) as caught:
            async with asyncio.timeout(DEADLINE_S):
                await open_engine("docker", lease)
        message = str(caught.value)
        assert address in message
        assert "DOCKER_HOST" in message
        assert "\n" not in message


@pytest.mark.parametrize(
    ("address", "verify", "spoken"),
    [
        ("ssh://me@far.example", "", "Docker over ssh is not spoken here (DOCKER_HOST=ssh://me@far.example)"),
        ("https://far.example:2376", "", "Docker over TLS is not spoken here (DOCKER_HOST=https://far.example:2376)"),
        (
            "tcp://far.example:2376",
            "1",
            "Docker over TLS is not spoken here (DOCKER_HOST=tcp://far.example:2376, DOCKER_",
        ),
    ],
)
async def test_a_daemon_behind_ssh_or_tls_is_refused_with_the_way_to_reach_it(
    lease: Lease, monkeypatch: pytest.MonkeyPatch, address: str, verify: str, spoken: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    monkeypatch.setenv("DOCKER_TLS_VERIFY", verify)
    with pytest.raises(EngineUnavailableError) as of_engine:
        await open_engine("docker", lease)
    with pytest.raises(EngineUnavailableError) as of_image:
        is_built("terminal", engine="docker")
    for refused in (of_engine, of_image):
        message = str(refused.value)
        assert message.startswith(spoken)
        assert "ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock USER@HOST" in message
        assert "DOCKER_HOST=unix:///tmp/docker.sock" in message
        assert "\n" not in message


async def test_an_engine_that_never_answers_is_given_up(
    lease: Lease, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "mute.sock"))
        mute.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/mute.sock")
        with pytest.raises(EngineUnavailableError):
            async with asyncio.timeout(DEADLINE_S):
                await DockerEngine.connect(lease)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody who may not use a socket")
async def test_a_socket_one_may_not_use_is_told_apart(
    lease: Lease, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as private:
        private.bind(str(tmp_path / "private.sock"))
        (tmp_path / "private.sock").chmod(0o600)
        private.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/private.sock")
        os.seteuid(65534)
        try:
            with pytest.raises(EngineUnavailableError, match="usermod -aG docker"):
                await DockerEngine.connect(lease)
        finally:
            os.seteuid(0)
