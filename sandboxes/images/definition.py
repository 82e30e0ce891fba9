"""What an image is made of: a folder of this package with a package list and, where it needs them, pinned tools."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trajectories.errors import InputError

_HERE = Path(__file__).parent
DOCKERFILE = _HERE / "Dockerfile"
SETUP_SCRIPT = _HERE / "setup.sh"
DEBIAN_SUITE = "bookworm"


@dataclass(frozen=True, slots=True)
class ImageDefinition:
    """A sandbox image by name: ``packages.txt`` (Debian packages) and ``opt/TOOL`` folders (npm or PyPI, pinned)."""

    name: str
    folder: Path

    @property
    def packages(self) -> list[str]:
        return self.package_list.read_text().split()

    @property
    def package_list(self) -> Path:
        return self.folder / "packages.txt"

    @property
    def tools(self) -> list[Path]:
        """Folders with a ``requirements.txt`` or ``package-lock.json`` that become ``/opt/NAME/TOOL``."""
        return sorted(path for path in (self.folder / "opt").glob("*") if path.is_dir())

    def content_key(self) -> str:
        """A hash of everything written down about the image: it is built again exactly when this changes."""
        digest = hashlib.sha256(DEBIAN_SUITE.encode())
        for label, path in self._files():
            content = path.read_bytes()
            digest.update(f"\n{label} {len(content)}\n".encode() + content)
        return digest.hexdigest()

    def _files(self) -> Iterator[tuple[str, Path]]:
        yield "Dockerfile", DOCKERFILE
        yield "setup.sh", SETUP_SCRIPT
        for path in sorted(self.folder.rglob("*")):
            if path.is_file():
                yield path.relative_to(self.folder).as_posix(), path


def image_names() -> list[str]:
    """The images that can be built."""
    return sorted(path.parent.name for path in _HERE.glob("*/packages.txt"))


def image_definition(name: str) -> ImageDefinition:
    """The definition of ``name``; an unknown name is an ``InputError`` that lists the known ones."""
    if name not in image_names():
        raise InputError("there is no such sandbox image", where=name, mend=f"choose from {', '.join(image_names())}")
    return ImageDefinition(name, _HERE / name)
