"""``worldtape inspect``: what a data set holds; one trajectory as text, turn by turn, with class, mask and reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from trajectories import Dataset, InputError, Trajectory
from trajectories.plurals import plural
from worldtape.console import note, show_facts, show_json, show_table, show_text
from worldtape.datasets import note_uncommitted, note_unjudged, reading
from worldtape.extras import extra

NAME = "inspect"

_HEADER = (
    *("domain", "run", "task_id", "policy", "seed", "attempt", "sandbox", "engine", "status", "error", "num_turns"),
    *("licence", "source"),
)

Row = dict[str, Any]


def run(
    dataset: Annotated[str, typer.Argument(help="The data set's folder or URL.")],
    trajectory: Annotated[str | None, typer.Argument(help="A trajectory's id, or its beginning.")] = None,
    run: Annotated[str | None, typer.Option(help="Of which run the trajectory is (default: of the only one).")] = None,
    curation: Annotated[
        str | None, typer.Option(help="Whose classes and mask to show (default: 'default', where there is one).")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="List so many trajectories, and so many runs, at most.")] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """List what a data set holds, or print one trajectory turn by turn with its classes, its mask and the reasons.

    Example: worldtape inspect data --limit 10

    Example: worldtape inspect data terminal-3f
    """
    with reading(dataset) as opened:
        if trajectory is None:
            note_uncommitted(NAME, opened)
            trajectories = opened.scan_trajectories()
            _show_overview(trajectories, _sidecar(opened, curation), limit, as_json=as_json)
        else:
            found = _found(opened, trajectory, run)
            _show_trajectory(found, _judgements(found, _sidecar(opened, curation)), as_json=as_json)


def _show_overview(trajectories: pl.LazyFrame, sidecar: pl.LazyFrame | None, limit: int, *, as_json: bool) -> None:
    domains = _domains(trajectories, sidecar)
    runs = (
        trajectories.group_by("domain", "run", "policy", "status")
        .agg(pl.len().alias("trajectories"), pl.col("num_turns").sum().alias("turns"))
        .sort("domain", "run", "policy", "status")
        .collect(engine="streaming")
    )
    listed = (
        trajectories.sort("domain", "run", "task_id", "attempt", "trajectory_id")
        .select("trajectory_id", "domain", "run", "task_id", "policy", "num_turns", "status")
        .head(limit)
        .collect(engine="streaming")
    )
    num_trajectories, num_runs = int(runs["trajectories"].sum()), runs.height
    runs = runs.head(limit)
    if as_json:
        counts = {"num_trajectories": num_trajectories, "num_runs": num_runs}
        tables = {"domains": domains, "runs": runs, "trajectories": listed}
        show_json({**counts, **{name: rows.to_dicts() for name, rows in tables.items()}})
        return
    _show_first(listed, num_trajectories, "trajectory", "trajectories")
    _show_first(runs, num_runs, "run", "runs")
    show_table("Domains", [name.replace("_", " ") for name in domains.columns], domains.iter_rows())


def _show_first(rows: pl.DataFrame, count: int, noun: str, several: str) -> None:
    first = f"The first {rows.height:,} of " if count > rows.height else ""
    show_table(f"{first}{plural(count, noun, several)}", rows.columns, rows.iter_rows())


def _domains(trajectories: pl.LazyFrame, sidecar: pl.LazyFrame | None) -> pl.DataFrame:
    """A row a domain: how many trajectories and turns it has and, where it is curated, how many are in the loss."""
    domains = trajectories.group_by("domain").agg(
        pl.len().alias("trajectories"), pl.col("num_turns").sum().alias("turns")
    )
    if sidecar is not None:
        kept = sidecar.group_by("domain").agg(pl.col("kept").sum().alias("in_the_loss"))
        domains = domains.join(kept, on="domain", how="left").with_columns(pl.col("in_the_loss").fill_null(0))
    return domains.sort("domain").collect(engine="streaming")


def _found(dataset: Dataset, beginning: str, run: str | None) -> Trajectory:
    """The trajectory of that id, which may still be open in its journal; or the one whose id begins so."""
    try:
        return dataset.trajectory(beginning, run)
    except InputError:
        ids = dataset.scan_trajectories().filter(pl.col("trajectory_id").str.starts_with(beginning))
        of_run = ids if run is None else ids.filter(pl.col("run") == run)
        few: list[str] = of_run.select("trajectory_id").unique().head(4).collect()["trajectory_id"].to_list()
        if few in ([], [beginning]):
            raise
    if len(few) > 1:
        raise InputError(
            f"several trajectories begin with {beginning}",
            where=dataset.url,
            mend=f"say more: {', '.join(sorted(few))}",
        )
    return dataset.trajectory(few[0], run)


def _chosen_curation(dataset: Dataset, name: str | None) -> str | None:
    """The one that was asked for, else 'default', else None; a data set without any gets a hint.

    Raises:
        InputError: there is none of that name.
    """
    # Sidecars are read from a local folder only; what is seen through a URL has none.
    found = sorted(path.parent.name for path in Path(dataset.root).glob("curation/[!.]*/manifest.json"))
    if name is None:
        if not found and Path(dataset.root).is_dir():
            note(f"inspect: not curated yet; run: worldtape curate {dataset.url}")
        return "default" if "default" in found else None
    if name not in found:
        mend = f"there are: {', '.join(found)}" if found else f"run: worldtape curate {dataset.url} --name {name}"
        raise InputError(f"there is no curation '{name}'", where=dataset.url, mend=mend)
    return name


def _sidecar(dataset: Dataset, name: str | None) -> pl.LazyFrame | None:
    """What a curation says of every turn; None where none was asked for and there is none."""
    chosen = _chosen_curation(dataset, name)
    if chosen is None:
        return None
    with extra("curate"):
        from curation import open_sidecar

    sidecar = open_sidecar(dataset, chosen)
    note_unjudged(NAME, dataset, len(sidecar.unjudged_parts(dataset)))
    return sidecar.scan()


def _judgements(trajectory: Trajectory, sidecar: pl.LazyFrame | None) -> dict[int, Row]:
    """Turn → class, mask and its reason; empty where there is no curation."""
    if sidecar is None:
        return {}
    row = trajectory.row
    rows = sidecar.filter(pl.col("trajectory_id") == row["trajectory_id"], pl.col("run") == row["run"])
    chosen = rows.select("turn", "class", "kept", "reason", "ol", "nov", "jac", "r").collect(engine="streaming")
    return {row["turn"]: row for row in chosen.iter_rows(named=True)}


def _show_trajectory(trajectory: Trajectory, judged: Mapping[int, Row], *, as_json: bool) -> None:
    row = trajectory.row
    if as_json:
        turns = [{**turn, **judged.get(turn["turn"], {})} for turn in trajectory.turns.to_dicts()]
        show_json({"trajectory": row, "turns": turns})
        return
    show_facts(str(row["trajectory_id"]), {name: row[name] for name in _HEADER if row.get(name) not in (None, "")})
    for name, text in (("Instruction", row["instruction"]), ("Initial state", row["initial_state"])):
        if text:
            show_text(f"\n{name}\n{text}")
    for turn in trajectory.turns.iter_rows(named=True):
        show_text(_turn_text(turn, judged.get(turn["turn"])))


def _turn_text(turn: Row, judged: Row | None) -> str:
    facts = [f"{turn['duration_s']:.3f} s"]
    facts += [f"exit {turn['exit_code']}"] if turn["exit_code"] is not None else []
    facts += [name.replace("_", " ") for name in ("timed_out", "truncated") if turn[name]]
    facts += [f"{turn['error_kind']} error: {turn['error'] or ''}"] if turn["error_kind"] else []
    if judged is not None:
        mask = "in the loss" if judged["kept"] else "masked"
        facts.append(f"{judged['class'] or 'no class'}, {mask}: {judged['reason']}")
    return f"\n### Turn {turn['turn']}  ({'; '.join(facts)})\n> {turn['action']}\n{turn['observation']}"
