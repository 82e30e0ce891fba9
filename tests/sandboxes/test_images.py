from __future__ import annotations

import asyncio
import fcntl
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from sandboxes.engines import ContainerSpec, Engine, Resource
from sandboxes.engines.docker import DockerEngine
from sandboxes.errors import EngineUnavailableError, ImageMissingError, SandboxError
from sandboxes.gc import collect_garbage
from sandboxes.images import build_image, image_names, unpacked_image
from sandboxes.images.commands import check_free_space, run_tool
from sandboxes.images.debian import can_bootstrap
from sandboxes.images.definition import ImageDefinition, image_definition
from sandboxes.images.folders import scratch_folder
from sandboxes.images.unpacked import compile_python
from sandboxes.leases import HOST_LABEL, LEASE_LABEL, Host, Lease
from tests.sandboxes.lease_support import hold_in_another_process, kill
from trajectories import InputError

PROGRAMS = {
    "terminal": "bash ls find grep sed gawk python3 git less vim nano ps killall file tree sqlite3 jq bc diff patch "
    "tar gzip xz zip unzip make clear",
    "mcp": "python3 node git sqlite3",
}


@pytest.fixture
def host_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own, on a machine without mmdebstrap."""
    monkeypatch.setenv("WORLDTAPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "cache" / "images"


def folders_of(images: Path, name: str) -> list[str]:
    return sorted(path.name for path in images.glob(f"*{name}*") if path.is_dir())


def copy_of(name: str, folder: Path) -> ImageDefinition:
    shutil.copytree(image_definition(name).folder, folder)
    return ImageDefinition(name, folder)


def test_the_images_are_those_with_a_package_list() -> None:
    assert image_names() == ["mcp", "terminal"]


def test_an_unknown_image_is_named_beside_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"desktop.*mcp, terminal"):
        build_image("desktop", engine="bubblewrap")


@pytest.mark.parametrize("changed", ["packages.txt", "opt/git/requirements.txt", "opt/filesystem/package-lock.json"])
def test_a_changed_file_makes_another_image(changed: str, tmp_path: Path) -> None:
    image = copy_of("mcp", tmp_path / "mcp")
    assert image.content_key() == image_definition("mcp").content_key()
    with (image.folder / changed).open("a") as file:
        file.write("\n")
    assert image.content_key() != image_definition("mcp").content_key()


@pytest.mark.parametrize("tool", image_definition("mcp").tools, ids=lambda tool: tool.name)
def test_every_python_tool_is_pinned_to_the_last_package(tool: Path) -> None:
    requirements = tool / "requirements.txt"
    if not requirements.exists():
        assert (tool / "package-lock.json").exists()
        return
    assert all("==" in line for line in requirements.read_text().splitlines())


def test_without_mmdebstrap_an_image_takes_the_hosts_programs_and_says_so(host_only: Path) -> None:
    steps: list[str] = []
    built = build_image("terminal", engine="bubblewrap", progress=steps.append)
    assert built.is_new
    assert built.digest.startswith("host:")
    assert any("own /usr" in step for step in steps)
    image = unpacked_image("terminal")
    assert (image.digest, image.usr) == (built.digest, Path("/usr"))
    assert len(folders_of(host_only, "terminal")) == 1


def test_building_again_changes_nothing(host_only: Path) -> None:
    first = build_image("terminal", engine="bubblewrap")
    made_at = unpacked_image("terminal").lock.stat().st_mtime_ns
    again = build_image("terminal", engine="bubblewrap")
    assert (again.digest, again.is_new) == (first.digest, False)
    assert unpacked_image("terminal").lock.stat().st_mtime_ns == made_at
    assert len(folders_of(host_only, "terminal")) == 1


def test_a_failed_build_leaves_no_image_and_says_why_in_one_line(host_only: Path) -> None:
    with pytest.raises(SandboxError, match=r"npm is not installed.*apt-get install npm") as caught:
        build_image("mcp", engine="bubblewrap")
    assert "\n" not in str(caught.value)
    assert folders_of(host_only, "mcp") == []
    with pytest.raises(ImageMissingError, match="images build mcp"):
        unpacked_image("mcp")


def left_by_a_killed_build(images: Path, state: Path) -> Path:
    owner, labels = hold_in_another_process(state)
    kill(owner)
    folder = images / f"worldtape-build-{labels[HOST_LABEL]}-{labels[LEASE_LABEL]}-abc_1"
    (folder / "image" / "rootfs").mkdir(parents=True)
    return folder


def are_there(*folders: Path) -> list[bool]:
    return [folder.exists() for folder in folders]


def test_what_a_killed_build_left_goes_with_the_next(host_only: Path, state: Path) -> None:
    left = left_by_a_killed_build(host_only, state)
    build_image("terminal", engine="bubblewrap")
    assert not left.exists()


async def test_what_a_killed_build_left_is_garbage_and_what_a_living_one_works_on_is_not(
    host_only: Path, state: Path, lease: Lease
) -> None:
    left = left_by_a_killed_build(host_only, state)
    strangers = left.with_name(left.name.replace(lease.host.id, "0" * 16))
    strangers.mkdir()
    with scratch_folder(lease, host_only) as living:
        assert str(left) in {resource.id for resource in await collect_garbage([], dry_run=True)}
        assert are_there(left) == [True]
        assert str(left) in {resource.id for resource in await collect_garbage([])}
        assert are_there(left, strangers, Path(living)) == [False, True, True]


_BUILD_FOR_A_MINUTE = """
import sys
from pathlib import Path
from sandboxes.images import docker_image
from sandboxes.images.definition import ImageDefinition
from sandboxes.leases import Lease
folder = Path(sys.argv[1])
docker_image.DOCKERFILE = folder / "Dockerfile"
with Lease.acquire("images build victim") as lease:
    docker_image.build(ImageDefinition("victim", folder), lease, print)
