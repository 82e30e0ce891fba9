"""``worldtape inspect``: what a data set holds; one trajectory as text, turn by turn, with class and mask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from trajectories import Dataset, InputError
from worldtape.console import show_facts, show_json, show_table, show_text
from worldtape.extras import extra

if TYPE_CHECKING:
    from trajectories import Trajectory

NAME = "inspect"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HEADER = ("domain", "run", "task_id", "policy", "seed", "attempt", "sandbox", "engine", "status", "error", "num_turns")

Row = dict[str, Any]


def run(
    dataset: Annotated[str, typer.Argument(help="The data set's folder or URL.")],
    trajectory: Annotated[str | None, typer.Argument(help="A trajectory's id, or its beginning.")] = None,
    curation: Annotated[str, typer.Option(help="Whose classes and mask to show.")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """List what a data set holds, or print one trajectory turn by turn with its classes and its mask.

    Example: worldtape inspect data, then: worldtape inspect data 3f2a
    """
    opened = Dataset(dataset)
    if trajectory is None:
        _show_overview(opened, as_json=as_json)
    else:
        _show_trajectory(opened, _full_id(opened, trajectory), curation, as_json=as_json)


def _show_overview(dataset: Dataset, *, as_json: bool) -> None:
    trajectories = dataset.scan_trajectories()
    runs = (
        trajectories.group_by("domain", "run", "policy", "status")
        .agg(pl.len().alias("trajectories"), pl.col("num_turns").sum().alias("turns"))
        .sort("domain", "run", "policy", "status")
        .collect()
    )
    listed = (
        trajectories.sort("domain", "run", "task_id", "attempt", "trajectory_id")
        .select("trajectory_id", "domain", "run", "task_id", "policy", "num_turns", "status")
        .collect()
    )
    if as_json:
        show_json({"runs": runs.to_dicts(), "trajectories": listed.to_dicts()})
        return
    show_table(f"{len(listed):,} trajectories", listed.columns, listed.iter_rows())
    show_table("Runs", runs.columns, runs.iter_rows())


def _full_id(dataset: Dataset, beginning: str) -> str:
    """The one trajectory whose id begins so; an id that is not in Parquet may still be in a journal."""
    ids = dataset.scan_trajectories().filter(pl.col("trajectory_id").str.starts_with(beginning))
    found: list[str] = ids.select("trajectory_id").collect()["trajectory_id"].to_list()
    if len(found) > 1 and beginning not in found:
        raise InputError(
            f"{len(found)} trajectories begin with {beginning}",
            where=dataset.url,
            mend=f"say more: {', '.join(found[:3])}",
        )
    return found[0] if len(found) == 1 else beginning


def _show_trajectory(dataset: Dataset, trajectory_id: str, curation: str, *, as_json: bool) -> None:
    trajectory = dataset.trajectory(trajectory_id)
    judged = _judgements(dataset, trajectory, curation)
    if as_json:
        turns = [{**turn, **judged.get(turn["turn"], {})} for turn in trajectory.turns.to_dicts()]
        show_json(_plain({"trajectory": trajectory.row, "turns": turns}))
        return
    row = trajectory.row
    show_facts(trajectory_id, {name: row[name] for name in _HEADER if row.get(name) is not None})
    show_text(f"\nInstruction\n{_safe(str(row['instruction']))}\n\nInitial state\n{_safe(str(row['initial_state']))}")
    for turn in trajectory.turns.iter_rows(named=True):
        show_text(_turn_text(turn, judged.get(turn["turn"])))


def _judgements(dataset: Dataset, trajectory: Trajectory, name: str) -> dict[int, Row]:
    """Turn → class and mask; empty where the data set is not curated under that name."""
    with extra("curate"):
        from curation import open_sidecar

    sidecar = open_sidecar(dataset, name)
    if sidecar.manifest() is None:
        return {}
    rows = sidecar.scan().filter(
        pl.col("trajectory_id") == trajectory.row["trajectory_id"], pl.col("run") == trajectory.row["run"]
    )
    chosen = rows.select("turn", "class", "kept", "reason", "ol", "nov", "jac", "r").collect()
    return {row["turn"]: row for row in chosen.iter_rows(named=True)}


def _turn_text(turn: Row, judged: Row | None) -> str:
    facts = [f"{turn['duration_s']:.3f} s"]
    facts += [f"exit {turn['exit_code']}"] if turn["exit_code"] is not None else []
    facts += [name.replace("_", " ") for name in ("timed_out", "truncated") if turn[name]]
    facts += [f"{turn['error_kind']} error: {_safe(turn['error'] or '')}"] if turn["error_kind"] else []
    if judged is not None:
        facts.append(f"{judged['class']}, {'in the loss' if judged['kept'] else 'masked'}")
    action, observation = _safe(turn["action"]), _safe(turn["observation"])
    return f"\n### Turn {turn['turn']}  ({'; '.join(facts)})\n> {action}\n{observation}"


def _safe(text: str) -> str:
    """Control characters of a recorded text shown, not obeyed: what was recorded may be hostile."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _plain(value: object) -> Any:
    """JSON's own types; instants in ISO form."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
