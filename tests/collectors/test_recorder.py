"""Whatever a sandbox does is on disk, without its secrets, before the next action can begin."""

import asyncio
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from collectors.recorder import Origin, Recorder
from sandboxes.errors import SandboxError
from tests.collectors.notepad import Notepad
from trajectories import Action, Dataset, Status, StorageError, compact

RUN = "r1"
TOKEN = "tok-5d41402abc4b2a76"


def origin(trajectory_id: str = "notepad-1", **secrets: str) -> Origin:
    return Origin(
        trajectory_id=trajectory_id,
        run=RUN,
        task_id="t",
        task_sha256="0" * 64,
        instruction="Write something down.",
        policy="scripted@1",
        seed=7,
        licence="CC0-1.0",
        split_group="t",
        secrets=secrets,
    )


def journal_text(dataset: Dataset) -> str:
    return "".join(path.read_text() for path in dataset.journal_paths(RUN))


def stored_bytes(dataset: Dataset) -> bytes:
    return b"".join(path.read_bytes() for path in dataset.folder.rglob("*") if path.is_file())


async def record(dataset: Dataset, notepad: Notepad, *texts: str, **secrets: str) -> None:
    recorder = Recorder(notepad, dataset, origin(**secrets))
    await recorder.start()
    for text in texts:
        await recorder.step(Action.of(text))
    recorder.status = Status.COMPLETED
    await recorder.close()


async def test_a_turn_is_in_the_journal_when_the_step_returns(dataset: Dataset, notepad: Notepad) -> None:
    recorder = Recorder(notepad, dataset, origin())
    await recorder.start()
    for number, text in enumerate(("one", "two"), 1):
        await recorder.step(Action.of(text))
        turns = dataset.trajectory("notepad-1").turns
        assert turns["turn"].to_list() == list(range(1, number + 1))
        assert turns["action_json"].to_list()[-1] == f'"{text}"'
    await recorder.close()


async def test_the_record_says_where_why_and_how_it_ended(dataset: Dataset, notepad: Notepad) -> None:
    await record(dataset, notepad, "one", "look")
    compact(dataset, RUN)
    trajectory = dataset.trajectory("notepad-1")
    expected = {"domain": "notepad", "run": RUN, "sandbox": "notepad@1", "policy": "scripted@1", "seed": 7}
    expected |= {"status": "completed", "num_turns": 2, "licence": "CC0-1.0", "task_description": "A notepad."}
    assert trajectory.row.items() >= expected.items()
    assert trajectory.turns["observation"].to_list() == ["one", "one"]
    assert trajectory.turns["is_noop"].to_list() == [False, True]


async def test_a_record_that_nobody_finished_is_interrupted(dataset: Dataset, notepad: Notepad) -> None:
    recorder = Recorder(notepad, dataset, origin())
    await recorder.start()
    await recorder.close()
    await recorder.close()
    assert dataset.recorded(RUN) == {"notepad-1": Status.INTERRUPTED}


async def test_an_exception_of_the_sandbox_is_a_recorded_turn(dataset: Dataset, notepad: Notepad) -> None:
    recorder = Recorder(notepad, dataset, origin())
    await recorder.start()
    await recorder.step(Action.of("one"))
    observation = await recorder.step(Action.of("crash"))
    await recorder.close()
    assert observation.ended
    last = dataset.trajectory("notepad-1").turns.row(-1, named=True)
    assert (last["turn"], last["error_kind"], last["error"]) == (2, "environment", "RuntimeError: the notepad is torn")


async def test_a_sandbox_that_hangs_is_a_recorded_turn_that_timed_out(dataset: Dataset, notepad: Notepad) -> None:
    recorder = Recorder(notepad, dataset, origin(), step_limit_s=0.05)
    await recorder.start()
    observation = await recorder.step(Action.of("hang"))
    await recorder.close()
    assert (observation.timed_out, observation.ended) == (True, True)
    assert dataset.trajectory("notepad-1").turns["timed_out"].to_list() == [True]


async def test_what_the_environment_tells_of_the_whole_is_the_outcome_without_secrets(dataset: Dataset) -> None:
    notepad = Notepad(outcome={"pages": 2, "cover": f"red {TOKEN}"})
    await record(dataset, notepad, "one", "crash", API_KEY=TOKEN)
    compact(dataset, RUN)
    outcome = json.loads(str(dataset.trajectory("notepad-1").row["outcome_json"]))
    assert outcome == {"pages": 2, "cover": "red [secret:API_KEY]"}


async def test_a_sandbox_that_takes_its_time_is_waited_for_beyond_the_recorders_own_limit(dataset: Dataset) -> None:
    notepad = Notepad(step_timeout_s=1000)
    recorder = Recorder(notepad, dataset, origin(), step_limit_s=0.01)
    await recorder.start()
    step = asyncio.create_task(recorder.step(Action.of("hang")))
    assert (await asyncio.wait([step], timeout=0.1))[0] == set(), "it was given up"
    notepad.goes_on.set()
    assert not (await step).timed_out
    await recorder.close()


async def test_cancellation_passes_through_and_the_action_in_flight_is_not_recorded(
    dataset: Dataset, notepad: Notepad
) -> None:
    recorder = Recorder(notepad, dataset, origin())
    await recorder.start()
    await recorder.step(Action.of("one"))
    hanging = asyncio.create_task(recorder.step(Action.of("hang")))
    await asyncio.sleep(0)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    await recorder.close()
    assert dataset.trajectory("notepad-1").turns["turn"].to_list() == [1]
    assert dataset.recorded(RUN) == {"notepad-1": Status.INTERRUPTED}


