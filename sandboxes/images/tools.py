"""Fetch the pinned tools of an image on the host, where package registries and their certificates are known to work."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from sandboxes.errors import SandboxError
from sandboxes.images.commands import run_tool
from sandboxes.images.definition import ImageDefinition

_GLIBC_TAGS = ("manylinux2014", "manylinux_2_28", "manylinux_2_34")
_MEND = "check that the package registry answers, then run the build again"


def fetch_tools(image: ImageDefinition, opt: Path, *, python_version: str, progress: Callable[[str], None]) -> None:
    """Put every tool of ``image`` under ``opt/NAME/TOOL``, for the image's Python (such as ``3.11``)."""
    opt.mkdir(parents=True, exist_ok=True)
    for tool in image.tools:
        progress(f"fetching {tool.name}")
        target = opt / image.name / tool.name
        if (tool / "requirements.txt").exists():
            _fetch_python(tool, target, python_version)
        elif (tool / "package-lock.json").exists():
            _fetch_node(tool, target)
        else:
            raise SandboxError("a tool has neither requirements.txt nor package-lock.json", where=str(tool))


def _fetch_python(tool: Path, target: Path, python_version: str) -> None:
    machine = platform.machine()
    platforms = [argument for tag in _GLIBC_TAGS for argument in ("--platform", f"{tag}_{machine}")]
    run_tool(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"),
            *("--only-binary=:all:", "--implementation", "cp", "--python-version", python_version, *platforms),
            *("--no-compile", "--target", str(target), "--requirement", str(tool / "requirements.txt")),
        ],
        purpose=f"fetch the Python tool {tool.name}",
        mend=_MEND,
    )


def _fetch_node(tool: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(tool / name, target)
    run_tool(
        ["npm", "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"],
        cwd=target,
        purpose=f"fetch the Node tool {tool.name}",
        mend=f"install npm (apt-get install npm), or {_MEND}" if shutil.which("npm") is None else _MEND,
    )
