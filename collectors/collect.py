"""Runs tasks: so many at a time, each failure kept inside its own task, and never the same episode twice."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from collectors.environment import EngineWithEnvironment
from collectors.ids import Episode
from collectors.policies import History, Policy, make_policy
from collectors.recorder import Origin, Recorder
from collectors.redaction import Redactor
from collectors.runs import exclusive_run, require_space, settle_run
from collectors.stopping import stop_on_signals
from collectors.tasks import Task
from sandboxes import open_sandbox
from sandboxes.base import Sandbox
from sandboxes.engines.base import Engine
from sandboxes.errors import EngineUnavailableError, ImageMissingError
from trajectories import Dataset, ErrorKind, InputError, Status, StorageError, WorldtapeError

_SUCCESSES = (Status.COMPLETED, Status.MAX_TURNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A turn has been recorded, or an episode has ended (``turn`` is None)."""

    trajectory_id: str
    turn: int | None
    num_turns: int
    """Recorded so far in this call."""
    num_ended: int
    """Episodes that have ended in this call, well or not."""
    num_planned: int
    turns_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectSummary:
    """What one call of ``collect`` did."""

    run: str
    num_turns: int
    statuses: Mapping[Status, int]
    """How the trajectories of this call ended."""
    num_skipped: int
    """Episodes that had been recorded before."""
    failures: Mapping[str, str]
    """Episode → why it has no trajectory, or one that failed; without any secret."""
    interrupted: bool
    """It was asked to stop before all was done."""
    duration_s: float

    @property
    def num_trajectories(self) -> int:
        return sum(self.statuses.values())


@dataclass(frozen=True, slots=True)
class _Job:
    task: Task
    episode: Episode
    attempt: int

    @property
    def trajectory_id(self) -> str:
        return self.episode.trajectory_id(self.attempt)


async def collect(
    dataset: Dataset,
    tasks: Sequence[Task],
    *,
    policy: str,
    engine: Engine,
    run: str,
    episodes: int = 1,
    concurrency: int = 2,
    seed: int = 0,
    max_turns: int = 100,
    secrets: Mapping[str, str] | None = None,
    min_free_bytes: int = 2**29,
    progress: Callable[[Progress], None] | None = None,
) -> CollectSummary:
    """Run each task ``episodes`` times and record it in ``dataset``; go on where an earlier call of this run stopped.

    At most ``concurrency`` sandboxes exist at a time. Episodes recorded before are skipped; one that was interrupted
    is begun again as its next attempt. At the end, and when a signal asks to stop, the run is compacted.

    Args:
        policy: ``scripted`` or ``explore``.
        max_turns: after so many turns a trajectory ends as ``Status.MAX_TURNS``.
        secrets: environment variables for the sandboxes, whose values are redacted in all that is recorded, in the
            summary and in errors.
        min_free_bytes: with less room than this no episode begins.
        progress: called after each recorded turn and each ended episode.

    Raises:
        InputError: something that is wrong with the input; nothing has been run.
        RunBusyError: another process works on this run.
        StorageError: the disk is full; all that was recorded is whole.
        EngineUnavailableError, ImageMissingError: no sandbox of any task can be had.
    """
    if min(episodes, concurrency, max_turns) < 1:
        raise InputError("episodes, concurrency and max_turns must be at least 1")
    redactor = Redactor(secrets or {})
    collector = _Collector(
        dataset=dataset,
        engine=engine,
        run=run,
        policy=policy,
        seed=seed,
        max_turns=max_turns,
        secrets=secrets or {},
        redactor=redactor,
        min_free_bytes=min_free_bytes,
        report=progress,
    )
    with redactor.errors():
        collector.check(tasks)
        with exclusive_run(dataset, run), stop_on_signals() as stop:
            require_space(dataset, min_free_bytes)
            await asyncio.to_thread(settle_run, dataset, run)
            collector.plan(tasks, episodes)
            has_room = True
            try:
                await collector.work(concurrency, stop)
            except StorageError:
                has_room = False
                raise
            finally:
                if has_room:
                    await asyncio.to_thread(settle_run, dataset, run)
    return collector.summary(interrupted=stop.is_set())


