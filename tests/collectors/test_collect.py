"""Collecting: so many sandboxes at a time, failures kept in their task, never the same episode twice."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest

from collectors.collect import Progress, collect
from collectors.runs import RunBusyError, exclusive_run
from collectors.tasks import Task
from sandboxes import Container, ContainerSpec, Engine
from sandboxes.engines.base import Resource
from tests.collectors.collecting import Work, owned_here
from tests.collectors.test_killed import wait_for_turns
from trajectories import Action, Dataset, InputError, Status, StorageError, replay

RUN = "run"
TOKEN = "tok_" + "5d41402abc4b2a76b9719d911017c592" * 5
"""Longer than a row of the screen."""


def terminal(task_id: str, *lines: str, **options: object) -> Task:
    actions = [Action.keys((f"{line}\n", 5.0)) for line in lines]
    return Task.model_validate(
        {"id": task_id, "domain": "terminal", "instruction": "Do it.", "actions": actions, **options}
    )


async def most_owned(engine: Engine, state: Path, work: asyncio.Task[object]) -> int:
    """The largest number of this test's containers that were seen at a time while ``work`` ran."""
    most = 0
    while not work.done():
        most = max(most, len(await owned_here(engine, state)))
    return most


async def test_no_more_sandboxes_exist_at_a_time_than_asked_for(
    dataset: Dataset, any_engine: Engine, state: Path
) -> None:
    tasks = [terminal(f"t{number}", "sleep 0.2") for number in range(5)]
    work = asyncio.create_task(collect(dataset, tasks, policy="scripted", engine=any_engine, run=RUN, concurrency=2))
    assert await most_owned(any_engine, state, work) == 2
    assert (await work).num_trajectories == 5


async def test_what_was_recorded_is_skipped_and_the_rest_is_done(dataset: Dataset, any_engine: Engine) -> None:
    tasks = [terminal("a", "echo 1"), terminal("b", "echo 2")]
    first = await collect(dataset, tasks[:1], policy="scripted", engine=any_engine, run=RUN)
    both = await collect(dataset, tasks, policy="scripted", engine=any_engine, run=RUN)
    again = await collect(dataset, tasks, policy="scripted", engine=any_engine, run=RUN)
    assert [(s.num_trajectories, s.num_skipped) for s in (first, both, again)] == [(1, 0), (1, 1), (0, 2)]
    assert dataset.scan_turns().collect().height == 2


async def test_a_task_that_cannot_start_is_counted_and_harms_no_other(dataset: Dataset, any_engine: Engine) -> None:
    tasks = [terminal("broken", "true", setup=["no-such-command"]), terminal("good", "true")]
    summary = await collect(dataset, tasks, policy="scripted", engine=any_engine, run=RUN, concurrency=1)
    assert summary.statuses == {Status.COMPLETED: 1}
    assert list(summary.failures) == ["broken#0"]
    assert "no-such-command: command not found" in summary.failures["broken#0"]


async def test_no_secret_is_in_the_reason_of_a_failure(dataset: Dataset, any_engine: Engine) -> None:
    tasks = [terminal("broken", "true", setup=['echo "401 for $TOKEN"; exit 1'])]
    summary = await collect(
        dataset, tasks, policy="scripted", engine=any_engine, run=RUN, secrets={"TOKEN": "tok-5d41402a"}
    )
    assert "401 for [secret:TOKEN]" in summary.failures["broken#0"]
    assert "tok-5d41402a" not in repr(summary)


async def test_no_secret_is_in_an_error_that_ends_the_call(dataset: Dataset, any_engine: Engine) -> None:
    task = Task.model_validate({"id": "t", "domain": "nowhere-5d41402a", "instruction": "Do it."})
    with pytest.raises(InputError, match=r"no domain 'nowhere-\[secret:TOKEN\]'"):
        await collect(dataset, [task], policy="scripted", engine=any_engine, run=RUN, secrets={"TOKEN": "5d41402a"})


async def test_a_trajectory_ends_at_the_limit_of_turns_or_when_the_shell_is_left(
    dataset: Dataset, any_engine: Engine
) -> None:
    tasks = [terminal("long", "true", "true", "true"), terminal("left", "exit 3", "echo never")]
    summary = await collect(dataset, tasks, policy="scripted", engine=any_engine, run=RUN, max_turns=2)
    assert summary.statuses == {Status.MAX_TURNS: 1, Status.COMPLETED: 1}
    assert summary.num_turns == 3


