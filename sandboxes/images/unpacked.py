"""Sandbox images as unpacked folders in the cache, for bubblewrap.

A folder ``NAME-KEY`` holds ``rootfs/`` and ``image.json``. Where no Debian root can be made, the root holds only what
the host's own ``/usr``, bound over it read-only, needs around it; the digest then starts with ``host:`` and says so.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandboxes.errors import ImageMissingError, SandboxError
from sandboxes.images.commands import check_free_space, run_tool
from sandboxes.images.debian import PYTHON_VERSION, bootstrap, can_bootstrap
from sandboxes.images.definition import SETUP_SCRIPT, ImageDefinition, image_definition, image_names
from sandboxes.images.folders import abandoned_scratch, images_folder, scratch_folder
from sandboxes.images.tools import fetch_tools
from sandboxes.leases import Lease
from trajectories.files import written_whole

HOST_DIGEST_PREFIX = "host:"

_NEEDED_BYTES = 2 * 2**30
_USER_ID = 1000
_HOST_PYTHON = "/usr/bin/python3"
_MOUNT_POINTS = ("dev", "etc", "home/user", "opt", "proc", "root", "run", "sys", "tmp", "usr", "var/tmp", "workspace")
_HOST_ETC = ("alternatives", "bash.bashrc", "inputrc", "ld.so.cache", "localtime", "nanorc", "os-release", "terminfo")

# Of one image alone, also where another's name begins with its name and a dash.
_BUILD_KEY = "[0-9a-f]" * 16

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class UnpackedImage:
    """An image in the cache. ``usr`` is the folder to bind over ``/usr``, where the root has none of its own."""

    folder: Path
    digest: str
    usr: Path | None

    @property
    def rootfs(self) -> Path:
        return self.folder / "rootfs"

    @property
    def lock(self) -> Path:
        """Whoever runs the image holds a shared lock on this file, so that no newer build removes it."""
        return self.folder / "image.json"


def unpacked_image(name: str) -> UnpackedImage:
    """The image ``name`` in its present version. Raises ``ImageMissingError`` that says how to build it."""
    found = find(image_definition(name)) if name in image_names() else None
    if found is None:
        raise ImageMissingError(
            "the sandbox image is not built for bubblewrap",
            where=name,
            mend=f"run: worldtape images build {name} --engine bubblewrap",
        )
    return found


def find(image: ImageDefinition) -> UnpackedImage | None:
    folder = _folder(image)
    try:
        facts = json.loads((folder / "image.json").read_text())
    except FileNotFoundError:
        return None
    return UnpackedImage(folder, facts["digest"], Path(facts["usr"]) if facts["usr"] else None)


def build(image: ImageDefinition, lease: Lease, progress: Progress) -> str:
    """Build the image into the cache and return its digest. It appears whole or not at all; older versions go."""
    target = _folder(image)
    check_free_space(target, _NEEDED_BYTES)
    target.parent.mkdir(parents=True, exist_ok=True)
    for remains in abandoned_scratch():
        shutil.rmtree(remains, ignore_errors=True)
    with scratch_folder(lease, target.parent) as folder:
        aside = Path(folder, "image")
        (aside / "rootfs").mkdir(parents=True)
        if can_bootstrap():
            digest, usr = _build_debian(image, aside / "rootfs", lease, progress)
        else:
            digest, usr = _build_on_host(image, aside / "rootfs", progress)
        with written_whole(aside / "image.json") as file:
            file.write(json.dumps({"name": image.name, "digest": digest, "usr": usr}).encode() + b"\n")
        aside.rename(target)
    _remove_older(image)
    return digest


def _folder(image: ImageDefinition) -> Path:
    return images_folder() / f"{image.name}-{image.content_key()[:16]}"


def _build_debian(image: ImageDefinition, rootfs: Path, lease: Lease, progress: Progress) -> tuple[str, str | None]:
    """A root of its own. Its digest is that of the tar it came from."""
    opt = rootfs.with_name("opt")
    fetch_tools(image, opt, python_version=PYTHON_VERSION, progress=progress)
    progress(f"making the {image.name} root with mmdebstrap")
    tar = rootfs.with_name("root.tar")
    hooks = (
        f'copy-in "{opt}" /',
        f'copy-in "{SETUP_SCRIPT}" /tmp',
        'chroot "$1" sh /tmp/setup.sh',
        'rm "$1/tmp/setup.sh"',
    )
    bootstrap(tar, lease, packages=image.packages, hooks=hooks)
    with tar.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    run_tool(
        [
            *("tar", "--extract", "--numeric-owner", "--preserve-permissions", "--exclude=./dev/*"),
            *("--file", str(tar), "--directory", str(rootfs)),
        ],
        purpose=f"unpack the {image.name} root",
        mend="free some space, then run it again",
    )
    tar.unlink()
    shutil.rmtree(opt)
    return f"sha256:{digest}", None


def _build_on_host(image: ImageDefinition, rootfs: Path, progress: Progress) -> tuple[str, str]:
    """Everything but ``/usr``, which is the host's."""
    progress(f"no root or no mmdebstrap: the {image.name} image takes this machine's own /usr")
    for name in _MOUNT_POINTS:
        (rootfs / name).mkdir(parents=True, exist_ok=True)
    for link in (Path("/bin"), Path("/sbin"), *Path("/").glob("lib*")):
        if not link.is_symlink():
            raise SandboxError(
                "this machine keeps programs outside /usr",
                where=str(link),
                mend="install mmdebstrap and run it as root",
            )
        (rootfs / link.name).symlink_to(link.readlink())
    _write_etc(rootfs / "etc")
    fetch_tools(image, rootfs / "opt", python_version=_host_python_version(), progress=progress)
    compile_python(rootfs)
    release = platform.freedesktop_os_release()
    return f"{HOST_DIGEST_PREFIX}{release['ID']}-{release.get('VERSION_ID', 'rolling')}", "/usr"