async def test_a_sandbox_that_does_not_close_has_failed_on_disk_as_well(dataset: Dataset, notepad: Notepad) -> None:
    with pytest.raises(SandboxError, match="the notepad sticks"):
        await record(dataset, notepad, "one", "stick")
    assert dataset.recorded(RUN) == {"notepad-1": Status.FAILED}
    assert dataset.trajectory("notepad-1").row["error"] == "the sandbox did not close: the notepad sticks"


async def test_a_sandbox_that_died_after_its_last_turn_says_so(dataset: Dataset, notepad: Notepad) -> None:
    recorder = Recorder(notepad, dataset, origin())
    await recorder.start()
    assert await recorder.alive()
    assert not (await recorder.step(Action.of("die"))).ended
    assert not await recorder.alive()
    await recorder.close()


async def test_no_secret_reaches_the_disk_and_each_is_counted(dataset: Dataset) -> None:
    notepad = Notepad(first_line=f"token={TOKEN}")
    await record(dataset, notepad, f"echo {TOKEN}", "plain", "look", API_KEY=TOKEN)
    assert TOKEN not in journal_text(dataset)
    compact(dataset, RUN)
    assert TOKEN.encode() not in stored_bytes(dataset)
    trajectory = dataset.trajectory("notepad-1")
    assert trajectory.row["initial_state"] == "token=[secret:API_KEY]"
    assert trajectory.turns["action"].to_list() == ['"echo [secret:API_KEY]"', '"plain"', '"look"']
    assert trajectory.turns["observation"].to_list()[0] == "token=[secret:API_KEY]\necho [secret:API_KEY]"
    assert json.loads(str(trajectory.row["redactions_json"]))["API_KEY"] > 3
    raw = "".join(event.data for event in dataset.recording("notepad-1") if event.kind == "o")
    assert "echo [secret:API_KEY]" in raw
    assert TOKEN not in raw


async def test_no_field_of_the_header_keeps_a_secret(dataset: Dataset) -> None:
    notepad = Notepad(first_line=TOKEN, versions={f"pad {TOKEN}": f"pad {TOKEN}"})
    why = Origin(
        trajectory_id="notepad-1",
        run=RUN,
        task_id=f"t-{TOKEN}",
        task_sha256="0" * 64,
        instruction=TOKEN,
        policy=TOKEN,
        seed=7,
        model=TOKEN,
        licence=TOKEN,
        source=f"https://example.org/?key={TOKEN}",
        split_group=TOKEN,
        secrets={"API_KEY": TOKEN},
    )
    recorder = Recorder(notepad, dataset, why)
    await recorder.start()
    await recorder.close()
    assert TOKEN not in journal_text(dataset)
    row = dataset.trajectory("notepad-1").row
    assert row["versions_json"] == '{"pad [secret:API_KEY]": "pad [secret:API_KEY]"}'
    assert row["source"] == "https://example.org/?key=[secret:API_KEY]"


async def test_the_policy_sees_what_the_sandbox_answered_not_what_was_redacted(dataset: Dataset) -> None:
    recorder = Recorder(Notepad(), dataset, origin(API_KEY=TOKEN))
    await recorder.start()
    observation = await recorder.step(Action.of(TOKEN))
    await recorder.close()
    assert observation.text == TOKEN


async def test_a_secret_in_the_reason_of_a_failure_is_redacted(dataset: Dataset, notepad: Notepad) -> None:
    recorder = Recorder(notepad, dataset, origin(API_KEY=TOKEN))
    await recorder.start()
    recorder.status, recorder.error = Status.FAILED, f"401 for {TOKEN}"
    await recorder.close()
    assert TOKEN not in journal_text(dataset)


_FILL_A_SMALL_DISK = """
import asyncio, resource
from tests.collectors.notepad import Notepad
from tests.collectors.test_recorder import origin
from collectors.recorder import Recorder
from trajectories import Action, Dataset

async def main():
    # A limit on file size stands for the end of the disk: the write comes back short, then fails.
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
    recorder = Recorder(Notepad(), Dataset({data!r}), origin())
    await recorder.start()
    while True:
        await recorder.step(Action.of("x" * 1000))
        print(recorder.num_turns, flush=True)

asyncio.run(main())
"""


def test_a_full_disk_stops_the_recording_in_one_line_and_leaves_all_turns_whole(dataset: Dataset) -> None:
    program = _FILL_A_SMALL_DISK.format(data=str(dataset.folder))
    here = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=here, check=False)
    num_turns = int(done.stdout.split()[-1])
    assert num_turns > 2
    assert StorageError.__name__ in done.stderr.splitlines()[-1]
    turns = dataset.trajectory("notepad-1").turns
    assert turns["turn"].to_list() == list(range(1, num_turns + 1))


async def test_closing_the_recorder_closes_the_sandbox_also_where_it_was_never_started(
    dataset: Dataset, notepad: Notepad
) -> None:
    recorder = Recorder(notepad, dataset, origin())
    await recorder.close()
    with suppress(FileNotFoundError):
        assert not list(dataset.journal_folder(RUN).iterdir())