@dataclass(kw_only=True)
class _Collector:
    """The state of one call of ``collect``."""

    dataset: Dataset
    engine: Engine
    run: str
    policy: str
    seed: int
    max_turns: int
    secrets: Mapping[str, str]
    redactor: Redactor
    min_free_bytes: int
    report: Callable[[Progress], None] | None
    began: float = field(default_factory=time.monotonic)
    jobs: deque[_Job] = field(default_factory=deque)
    num_planned: int = 0
    num_skipped: int = 0
    num_turns: int = 0
    num_ended: int = 0
    statuses: Counter[Status] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)

    def check(self, tasks: Sequence[Task]) -> None:
        """Raises ``InputError`` for a run named after a secret, and for a task that asks for what there is not or has
        nothing for the policy to do."""
        if self.redactor.text(self.run) != self.run:
            raise InputError("the name of the run holds a secret, and names files", mend="give it another name")
        for task in tasks:
            self.sandbox(task)
            make_policy(self.policy, task, seed=self.seed, episode=0)

    def sandbox(self, task: Task) -> Sandbox:
        """A sandbox for the task, not started. Raises ``InputError`` where the task asks for what there is not."""
        engine = EngineWithEnvironment(self.engine, self.secrets)
        try:
            return open_sandbox(task.domain, engine=engine, files=task.files, **task.sandbox_options())
        except InputError as error:
            raise InputError(error.what, where=f"task {task.id}", mend=error.mend) from None

    def plan(self, tasks: Sequence[Task], episodes: int) -> None:
        """List the episodes that are still to be recorded, each with the attempt it is on."""
        recorded = self.dataset.recorded(self.run)
        for number in range(episodes):
            for task in tasks:
                episode = self._episode(task, number)
                attempt = 1
                while recorded.get(episode.trajectory_id(attempt)) is Status.INTERRUPTED:
                    attempt += 1
                if episode.trajectory_id(attempt) in recorded:
                    self.num_skipped += 1
                else:
                    self.jobs.append(_Job(task, episode, attempt))
        self.num_planned = len(self.jobs)

    def _episode(self, task: Task, number: int) -> Episode:
        return Episode(
            run=self.run,
            domain=task.domain,
            task_id=task.id,
            task_sha256=task.task_sha256,
            policy=make_policy(self.policy, task, seed=self.seed, episode=number).name,
            seed=self.seed,
            number=number,
        )

    async def work(self, concurrency: int, stop: asyncio.Event) -> None:
        """Let ``concurrency`` workers empty the list; the first error that is everybody's ends them all."""
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(concurrency, len(self.jobs))):
                    workers.create_task(self._worker(stop))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _worker(self, stop: asyncio.Event) -> None:
        while self.jobs and not stop.is_set():
            require_space(self.dataset, self.min_free_bytes)
            job = self.jobs.popleft()
            try:
                await self._record(job, stop)
            except (EngineUnavailableError, ImageMissingError, StorageError):
                raise
            except Exception as error:
                # What goes wrong with one task stays with that task.
                self.failures[job.episode.label] = _reason(error)
            self._report(job, None)

    async def _record(self, job: _Job, stop: asyncio.Event) -> None:
        policy = make_policy(self.policy, job.task, seed=self.seed, episode=job.episode.number)
        recorder = Recorder(self.sandbox(job.task), self.dataset, self._origin(job))
        try:
            initial = await recorder.start()
            history = History(facts=recorder.facts, initial=initial)
            recorder.status = await self._play(job, policy, recorder, history, stop)
            if recorder.status in _SUCCESSES and not history.last.ended and not await recorder.alive():
                recorder.status, recorder.error = Status.FAILED, "the sandbox died after its last turn"
            if recorder.status is Status.FAILED:
                self.failures[job.episode.label] = recorder.error or history.last.error or "the sandbox ended"
        except StorageError:
            raise  # it stays interrupted: the same run can take it up again
        except Exception as error:
            recorder.status, recorder.error = Status.FAILED, _reason(error)
            raise
        finally:
            try:
                await recorder.close()
            finally:
                if recorder.started:
                    self.statuses[recorder.status] += 1

    async def _play(
        self, job: _Job, policy: Policy, recorder: Recorder, history: History, stop: asyncio.Event
    ) -> Status:
        while not stop.is_set():
            if recorder.num_turns == self.max_turns:
                return Status.MAX_TURNS
            action = await policy.next_action(history)
            if action is None:
                return Status.COMPLETED
            observation = await recorder.step(action)
            history.steps.append((action, observation))
            self.num_turns += 1
            self._report(job, recorder.num_turns)
            if observation.ended:
                return Status.FAILED if observation.error_kind is ErrorKind.ENVIRONMENT else Status.COMPLETED
        return Status.INTERRUPTED

    def _origin(self, job: _Job) -> Origin:
        task, episode = job.task, job.episode
        return Origin(
            trajectory_id=job.trajectory_id,
            run=self.run,
            task_id=task.id,
            task_sha256=episode.task_sha256,
            instruction=task.instruction,
            policy=episode.policy,
            seed=episode.seed,
            attempt=job.attempt,
            licence=task.licence,
            source=task.source,
            split_group=task.split_group or task.id,
            secrets=self.secrets,
        )

    def _report(self, job: _Job, turn: int | None) -> None:
        if turn is None:
            self.num_ended += 1
        if self.report is not None:
            self.report(
                Progress(
                    trajectory_id=job.trajectory_id,
                    turn=turn,
                    num_turns=self.num_turns,
                    num_ended=self.num_ended,
                    num_planned=self.num_planned,
                    turns_per_s=self.num_turns / (time.monotonic() - self.began),
                )
            )

    def summary(self, *, interrupted: bool) -> CollectSummary:
        return CollectSummary(
            run=self.run,
            num_turns=self.num_turns,
            statuses=dict(self.statuses),
            num_skipped=self.num_skipped,
            failures={
                self.redactor.text(episode): self.redactor.observation(reason)
                for episode, reason in self.failures.items()
            },
            interrupted=interrupted,
            duration_s=time.monotonic() - self.began,
        )


def _reason(error: Exception) -> str:
    """What a person is told: our own errors say it all, others need their type."""
    return str(error) if isinstance(error, WorldtapeError) else f"{type(error).__name__}: {error}"
