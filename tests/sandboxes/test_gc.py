from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from docker import APIClient
from docker.errors import NotFound

from sandboxes.engines.docker import DockerEngine
from sandboxes.gc import collect_garbage, is_garbage
from sandboxes.leases import BOOT_LABEL, EXPIRES_LABEL, HOST_LABEL, LEASE_LABEL, Host, Lease
from tests.sandboxes.lease_support import hold_in_another_process, kill
from trajectories.files import written_aside

IMAGE = "worldtape/terminal:latest"


class Made:
    """Real resources on the daemon, removed after the test whatever became of them."""

    def __init__(self, client: APIClient) -> None:
        self.client = client
        self._containers: list[str] = []
        self._networks: list[str] = []
        self._volumes: list[str] = []
        self._images: list[str] = []

    def container(self, labels: Mapping[str, str], *, started: bool = True) -> str:
        created = self.client.create_container(IMAGE, ["sleep", "60"], labels=dict(labels))
        self._containers.append(created["Id"])
        if started:
            self.client.start(created["Id"])
        return self._containers[-1]

    def network(self, labels: Mapping[str, str]) -> str:
        created = self.client.create_network("worldtape-test", labels=dict(labels), internal=True)
        self._networks.append(created["Id"])
        return self._networks[-1]

    def volume(self, labels: Mapping[str, str]) -> str:
        self._volumes.append(self.client.create_volume(labels=dict(labels))["Name"])
        return self._volumes[-1]

    def unnamed_image(self, labels: Mapping[str, str]) -> str:
        """What an image build that was killed leaves."""
        self._images.append(self.client.commit(self.container({}, started=False), conf={"Labels": dict(labels)})["Id"])
        return self._images[-1]

    def is_there(self, container: str) -> bool:
        return any(facts["Id"] == container for facts in self.client.containers(all=True))

    def remove_all(self) -> None:
        for remove, ids in (
            (lambda id: self.client.remove_container(id, force=True), self._containers),
            (self.client.remove_network, self._networks),
            (self.client.remove_volume, self._volumes),
            (self.client.remove_image, self._images),
        ):
            for id in ids:
                try:
                    remove(id)
                except NotFound:
                    continue


@pytest.fixture
def made(docker_engine: DockerEngine) -> Iterator[Made]:
    assert docker_engine.name == "docker"
    client = APIClient(version="auto")
    made = Made(client)
    yield made
    made.remove_all()
    client.close()


@pytest.fixture
def dead_labels(state: Path) -> dict[str, str]:
    """Labels of a lease whose owner was killed."""
    owner, labels = hold_in_another_process(state)
    kill(owner)
    return labels


@pytest.mark.docker
async def test_garbage_is_what_a_killed_process_left_and_nothing_else(
    docker_engine: DockerEngine, made: Made, lease: Lease, dead_labels: dict[str, str]
) -> None:
    dead, created_only = made.container(dead_labels), made.container(dead_labels, started=False)
    live = made.container(lease.labels(60))
    elsewhere = made.container({**dead_labels, HOST_LABEL: "another-host"})
    unlabelled = made.container({})
    network, volume, image = made.network(dead_labels), made.volume(dead_labels), made.unnamed_image(dead_labels)
    garbage = {dead, created_only, network, volume, image, dead_labels[LEASE_LABEL]}

    planned = await collect_garbage([docker_engine], dry_run=True)
    assert {resource.id for resource in planned} == garbage
    assert made.is_there(dead)

    removed = await collect_garbage([docker_engine])
    assert {resource.id for resource in removed} == garbage
    assert [made.is_there(container) for container in (dead, created_only)] == [False, False]
    assert [made.is_there(container) for container in (live, elsewhere, unlabelled)] == [True, True, True]
    assert await collect_garbage([docker_engine]) == []


@pytest.mark.docker
async def test_the_lease_of_another_living_process_protects_what_it_owns(
    docker_engine: DockerEngine, made: Made, state: Path
) -> None:
    owner, labels = hold_in_another_process(state)
    container = made.container(labels)
    assert await collect_garbage([docker_engine]) == []
    owner.communicate()  # it ends, and gives its lease up
    assert [resource.id for resource in await collect_garbage([docker_engine])] == [container]


_KILLED_WHILE_IT_WRITES = """
import os, signal, sys
from pathlib import Path
from trajectories import files
files.sync_file = lambda file: os.kill(os.getpid(), signal.SIGKILL)
from sandboxes.leases import Lease
Lease.take("killed", state=Path(sys.argv[1]))
"""


def half_written(state: Path) -> set[str]:
    """The files below the state folder that nobody has finished."""
    return {str(path) for path in state.rglob(".*.part")}


@pytest.fixture
def left_half_written(state: Path) -> set[str]:
    """What a process that is killed while it writes leaves, in each folder where it may."""
    command = [sys.executable, "-c", _KILLED_WHILE_IT_WRITES, str(state)]
    Host.current(state)
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (left,) = (state / "leases").glob(".*.part")
    for folder in (state, state / "bubblewrap"):
        folder.mkdir(exist_ok=True)
        shutil.copy(left, folder)
    return half_written(state)


async def test_half_written_files_of_killed_processes_go_and_those_of_living_ones_stay(
    state: Path, left_half_written: set[str]
) -> None:
    assert len(left_half_written) == 3
    with written_aside(state / "leases") as living:
        assert {resource.id for resource in await collect_garbage([], dry_run=True)} == left_half_written
        assert {resource.id for resource in await collect_garbage([])} == left_half_written
        living.take_place(state / "leases" / "whole")
    assert half_written(state) == set()
    assert await collect_garbage([]) == []


def test_what_is_garbage(state: Path, lease: Lease) -> None:
    host = Host.current(state)
    live = lease.labels(60)
    assert not is_garbage(live, host, state=state)
    assert is_garbage({**live, LEASE_LABEL: "gone"}, host, state=state)
    assert is_garbage({**live, BOOT_LABEL: "an earlier boot"}, host, state=state)
    assert is_garbage(lease.labels(-60), host, state=state)


def test_what_is_not_garbage_however_dead_it_looks(state: Path, lease: Lease) -> None:
    host = Host.current(state)
    dead = {LEASE_LABEL: "gone", BOOT_LABEL: "an earlier boot", EXPIRES_LABEL: "1"}
    assert not is_garbage({**dead, HOST_LABEL: "another-host"}, host, state=state)
    assert not is_garbage(dead, host, state=state)
    assert not is_garbage({}, host, state=state)
    assert is_garbage({**dead, HOST_LABEL: lease.host.id}, host, state=state)
