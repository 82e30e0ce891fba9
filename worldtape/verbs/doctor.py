"""``worldtape doctor``: what this machine has and lacks, and how to get it."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shutil
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path
from typing import Annotated, Literal

import typer

from trajectories import WorldtapeError
from worldtape.console import note, progress, show_json, show_table

NAME = "doctor"

_EXTRAS = ("collect", "curate", "pack", "train")
_MIN_FREE_BYTES = 5 * 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: what it is now and, where it is not ``ok``, what mends it."""

    what: str
    state: Literal["ok", "missing", "optional"]
    """``optional``: absent, and worldtape does without."""
    detail: str
    mend: str = ""


def run(
    conformance: Annotated[
        bool, typer.Option("--conformance", help="Also put each engine through the conformance kit (a minute).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Say what this machine has and lacks for each part of worldtape, and the command that would get it.

    Leaves with 1 where something needed is missing.

    Example: worldtape doctor --json
    """
    findings = [_python(), *map(_extra, _EXTRAS), *asyncio.run(_engines(conformance)), _accelerator(), _disk()]
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        show_table("This machine", ("what", "state", "found"), [(f.what, f.state, f.detail) for f in findings])
        for finding in findings:
            if finding.mend:
                note(f"doctor: {finding.what}: {finding.mend}")
    if any(finding.state == "missing" for finding in findings):
        raise typer.Exit(1)


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")


def _extra(name: str) -> Finding:
    wanted = [line for line in requires("worldtape") or [] if f'extra == "{name}"' in line]
    missing = [package for package in (re.split(r"[^\w.-]", line)[0] for line in wanted) if not _is_installed(package)]
    if missing:
        return Finding(f"extra '{name}'", "missing", f"no {', '.join(missing)}", f"pip install 'worldtape[{name}]'")
    return Finding(f"extra '{name}'", "ok", "installed")


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


async def _engines(conformance: bool) -> list[Finding]:
    """One working engine is enough; the other is optional."""
    if _extra("collect").state != "ok":
        return []
    docker, bubblewrap = await _engine("docker", conformance), await _engine("bubblewrap", conformance)
    if "ok" in (docker[0].state, bubblewrap[0].state):
        return [*docker, *bubblewrap]
    return [Finding(found.what, "missing", found.detail, found.mend) for found in (docker[0], bubblewrap[0])]


async def _engine(name: Literal["docker", "bubblewrap"], conformance: bool) -> list[Finding]:
    from sandboxes.engines import open_engine
    from sandboxes.leases import Lease

    with Lease.acquire("doctor") as lease:
        try:
            engine = await open_engine(name, lease)
        except WorldtapeError as error:
            return [Finding(f"engine {name}", "optional", error.what, error.mend or "")]
        try:
            found = [Finding(f"engine {name}", "ok", "answers"), *_images(name)]
            if conformance:
                from sandboxes.conformance import run_conformance

                with progress(f"conformance {name}", "check"):
                    results = await run_conformance(engine)
                failed = [result.name for result in results if not result.passed]
                state: Literal["ok", "missing"] = "missing" if failed else "ok"
                detail = f"{len(results) - len(failed)} of {len(results)} hold"
                found.append(
                    Finding(f"conformance {name}", state, detail, f"failed: {', '.join(failed)}" if failed else "")
                )
            return found
        finally:
            await engine.close()


def _images(engine: Literal["docker", "bubblewrap"]) -> list[Finding]:
    from sandboxes.images import image_names, is_built

    return [
        Finding(f"image {name} ({engine})", "ok", "built")
        if is_built(name, engine=engine)
        else Finding(
            f"image {name} ({engine})", "optional", "not built", f"worldtape images build {name} --engine {engine}"
        )
        for name in image_names()
    ]


def _accelerator() -> Finding:
    if not _is_installed("torch"):
        return Finding("accelerator", "optional", "not looked for: torch is not installed")
    import torch

    if torch.cuda.is_available():
        return Finding("accelerator", "ok", torch.cuda.get_device_name(0))
    return Finding("accelerator", "optional", f"none; training runs on {os.cpu_count()} CPU cores")


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    if free < _MIN_FREE_BYTES:
        return Finding("disk here", "missing", f"{free / 2**30:.1f} GiB free", "make room: images and data need 5 GiB")
    return Finding("disk here", "ok", f"{free / 2**30:.1f} GiB free")
