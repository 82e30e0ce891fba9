"""``worldtape images``: the sandbox images."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import typer

from worldtape import options
from worldtape.console import note, show_json, show_table
from worldtape.extras import extra

app = typer.Typer(help="The sandbox images.", no_args_is_help=True)


@app.command("build")
@extra("collect")
def build(
    names: Annotated[list[str] | None, typer.Argument(help="Which images (default: all).")] = None,
    engine: options.Engine = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print the images as JSON.")] = False,
) -> None:
    """Build sandbox images, from a registry's base or by mmdebstrap where none answers; a second call does nothing.

    Example: worldtape images build terminal --engine bubblewrap
    """
    from sandboxes.images import build_image, image_names

    chosen = asyncio.run(_first_available()) if engine == "auto" else engine
    built = [
        build_image(name, engine=chosen, progress=lambda line: note(f"images: {line}"))
        for name in (names or image_names())
    ]
    if as_json:
        show_json([{"name": i.name, "engine": i.engine, "digest": i.digest, "is_new": i.is_new} for i in built])
    else:
        rows = [(i.name, i.engine, i.digest[:19], "built" if i.is_new else "there already") for i in built]
        show_table("Sandbox images", ("image", "engine", "digest", "state"), rows)


async def _first_available() -> Literal["docker", "bubblewrap"]:
    from sandboxes.engines import open_engine
    from sandboxes.leases import Lease

    with Lease.acquire("images") as lease:
        engine = await open_engine("auto", lease)
        await engine.close()
        return "docker" if engine.name == "docker" else "bubblewrap"