"""


@pytest.mark.docker
async def test_a_killed_build_of_docker_leaves_nothing_that_gc_does_not_remove(
    docker_engine: DockerEngine, tmp_path: Path, state: Path
) -> None:
    (tmp_path / "packages.txt").touch()
    (tmp_path / "Dockerfile").write_text(f"ARG BASE\nFROM ${{BASE}}\nRUN echo {state} > /half\nRUN sleep 60\n")
    builder = await asyncio.create_subprocess_exec(sys.executable, "-c", _BUILD_FOR_A_MINUTE, str(tmp_path))
    host = Host.current(state)

    async def owned(kind: str) -> list[Resource]:
        resources = await docker_engine.owned()
        return [found for found in resources if found.kind == kind and found.labels[HOST_LABEL] == host.id]

    while not await owned("container") or not await owned("image"):
        assert builder.returncode is None, "the build has failed"
    assert await collect_garbage([docker_engine]) == []
    builder.kill()
    await builder.wait()
    left = {resource.id for resource in await owned("image")}
    assert left <= {resource.id for resource in await collect_garbage([docker_engine])}
    assert (await owned("container"), await owned("image")) == ([], [])


def make_older(images: Path, name: str) -> Path:
    (images / name).mkdir(parents=True)
    (images / name / "image.json").write_text("{}")
    return images / name


def test_an_older_image_stays_while_a_sandbox_runs_on_it(host_only: Path) -> None:
    unused, used = (make_older(host_only, f"terminal-{digit * 16}") for digit in "01")
    with (used / "image.json").open() as running:
        fcntl.flock(running, fcntl.LOCK_SH)
        build_image("terminal", engine="bubblewrap")
    assert folders_of(host_only, "terminal") == sorted([unpacked_image("terminal").folder.name, used.name])
    assert not unused.exists()


def test_an_image_whose_name_begins_alike_is_another(host_only: Path) -> None:
    other = make_older(host_only, f"terminal-large-{'0' * 16}")
    build_image("terminal", engine="bubblewrap")
    assert other.exists()


def test_the_tools_of_a_host_image_are_compiled_under_the_names_they_have_inside(tmp_path: Path) -> None:
    folder = tmp_path / "opt" / "mcp" / "tool"
    folder.mkdir(parents=True)
    (folder / "fine.py").write_text("x = 1\n")
    (folder / "template.py").write_text("{% not python %}\n")
    compile_python(tmp_path)
    (compiled,) = folder.rglob("*.pyc")
    assert b"/opt/mcp/tool/fine.py" in compiled.read_bytes()
    assert str(tmp_path).encode() not in compiled.read_bytes()


def test_two_builds_of_one_image_wait_for_each_other(host_only: Path) -> None:
    with ThreadPoolExecutor(3) as threads:
        builds = [threads.submit(build_image, "terminal", engine="bubblewrap") for _ in range(3)]
    assert sorted(build.result().is_new for build in builds) == [False, False, True]
    assert len(folders_of(host_only, "terminal")) == 1


def test_a_disk_too_full_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"GiB of disk are free.*free some space"):
        check_free_space(tmp_path / "not" / "yet" / "there", 2**60)


def test_a_failing_tool_gives_its_own_reason() -> None:
    command = ["sh", "-c", "echo I: starting >&2; echo E: no such suite >&2; echo bye >&2; exit 1"]
    with pytest.raises(SandboxError, match="cannot do it: E: no such suite; look"):
        run_tool(command, purpose="do it", mend="look")


def test_a_hanging_tool_is_ended() -> None:
    with pytest.raises(SandboxError, match="took more than"):
        run_tool(["sleep", "300"], purpose="wait", mend="do not", timeout_s=0.05)


def test_a_tool_that_is_given_up_ends_with_all_it_has_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = ["sh", "-c", f"(trap '' TERM; exec sleep 300) & echo $! > {started}; wait"]
    with pytest.raises(SandboxError, match="took more than"):
        run_tool(command, purpose="wait", mend="do not", timeout_s=3)
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(started.read_text())).wait(timeout=10)


@pytest.mark.docker
def test_without_a_docker_engine_the_error_offers_the_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(EngineUnavailableError, match="bubblewrap"):
        build_image("terminal", engine="docker")


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.parametrize("name", image_names())
def test_an_image_of_docker_is_built_once(name: str) -> None:
    try:
        built = build_image(name, engine="docker")
    except EngineUnavailableError as error:
        pytest.skip(str(error))
    again = build_image(name, engine="docker")
    assert (again.digest, again.is_new) == (built.digest, False)
    assert built.digest.startswith("sha256:")


@pytest.mark.bubblewrap
@pytest.mark.slow
@pytest.mark.skipif(not can_bootstrap(), reason="needs mmdebstrap, as root or with a range of user ids")
def test_a_debian_image_of_bubblewrap_is_built_once_and_whole() -> None:
    built = build_image("terminal", engine="bubblewrap")
    again = build_image("terminal", engine="bubblewrap")
    assert (again.digest, again.is_new) == (built.digest, False)
    assert built.digest.startswith("sha256:")
    root = unpacked_image("terminal").rootfs
    assert "user:x:1000:1000:" in (root / "etc" / "passwd").read_text()
    assert list((root / "dev").iterdir()) == []


@pytest.mark.parametrize("name", image_names())
async def test_an_image_has_the_programs_it_promises(engine: Engine, name: str) -> None:
    container = await engine.create(ContainerSpec(image=name))
    script = (
        f"for program in {PROGRAMS[name]}; do command -v $program > /dev/null || echo $program; done; id -un; tty -s"
    )
    result = await container.exec(["bash", "-c", script])
    assert result.stdout == b"user\n"


async def test_an_image_knows_the_terminals_people_use(engine: Engine) -> None:
    container = await engine.create(ContainerSpec(image="terminal"))
    for terminal in ("xterm-256color", "linux", "vt100"):
        assert (await container.exec(["tput", "-T", terminal, "clear"])).exit_code == 0