class DyingEngine:
    """An engine whose containers die at the moment somebody asks whether they are alive."""

    def __init__(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        self._engine = engine
        self._monkeypatch = monkeypatch
        self.name = engine.name

    async def create(self, spec: ContainerSpec) -> Container:
        container = await self._engine.create(spec)
        ask = container.alive

        async def die_first() -> bool:
            await container.kill()
            return await ask()

        self._monkeypatch.setattr(container, "alive", die_first)
        return container

    async def owned(self) -> list[Resource]:
        return await self._engine.owned()

    async def remove(self, resource: Resource) -> None:
        await self._engine.remove(resource)

    async def close(self) -> None:
        await self._engine.close()


@pytest.mark.parametrize("max_turns", [1, 2], ids=["at the limit of turns", "with nothing more to do"])
async def test_a_sandbox_that_died_after_its_last_turn_has_failed(
    dataset: Dataset, engine: Engine, monkeypatch: pytest.MonkeyPatch, max_turns: int
) -> None:
    call = Task(
        id="call",
        domain="mcp",
        instruction="x",
        servers=("sqlite",),
        actions=(Action.call("list_tables", {}),),
    )
    summary = await collect(
        dataset,
        [terminal("typed", "true"), call],
        policy="scripted",
        engine=DyingEngine(engine, monkeypatch),
        run=RUN,
        max_turns=max_turns,
    )
    reason = "the sandbox died after its last turn"
    assert summary.failures == {"typed#0": reason, "call#0": reason}
    rows = dataset.scan_trajectories().select("status", "error").collect().rows()
    assert rows == [(Status.FAILED, reason)] * 2


async def test_a_program_that_kills_all_it_can_ends_no_sandbox_unseen(dataset: Dataset, engine: Engine) -> None:
    tasks = [terminal("others", "kill -9 -1"), terminal("itself", "kill -9 $$")]
    summary = await collect(dataset, tasks, policy="scripted", engine=engine, run=RUN, episodes=2)
    assert summary.statuses == {Status.COMPLETED: 2, Status.FAILED: 2}
    assert list(summary.failures) == ["itself#0", "itself#1"]


async def test_progress_tells_of_every_turn_and_every_end(dataset: Dataset, any_engine: Engine) -> None:
    seen: list[Progress] = []
    await collect(
        dataset, [terminal("t", "true", "false")], policy="scripted", engine=any_engine, run=RUN, progress=seen.append
    )
    assert [(step.turn, step.num_turns, step.num_ended, step.num_planned) for step in seen] == [
        (1, 1, 0, 1),
        (2, 2, 0, 1),
        (None, 2, 1, 1),
    ]


async def test_a_secret_that_a_real_shell_prints_wraps_and_echoes_is_nowhere_in_the_data_set(
    dataset: Dataset, any_engine: Engine
) -> None:
    task = terminal(
        "secrets",
        "env | grep TOKEN",
        f"echo {TOKEN} | wc -c",
        "printf 'x%.0s' $(seq 100); echo $TOKEN",
        "grep --color=always 5d41 <<< $TOKEN",
        "echo $TOKEN | fold -w 40",
    )
    early = task.model_copy(
        update={
            "id": "early",
            "actions": (Action.keys((f"echo {TOKEN[:60]}", 0.3)), Action.keys((f"{TOKEN[60:]}\n", 1.0))),
        }
    )
    await collect(dataset, [task, early], policy="scripted", engine=any_engine, run=RUN, secrets={"TOKEN": TOKEN})
    rows = dataset.scan_trajectories().collect()
    texts = dataset.scan_turns().collect()["observation"].to_list()
    assert all('"TOKEN"' in counts for counts in rows["redactions_json"])
    assert sum("[secret:TOKEN]" in text for text in texts) >= 5
    for trajectory_id in rows["trajectory_id"]:
        raw = "".join(event.data for event in dataset.recording(trajectory_id))
        assert TOKEN[10:40] not in raw
        assert len(list(replay(dataset.recording(trajectory_id)))) > 0
    assert all(TOKEN[10:40] not in text for text in texts)


async def test_two_processes_cannot_work_on_one_run(dataset: Dataset, any_engine: Engine) -> None:
    with exclusive_run(dataset, RUN), pytest.raises(RunBusyError, match="another process is collecting the run 'run'"):
        await collect(dataset, [terminal("t", "true")], policy="scripted", engine=any_engine, run=RUN)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"policy": "exlore"}, "unknown policy 'exlore'; did you mean 'explore'?"),
        ({"run": "../up"}, "../up"),
        ({"concurrency": 0}, "must be at least 1"),
        ({"secrets": {"PIN": "1234"}}, "the secret 'PIN' has 4 characters"),
        ({"secrets": {"KEY": "secret-run"}, "run": "my-secret-run"}, "the name of the run holds a secret"),
        (
            {"tasks": [terminal("t", "ls", options={"colums": 80})]},
            "no option 'colums' (task t); did you mean 'columns'?",
        ),
        ({"tasks": [terminal("t", "ls", options={"image": "../../x"})]}, "no sandbox image '../../x' (task t)"),
        ({"tasks": [terminal("t")]}, "the task has no actions to run as a script (task t); use --policy explore"),
        ({"tasks": [Task(id="t", domain="termnal", instruction="x")]}, "no domain 'termnal' (task t)"),
    ],
)
async def test_wrong_input_is_refused_before_anything_is_recorded(
    dataset: Dataset, any_engine: Engine, change: dict[str, object], expected: str
) -> None:
    arguments: dict[str, object] = {"tasks": [terminal("t", "true")], "policy": "scripted", "run": RUN, **change}
    tasks = arguments.pop("tasks")
    with pytest.raises(InputError) as refusal:
        await collect(dataset, tasks, engine=any_engine, **arguments)  # type: ignore[arg-type]  # what the cases vary
    assert expected in str(refusal.value)
    assert not dataset.folder.exists()


