"""``worldtape pools``: prove that pools of data have no source in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trajectories import Dataset, InputError
from trajectories.urls import is_url, shown_url
from worldtape.console import note, show_json, show_table
from worldtape.datasets import reading
from worldtape.extras import extra

if TYPE_CHECKING:
    from curation.pools import Violation

NAME = "pools"


@extra("curate")
def run(
    pools: Annotated[
        list[str],
        typer.Argument(metavar="NAME=DATASET...", help="Two pools at least; a pool may be several data sets."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print what they have in common as JSON.")] = False,
) -> None:
    """Check that no two pools (for pre-training, fine-tuning, rewards, evaluation) have a source in common.

    Compared are the trajectories' split groups, sources and ids; of a place in a file, the file. Leaves with 1 where
    something is shared.

    Example: worldtape pools cpt=crawled sft=recorded evaluation=held-out
    """
    from curation.pools import disjoint_groups

    shared = disjoint_groups(_opened(pools))
    if as_json:
        show_json([violation._asdict() for violation in shared])
    elif shared:
        _show(shared)
    else:
        note("pools: they have nothing in common")
    if shared:
        raise typer.Exit(1)


def _opened(pools: list[str]) -> dict[str, list[Dataset]]:
    opened: dict[str, list[Dataset]] = {}
    for pool in pools:
        name, separator, url = pool.partition("=")
        if not name or not separator or not url or is_url(name):
            raise InputError("a pool is given as NAME=DATASET", where=shown_url(pool), mend="for example: cpt=data")
        with reading(url) as dataset:
            dataset.trajectory_parts()  # what is not there is told of the one that it is
        opened.setdefault(name, []).append(dataset)
    return opened


def _show(shared: list[Violation]) -> None:
    rows = [
        (violation.key, violation.value, ", ".join(violation.pools), violation.num_trajectories) for violation in shared
    ]
    show_table("What pools have in common", ("key", "value", "pools", "trajectories"), rows)