def compile_python(rootfs: Path) -> None:
    """What ``setup.sh`` does inside a Debian root, by the host's Python: the bytecode names the paths inside."""
    subprocess.run(
        [_HOST_PYTHON, "-m", "compileall", "-q", "-s", str(rootfs), "-p", "/", str(rootfs / "opt")],
        check=False,  # packages hold files that are no Python of this version, and are not meant to be
        capture_output=True,
    )


def _write_etc(etc: Path) -> None:
    for name in _HOST_ETC:
        source = Path("/etc", name)
        if source.is_dir():
            shutil.copytree(source, etc / name, symlinks=True)
        elif source.exists():
            shutil.copy(source, etc / name, follow_symlinks=False)
    (etc / "passwd").write_text(
        "root:x:0:0:root:/root:/bin/bash\n"
        f"user:x:{_USER_ID}:{_USER_ID}::/home/user:/bin/bash\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    )
    (etc / "group").write_text(f"root:x:0:\nuser:x:{_USER_ID}:\nnogroup:x:65534:\n")
    (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files\n")
    (etc / "hosts").write_text("127.0.0.1 localhost sandbox\n")


def _host_python_version() -> str:
    """Of the Python that will run the tools."""
    try:
        answer = subprocess.run([_HOST_PYTHON, "--version"], check=True, capture_output=True, text=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        raise SandboxError(
            "bubblewrap sandboxes need a working python3 in this machine's /usr/bin", mend="apt-get install python3"
        ) from None
    return ".".join(answer.stdout.split()[1].split(".")[:2])


def _remove_older(image: ImageDefinition) -> None:
    """Remove builds from older definitions, except those that a sandbox is running on."""
    current = _folder(image)
    for folder in current.parent.glob(f"{image.name}-{_BUILD_KEY}"):
        lock = folder / "image.json"
        if folder == current or not lock.exists():
            continue
        with lock.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(folder)
