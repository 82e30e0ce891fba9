from __future__ import annotations

import errno
import fcntl
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandboxes.leases import (
    BOOT_LABEL,
    EXPIRES_LABEL,
    HOST_LABEL,
    LEASE_LABEL,
    RUN_LABEL,
    Host,
    Lease,
    dead_leases,
    expired,
    is_live,
)
from tests.sandboxes.lease_support import hold_in_another_process, kill
from trajectories import WorldtapeError


def test_a_lease_lives_while_it_is_held_and_leaves_no_file(state: Path) -> None:
    with Lease.acquire("run", state=state) as lease:
        assert is_live(lease.id, state=state)
        assert dead_leases(state=state) == []
    assert not is_live(lease.id, state=state)
    assert list((state / "leases").iterdir()) == []
    lease.release()


def test_a_lease_lives_for_other_processes_too_and_dies_with_its_owner(state: Path) -> None:
    owner, labels = hold_in_another_process(state)
    assert is_live(labels[LEASE_LABEL], state=state)
    kill(owner)
    assert not is_live(labels[LEASE_LABEL], state=state)
    assert [(dead.id, dead.run) for dead in dead_leases(state=state)] == [(labels[LEASE_LABEL], "held")]


def test_a_lease_whose_file_a_crash_spoilt_is_dead(state: Path) -> None:
    (state / "leases").mkdir(parents=True)
    (state / "leases" / "spoilt.json").write_bytes(b"")
    assert [(dead.id, dead.run) for dead in dead_leases(state=state)] == [("spoilt", "")]


def test_a_state_folder_that_cannot_be_written_is_one_line_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, not a folder")
    with (
        pytest.raises(WorldtapeError, match="set WORLDTAPE_STATE") as caught,
        Lease.acquire("run", state=tmp_path / "state"),
    ):
        pass
    assert "\n" not in str(caught.value)


def test_a_lease_that_cannot_be_written_leaves_no_file(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(fcntl, "flock", full)
    with pytest.raises(WorldtapeError, match="a lease cannot be written: No space left on device"):
        Lease.take("run", state=state)
    assert [path for path in state.rglob("*") if path.is_file()] == []


def test_a_lease_that_never_was_is_not_live(state: Path) -> None:
    assert not is_live("never", state=state)
    assert dead_leases(state=state) == []


def test_many_who_look_at_once_do_not_take_each_other_for_the_owner(state: Path) -> None:
    owner, labels = hold_in_another_process(state)
    kill(owner)
    with ThreadPoolExecutor(8) as threads:
        looks = threads.map(lambda _: is_live(labels[LEASE_LABEL], state=state), range(2000))
        assert not any(looks)


def test_the_labels_say_who_where_and_until_when(state: Path) -> None:
    host = Host.current(state)
    with Lease.acquire("run", state=state) as lease:
        labels = lease.labels(100)
    expires = int(labels.pop(EXPIRES_LABEL))
    assert labels == {RUN_LABEL: "run", LEASE_LABEL: lease.id, BOOT_LABEL: host.boot, HOST_LABEL: host.id}
    assert 98 <= expires - time.time() <= 101
    assert not expired({EXPIRES_LABEL: str(expires)})
    assert expired({EXPIRES_LABEL: str(expires - 200)})
    assert not expired({})
    assert not expired({EXPIRES_LABEL: "never"})


def test_a_host_is_one_state_folder_on_one_machine(tmp_path: Path) -> None:
    assert Host.current(tmp_path / "a") == Host.current(tmp_path / "a")
    assert Host.current(tmp_path / "a").id != Host.current(tmp_path / "b").id


def test_all_who_come_first_agree_on_the_host(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        hosts = set(threads.map(lambda _: Host.current(tmp_path / "new"), range(64)))
    assert len(hosts) == 1
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["host-id"]


def test_the_state_folder_can_be_moved(state: Path) -> None:
    with Lease.acquire("run") as lease:  # WORLDTAPE_STATE says where
        assert lease.path.parent == state / "leases"
