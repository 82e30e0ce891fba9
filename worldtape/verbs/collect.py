"""``worldtape collect``: run tasks now and record them."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from trajectories import InputError
from trajectories.plurals import plural
from worldtape import options
from worldtape.console import note, progress, show_facts, show_json
from worldtape.datasets import local_dataset
from worldtape.extras import extra

if TYPE_CHECKING:
    from collections.abc import Mapping

    from collectors import CollectSummary, Progress, Task
    from sandboxes.engines import EngineName
    from trajectories import Dataset

NAME = "collect"


@extra("collect")
def run(
    tasks: Annotated[list[Path], typer.Argument(help="YAML task files, or folders of them.", parser=options.path_here)],
    dataset: Annotated[str, typer.Option("--dataset", help="The data set's folder; made where it is not there.")],
    policy: Annotated[Literal["scripted", "explore"], typer.Option(help="Who acts.")] = "scripted",
    num: Annotated[int, typer.Option(min=1, help="Episodes of each task.")] = 1,
    concurrency: Annotated[int, typer.Option(min=1, help="Sandboxes at a time.")] = 2,
    seed: Annotated[int, typer.Option(help="Of every random choice.")] = 0,
    max_turns: Annotated[int, typer.Option(min=1, help="A trajectory ends after so many turns.")] = 100,
    run_name: Annotated[
        str | None, typer.Option("--run", help="Name of the run (default: the time); an earlier one goes on.")
    ] = None,
    engine: options.Engine = "auto",
    secret: Annotated[
        list[str] | None,
        typer.Option(help="Name of a variable of ours that the sandboxes get; its value is redacted. May be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Run tasks now and record every turn.

    Killed or stopped, the same command with the same --run goes on: what was cut is begun again.

    Example: worldtape collect examples/tasks --dataset data --policy scripted --seed 7
    """
    from collectors import load_tasks

    opened = local_dataset(dataset)
    given = load_tasks(tasks)
    chosen = [task for task in given if policy != "scripted" or task.actions]
    if not chosen:
        raise InputError(
            "none of the tasks has actions to follow", where=", ".join(map(str, tasks)), mend="try --policy explore"
        )
    name = run_name or datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    note(f"collect: run {name}, {plural(len(chosen), 'task')}, {plural(num, 'episode')} each, {policy} policy")
    if len(chosen) < len(given):
        note(f"collect: {plural(len(given) - len(chosen), 'task')} without actions to follow left out")
    summary = asyncio.run(
        _collect(
            opened,
            chosen,
            run_name=name,
            engine_name=engine,
            policy=policy,
            episodes=num,
            concurrency=concurrency,
            seed=seed,
            max_turns=max_turns,
            secrets=_secrets(secret or []),
        )
    )
    _show(summary, dataset, as_json=as_json)
    if summary.interrupted or (summary.failures and not summary.num_trajectories):
        raise typer.Exit(1)


async def _collect(
    dataset: Dataset,
    tasks: list[Task],
    *,
    run_name: str,
    engine_name: EngineName,
    policy: str,
    episodes: int,
    concurrency: int,
    seed: int,
    max_turns: int,
    secrets: Mapping[str, str],
) -> CollectSummary:
    from collectors import collect
    from sandboxes.engines import open_engine
    from sandboxes.leases import Lease

    with Lease.acquire(run_name) as lease, progress("collect", "episode") as report:

        def on_progress(seen: Progress) -> None:
            report(seen.num_ended, seen.num_planned)

        engine = await open_engine(engine_name, lease)
        if engine_name == "auto" and engine.name != "docker":
            note(f"collect: Docker does not answer; the sandboxes run under {engine.name}")
        try:
            return await collect(
                dataset,
                tasks,
                policy=policy,
                engine=engine,
                run=run_name,
                episodes=episodes,
                concurrency=concurrency,
                seed=seed,
                max_turns=max_turns,
                secrets=secrets,
                progress=on_progress,
            )
        finally:
            await engine.close()


def _secrets(names: list[str]) -> dict[str, str]:
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise InputError("no such environment variable", where=missing[0], mend="export it, or leave out --secret")
    return {name: os.environ[name] for name in names}


def _show(summary: CollectSummary, dataset: str, *, as_json: bool) -> None:
    statuses = {str(status): count for status, count in summary.statuses.items()}
    if as_json:
        show_json(
            {
                "run": summary.run,
                "dataset": dataset,
                "trajectories": statuses,
                "turns": summary.num_turns,
                "skipped": summary.num_skipped,
                "failures": dict(summary.failures),
                "interrupted": summary.interrupted,
                "seconds": round(summary.duration_s, 3),
            }
        )
        return
    facts: dict[str, object] = {
        "trajectories": ", ".join(f"{count} {status}" for status, count in statuses.items()) or "none",
        "turns": f"{summary.num_turns:,}",
        "took": f"{summary.duration_s:.1f} s",
    }
    if summary.num_skipped:
        facts["recorded before"] = summary.num_skipped
    show_facts(f"Run {summary.run} in {dataset}", facts)
    for episode, reason in summary.failures.items():
        note(f"collect: {episode} failed: {reason}")
    if summary.interrupted:
        note(f"collect: stopped before all was done; go on with --run {summary.run}")
