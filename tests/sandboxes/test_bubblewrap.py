from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import psutil
import pytest

import sandboxes
from sandboxes.engines import ContainerSpec, Limits
from sandboxes.engines.bubblewrap import BubblewrapEngine
from sandboxes.engines.bubblewrap.records import Record, records, start_time
from sandboxes.errors import EngineUnavailableError, SandboxError
from sandboxes.gc import collect_garbage
from sandboxes.images import build_image
from sandboxes.leases import Lease

pytestmark = pytest.mark.bubblewrap

TERMINAL = ContainerSpec(image="terminal")
AS_NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
SYSTEM_PYTHON = "/usr/bin/python3"
DEADLINE_S = 10.0

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
async def engine(lease: Lease) -> AsyncIterator[BubblewrapEngine]:
    try:
        engine = await BubblewrapEngine.connect(lease)
    except EngineUnavailableError as error:
        pytest.skip(str(error))
    yield engine
    await engine.close()


def eventually(fact: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + DEADLINE_S
    while not fact():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def only_record(state: Path) -> Record:
    (record,) = records(state / "bubblewrap")
    return record


def is_gone(record: Record) -> bool:
    return start_time(record.pid) != record.started


def processes_of(state: Path) -> list[int]:
    """The processes of sandboxes under this test's state folder, half-made ones too."""
    mark = f"WORLDTAPE_STATE={state}".encode()
    return [pid for pid in psutil.pids() if pid != os.getpid() and mark in environment_of(pid)]


def environment_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def has_cgroup(record: Record) -> bool:
    return any(Path(folder).exists() for folder in record.cgroup)


def status_of(record: Record) -> dict[str, str]:
    """What the host's kernel says about a sandbox's first process."""
    lines = Path(f"/proc/{record.pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


_RUN_A_SANDBOX = """
import asyncio, sys
from sandboxes.engines import ContainerSpec
from sandboxes.engines.bubblewrap import BubblewrapEngine
from sandboxes.leases import Lease

async def main():
    with Lease.acquire("victim") as lease:
        engine = await BubblewrapEngine.connect(lease)
        container = await engine.create(ContainerSpec(image="terminal"))
        stream = await container.open_pty(["sh", "-c", "setsid sleep 300 & echo up; sleep 300"], rows=24, columns=80)
        async for _ in stream:
            break
        print("up", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


_DIE_WHILE_STARTING = """
import asyncio, os, signal, threading
from sandboxes.engines import ContainerSpec
from sandboxes.engines.bubblewrap import BubblewrapEngine
from sandboxes.leases import Lease

async def main(delay_s):
    with Lease.acquire("victim") as lease:
        engine = await BubblewrapEngine.connect(lease)
        threading.Timer(delay_s, os.kill, (os.getpid(), signal.SIGKILL)).start()
        while True:
            await engine.create(ContainerSpec(image="terminal"))

for attempt in range(20):
    owner = os.fork()
    if owner == 0:
        asyncio.run(main(attempt / 1000))
    os.waitpid(owner, 0)
"""


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process
        process.kill()


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """Another process that runs a sandbox."""
    with subprocess.Popen([sys.executable, "-c", _RUN_A_SANDBOX], stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


async def test_a_killed_owner_takes_its_sandbox_along_and_gc_removes_the_rest(
    engine: BubblewrapEngine, state: Path, victim: subprocess.Popen[bytes]
) -> None:
    survivor = await engine.create(TERMINAL)
    assert victim.stdout is not None
    assert await asyncio.to_thread(victim.stdout.readline) == b"up\n"
    (left,) = (record for record in records(state / "bubblewrap") if record.id != survivor.id)
    assert not is_gone(left)

    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert await asyncio.to_thread(eventually, lambda: is_gone(left))
    removed = await collect_garbage([engine])

    assert left.id in {resource.id for resource in removed}
    assert not has_cgroup(left)
    assert only_record(state).id == survivor.id
    assert await survivor.alive()


async def test_removing_ends_a_sandbox_that_still_runs(engine: BubblewrapEngine, state: Path) -> None:
    container = await engine.create(TERMINAL)
    record = only_record(state)
    await engine.remove(record.resource())
    assert is_gone(record)
    assert await engine.owned() == []
    assert not has_cgroup(record)
    await engine.remove(record.resource())
    await container.close()


async def test_a_record_of_an_earlier_boot_ends_no_process(
    engine: BubblewrapEngine, state: Path, bystander: subprocess.Popen[bytes]
) -> None:
    record = Record("worldtape-old", {"worldtape.boot": "another"}).with_process(bystander.pid)
    record.write(state / "bubblewrap")
    await engine.remove(record.resource())
    assert bystander.poll() is None
    assert await engine.owned() == []


@needs_root
async def test_the_guest_of_root_is_an_ordinary_user_to_the_host(engine: BubblewrapEngine, state: Path) -> None:
    await engine.create(TERMINAL)
    facts = status_of(only_record(state))
    assert facts["Uid"].split() == ["1000"] * 4
    assert facts["Groups"] == ""
    assert {facts[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert facts["NoNewPrivs"] == "1"


async def test_a_guest_gets_no_namespace_of_its_own(engine: BubblewrapEngine) -> None:
    container = await engine.create(TERMINAL)
    for namespace in ("--user", "--mount", "--net"):
        result = await container.exec(["unshare", namespace, "true"])
        assert result.exit_code != 0
        assert b"Operation not permitted" in result.stderr


async def test_a_guest_inherits_none_of_the_agents_descriptors(engine: BubblewrapEngine) -> None:
    container = await engine.create(TERMINAL)
    inherited = await container.exec(["sh", "-c", "for fd in $(seq 3 99); do [ -e /proc/$$/fd/$fd ] && echo $fd; done"])
    assert inherited.stdout == b""


async def test_owners_killed_while_they_start_sandboxes_leave_no_process(engine: BubblewrapEngine, state: Path) -> None:
    owners = await asyncio.create_subprocess_exec(sys.executable, "-c", _DIE_WHILE_STARTING)
    assert await owners.wait() == 0
    assert await asyncio.to_thread(eventually, lambda: not processes_of(state))
    await collect_garbage([engine])
    assert records(state / "bubblewrap") == []


async def cancelled_twice(task: asyncio.Task[object]) -> None:
    """Cancel a task, and again while it cleans up; wait until it has ended."""
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
    assert not task.done(), "it did not wait for its clean-up"
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_start_cancelled_again_while_it_cleans_up_leaves_nothing(engine: BubblewrapEngine, state: Path) -> None:
    starting = asyncio.create_task(engine.create(TERMINAL))
    while not processes_of(state):  # noqa: ASYNC110  # bwrap tells nobody that it has been started
        await asyncio.sleep(0)
    cgroups = [Path(folder) for record in records(state / "bubblewrap") for folder in record.cgroup]
    await cancelled_twice(starting)
    assert records(state / "bubblewrap") == []
    assert processes_of(state) == []
    assert not any(folder.exists() for folder in cgroups)


async def test_a_close_cancelled_again_while_it_cleans_up_leaves_nothing(engine: BubblewrapEngine, state: Path) -> None:
    container = await engine.create(TERMINAL)
    record = only_record(state)
    closing = asyncio.create_task(container.close())
    await asyncio.sleep(0)
    await cancelled_twice(closing)
    assert is_gone(record)
    assert not has_cgroup(record)
    assert records(state / "bubblewrap") == []


async def test_a_command_cancelled_again_while_it_is_ended_leaves_no_process(engine: BubblewrapEngine) -> None:
    container = await engine.create(TERMINAL)
    running = asyncio.create_task(container.exec(["bash", "-c", "touch /tmp/runs; sleep 300 & wait"]))
    await container.exec(["bash", "-c", "until [ -e /tmp/runs ]; do sleep 0.02; done"])
    await cancelled_twice(running)
    assert (await container.exec(["pgrep", "sleep"])).stdout == b""


async def test_a_terminal_has_a_name_inside(engine: BubblewrapEngine) -> None:
    container = await engine.create(TERMINAL)
    stream = await container.open_pty(["tty"], rows=24, columns=80)
    assert b"".join([chunk async for chunk in stream]).startswith(b"/dev/pts/")


async def test_a_wait_for_output_may_be_given_up_and_taken_up_again(engine: BubblewrapEngine) -> None:
    container = await engine.create(TERMINAL)
    stream = await container.open_pipes(["cat"])
    output = aiter(stream)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await anext(output)
    await stream.write(b"late")
    assert await anext(output) == b"late"
    await stream.close()


async def test_what_a_process_printed_is_read_though_others_hold_its_terminal(engine: BubblewrapEngine) -> None:
    container = await engine.create(TERMINAL)
    stream = await container.open_pty(["sh", "-c", "trap '' HUP; sleep 300 & seq 2000"], rows=24, columns=80)
    output = b"".join([chunk async for chunk in stream])
    assert output.split() == [b"%d" % number for number in range(1, 2001)]
    assert await stream.exit_code() == 0


async def test_a_command_too_long_for_the_agent_is_an_error_and_harms_nothing(engine: BubblewrapEngine) -> None:
    container = await engine.create(TERMINAL)
    with pytest.raises(SandboxError, match="too long"):
        await container.exec(["echo", "x" * 2**24])
    assert (await container.exec(["echo", "here"])).stdout == b"here\n"


async def test_without_bubblewrap_the_error_says_how_to_get_it(lease: Lease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EngineUnavailableError, match="apt-get install bubblewrap"):
        await BubblewrapEngine.connect(lease)


_USE_A_SANDBOX = """
import asyncio, json
from sandboxes.engines import ContainerSpec, Limits
from sandboxes.engines.bubblewrap import BubblewrapEngine
from sandboxes.leases import Lease
from trajectories import WorldtapeError

HOG = "print(len(bytes(10**9)))"
BOMB = "import os, time\\nfor _ in range(99): os.fork() or time.sleep(300)"
LIMITS = Limits(num_processes=20, memory_bytes=2**28)

async def main():
    with Lease.acquire("nobody") as lease:
        engine = await BubblewrapEngine.connect(lease)
        container = await engine.create(ContainerSpec(image="terminal", limits=LIMITS))
        other = await engine.create(ContainerSpec(image="terminal", limits=LIMITS))
        who = await container.exec(["id", "-un"])
        hog = await container.exec(["python3", "-c", HOG])
        bomb = await container.exec(["python3", "-c", BOMB], timeout_s=5)
        return {
            "who": who.stdout.decode(),
            "hog": hog.stderr.decode(),
            "bomb": bomb.stderr.decode(),
            "other": (await other.exec(["sh", "-c", "echo $(echo fine)"])).stdout.decode(),
            "together": container.limits_hold_together,
            "digest": container.image_digest,
            "close": await engine.close(),
            "owned": len(await engine.owned()),
        }

try:
    print(json.dumps(asyncio.run(main())))
except WorldtapeError as error:
    print(json.dumps({"error": str(error)}))
"""


@pytest.fixture
def of_nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The environment of a user without any privilege, with an image of the host's own programs to run."""
    repository = Path(sandboxes.__file__).parents[1]
    packages = Path(pytest.__file__).parents[1]
    version = subprocess.run([SYSTEM_PYTHON, "-V"], capture_output=True, text=True, check=True).stdout
    if not version.startswith(f"Python {sys.version_info.major}.{sys.version_info.minor}."):
        pytest.skip(f"{SYSTEM_PYTHON} cannot load the packages of this environment")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)
        with monkeypatch.context() as without_mmdebstrap:
            without_mmdebstrap.setenv("WORLDTAPE_CACHE", str(home / "cache"))
            without_mmdebstrap.setenv("PATH", "/nowhere")
            build_image("terminal", engine="bubblewrap")
        (home / "state").mkdir()
        os.chown(home / "state", 65534, 65534)
        yield {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": f"{repository}:{packages}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "WORLDTAPE_CACHE": str(home / "cache"),
            "WORLDTAPE_STATE": str(home / "state"),
        }


def use_a_sandbox(env: dict[str, str], *command: str) -> dict[str, object]:
    answer = subprocess.run(
        [*command, SYSTEM_PYTHON, "-c", _USE_A_SANDBOX], env=env, cwd="/", capture_output=True, text=True, check=False
    )
    if "Permission denied" in answer.stderr:
        pytest.skip("nobody may not read this checkout")
    assert answer.returncode == 0, answer.stderr
    facts = json.loads(answer.stdout)
    assert isinstance(facts, dict)
    return facts


@needs_root
def test_an_ordinary_user_gets_a_sandbox_with_limits_of_its_own(of_nobody: dict[str, str]) -> None:
    facts = use_a_sandbox(of_nobody, *AS_NOBODY)
    assert facts["who"] == "user\n"
    assert "MemoryError" in str(facts["hog"])
    assert "Resource temporarily unavailable" in str(facts["bomb"])
    assert facts["other"] == "fine\n", "one sandbox's processes must not count against another's"
    assert facts["together"] is False
    assert str(facts["digest"]).startswith("host:")
    assert facts["owned"] == 0


@needs_root
def test_where_user_namespaces_are_forbidden_one_line_says_so(of_nobody: dict[str, str]) -> None:
    forbid = ("bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000")
    facts = use_a_sandbox(of_nobody, *AS_NOBODY, *forbid)
    assert "bubblewrap may not make a sandbox here" in str(facts["error"])
    assert "allow user namespaces" in str(facts["error"])
    assert "\n" not in str(facts["error"])


async def test_a_limit_that_cannot_be_set_is_an_error_and_leaves_nothing(engine: BubblewrapEngine, state: Path) -> None:
    container = await engine.create(TERMINAL)
    if not container.limits_hold_together:
        pytest.skip("this user may make no control groups")
    with pytest.raises(SandboxError, match="cannot be set up"):
        await engine.create(ContainerSpec(image="terminal", limits=Limits(num_processes=-5)))
    assert only_record(state).id == container.id
