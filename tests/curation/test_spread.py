"""Tasks give the same results in this process and in others, and their errors reach the user as they are."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from operator import neg
from pathlib import Path
from unittest import mock

import pytest
from distributed import LocalCluster

from curation import CurationProfile
from curation import spread as spread_module
from curation.passes import Workers
from curation.spread import Pool, spread
from trajectories import InputError, WorldtapeError


def test_one_worker_or_one_task_needs_no_other_process() -> None:
    assert list(spread(lambda _: os.getpid(), [1, 2], scheduler=None, workers=1)) == [os.getpid()] * 2
    assert list(spread(lambda _: os.getpid(), [1], scheduler=None, workers=8)) == [os.getpid()]


@pytest.mark.slow
def test_workers_that_are_asked_for_do_even_little_work_and_others_only_what_is_worth_it() -> None:
    tasks, num_bytes = list(range(4)), [1] * 4
    assert set(Workers().each(process_of, tasks, num_bytes, stage="turns")) == {os.getpid()}
    asked_for = list(Workers(number=2).each(process_of, tasks, num_bytes, stage="turns"))
    assert len(asked_for) == 2
    assert os.getpid() not in asked_for


def process_of(_tasks: list[int]) -> int:
    return os.getpid()


def test_no_tasks_have_no_results() -> None:
    assert list(spread(neg, [], scheduler=None, workers=2)) == []


@pytest.mark.slow
def test_workers_give_every_result_and_raise_what_a_task_raised(capfd: pytest.CaptureFixture[str]) -> None:
    assert sorted(spread(neg, list(range(20)), scheduler=None, workers=2)) == list(range(-19, 1))
    missing = [Path("nowhere.toml"), Path("elsewhere.toml")]
    with pytest.raises(InputError, match=r"cannot be read \((nowhere|elsewhere)\.toml\)") as raised:
        list(spread(CurationProfile.from_toml, missing, scheduler=None, workers=2))
    assert raised.value.exit_code == 2
    assert capfd.readouterr() == ("", ""), "what went wrong is told once"


TWICE = """
from curation.spread import own_cluster
if __name__ == "__main__":
    for _ in range(2):
        with own_cluster(1) as cluster:
            print(len(cluster.workers))
"""


@pytest.mark.slow
def test_workers_are_started_any_number_of_times_in_a_process_that_had_not_loaded_dask(tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    script.write_text(TWICE)
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (0, "1\n1\n"), done.stderr


@pytest.mark.slow
def test_a_task_that_kills_every_worker_is_one_clear_line() -> None:
    with pytest.raises(WorldtapeError, match=r"killed every worker .* more memory"):
        list(spread(os._exit, [1, 1], scheduler=None, workers=2))


@contextmanager
def worker_of(scheduler: str) -> Iterator[subprocess.Popen[str]]:
    """A worker process of its own, without a nanny that would start it again."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-nanny", "--no-dashboard"]
    command += ["--nthreads", "1"]
    with subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def scheduler() -> Iterator[str]:
    """The address of a scheduler that nobody works for."""
    with LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def die_the_first_time(task: tuple[Path, int]) -> int:
    """What the task says, but for the one worker that is the first to be at it."""
    started, result = task
    try:
        started.touch(exist_ok=False)
    except FileExistsError:
        return result
    os.kill(os.getpid(), signal.SIGKILL)
    return result


@pytest.mark.slow
def test_a_job_whose_workers_are_all_dead_ends_with_one_line_after_its_patience(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What it has given until then stands."""
    results: list[int] = []
    with worker_of(scheduler), Pool(scheduler=scheduler, workers=1) as pool:
        results += pool.map(neg, [1])
        caplog.clear()
        monkeypatch.setattr(spread_module, "_PATIENCE_S", 0)
        with pytest.raises(InputError, match=rf"no worker for 0 seconds \({scheduler}\); .*goes on where") as raised:
            results += pool.map(die_the_first_time, [(tmp_path / "started", 2)])
    assert results == [-1]
    assert raised.value.exit_code == 2
    assert [record.message for record in caplog.records if record.name == "curation.spread"] == [
        "the Dask scheduler has no worker; waiting 0 seconds for one"
    ]


@pytest.mark.slow
def test_a_worker_that_comes_while_a_job_waits_for_one_does_what_is_left(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as workers, Pool(scheduler=scheduler, workers=1) as pool:

        def send_a_worker(*_: object) -> None:
            workers.enter_context(worker_of(scheduler))

        told = mock.Mock(side_effect=send_a_worker)
        monkeypatch.setattr(spread_module._LOG, "warning", told)
        tasks = [(tmp_path / str(number), number) for number in range(2)]
        tasks[1][0].touch()
        assert sorted(pool.map(die_the_first_time, tasks)) == [0, 1]
        assert told.call_count == 2, "at the start, and when the worker has died"


_DIES_AS_IT_STARTS = """
import os, signal
from pathlib import Path

def dask_setup(worker):
    try:
        os.rename({lives!r}, {lives!r} + ".gone") if {once} else None
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.parametrize("once", [True, False])
def test_workers_are_started_again_where_one_is_killed_while_it_starts(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], once: bool
) -> None:
    lives, preload = tmp_path / "lives", tmp_path / "preload.py"
    lives.touch()
    preload.write_text(_DIES_AS_IT_STARTS.format(lives=str(lives), once=once))
    settings = dict(spread_module._OWN_WORKERS) | {"distributed.worker.preload": [str(preload)]}
    with mock.patch.object(spread_module, "_OWN_WORKERS", settings):
        if once:
            assert sorted(spread(neg, [1, 2], scheduler=None, workers=2)) == [-2, -1]
            assert not lives.exists(), "one was killed"
        else:
            with pytest.raises(WorldtapeError, match=r"started 3 times, and each time one died .* fewer --workers"):
                list(spread(neg, [1, 2], scheduler=None, workers=2))
    assert "Traceback" not in "".join(capfd.readouterr())