async def test_too_little_room_stops_it_before_it_begins(dataset: Dataset, any_engine: Engine) -> None:
    too_much = 2 * shutil.disk_usage(Path.cwd()).total
    tasks = [terminal("t", "true")]
    with pytest.raises(StorageError, match="MiB are free, and collecting needs"):
        await collect(dataset, tasks, policy="scripted", engine=any_engine, run=RUN, min_free_bytes=too_much)


async def test_a_second_signal_ends_it_within_the_turn_and_without_an_error(
    tmp_path: Path, state: Path, any_engine: Engine
) -> None:
    tasks = tmp_path / "tasks.yaml"
    line = '{keystrokes: "sleep 1000\\n", duration: 100}'
    tasks.write_text(f"{{id: t, domain: terminal, instruction: x, actions: [echo begun, {line}]}}")
    work = Work(
        dataset=tmp_path / "data",
        tasks=tasks,
        state=state,
        acknowledged=tmp_path / "acknowledged",
        engine="docker" if any_engine.name == "docker" else "bubblewrap",
    )
    process = work.start()
    await asyncio.to_thread(wait_for_turns, work, process, 1)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    os.kill(process.pid, signal.SIGTERM)  # another one, for two of a kind may arrive as one
    await asyncio.to_thread(process.join, 30)
    assert process.exitcode == 0
    rows = Dataset(work.dataset).scan_trajectories().select("status", "num_turns").collect().rows()
    assert rows == [(Status.INTERRUPTED, 1)]
    assert await owned_here(any_engine, state) == set()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_after_the_turn_with_everything_compacted(
    tmp_path: Path, state: Path, any_engine: Engine, number: signal.Signals
) -> None:
    tasks = tmp_path / "tasks.yaml"
    lines = ", ".join(["sleep 0.2; echo done"] * 20)
    tasks.write_text(f"{{id: t, domain: terminal, instruction: x, actions: [{lines}]}}")
    work = Work(
        dataset=tmp_path / "data",
        tasks=tasks,
        state=state,
        acknowledged=tmp_path / "acknowledged",
        engine="docker" if any_engine.name == "docker" else "bubblewrap",
        episodes=4,
    )
    process = work.start()
    await asyncio.to_thread(wait_for_turns, work, process, 3)
    assert process.pid is not None
    os.kill(process.pid, number)
    await asyncio.to_thread(process.join, 30)
    assert process.exitcode == 0
    dataset = Dataset(work.dataset)
    rows = dataset.scan_trajectories().collect()
    assert set(rows["status"]) == {Status.INTERRUPTED}
    assert rows["num_turns"].sum() == len(work.acknowledged_turns())
    assert "done" in str(dataset.scan_turns().collect()["observation"][-1])
    assert dataset.journal_paths(work.run) == []
    assert await owned_here(any_engine, state) == set()
