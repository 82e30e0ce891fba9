"""What the filters say of turns, for the tests that ask it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from curation import CurationProfile, Filters, Searches, curate
from tests.curation.recordings import a_header, record_turns
from trajectories import Action, Dataset, ErrorKind, Turn, compact

AGENT, TOOL, ENVIRONMENT = ErrorKind.AGENT, ErrorKind.TOOL, ErrorKind.ENVIRONMENT
NEW = "alpha beta gamma delta epsilon zeta eta theta"
"""An observation that is always kept."""
PAGE = "RootWebArea 'Shop', focused, url=https://shop.example/\n\t[1] button 'Buy'"
BAD = '{"name": "read_file", "arguments": {"file": "/workspace/notes/today.md", "lines": 20'
RETRY = BAD + "}}"
ALONE = Searches(secrets=False, duplicates=False)
"""Many of the trajectories here are copies of each other."""


def reasons(dataset: Dataset, filters: Filters | None = None, name: str = "default") -> dict[str, list[str]]:
    """Trajectory → the reason of each of its turns."""
    profile = CurationProfile(filters=filters or Filters(), searches=ALONE)
    rows = curate(dataset, name=name, profile=profile).sidecar.scan().sort("trajectory_id", "turn").collect()
    assert (rows["kept"] == rows["reason"].is_in(["kept", "silence"])).all()
    grouped = rows.group_by("trajectory_id", maintain_order=True).agg("reason")
    return {str(trajectory_id): told for trajectory_id, told in grouped.iter_rows()}


def told_of(dataset: Dataset, turns: Sequence[Turn], filters: Filters | None = None, **header: Any) -> list[str]:
    """The reasons of the turns of one trajectory."""
    record_turns(dataset, a_header("t", **header), turns)
    compact(dataset, "r1")
    return reasons(dataset, filters)["t"]


def call(name: str, **arguments: str) -> Action:
    return Action.call(name, arguments)
