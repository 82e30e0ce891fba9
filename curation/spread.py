"""Where tasks run: in this process, on worker processes of this machine, or on a Dask scheduler anywhere."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from curation import silent_worker
from trajectories.errors import InputError, WorldtapeError

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

_LOG: Final = logging.getLogger(__name__)
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


class Pool:
    """Worker processes for one job after the other; they start with the first that is worth it, and end with the block.

    Args:
        scheduler: address of a Dask scheduler; without one, ``workers`` processes on this machine are started, or
            none at all where there is one worker, or never more than one task.
    """

    def __init__(self, *, scheduler: str | None, workers: int) -> None:
        self._scheduler, self._workers = scheduler, workers
        self._client: Client | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client = None
        with _silence():
            self._stack.close()

    def map(self, work: Callable[[_Task], _Result], tasks: Sequence[_Task]) -> Iterator[_Result]:
        """The results of ``work`` on every task, in the order they finish.

        Args:
            work: a function that gives the same result however often and wherever it runs: a task whose worker dies is
                given to another.

        Raises:
            InputError: the scheduler does not answer, or has had no worker for a minute.
            WorldtapeError: a task killed several workers in a row; workers of this machine die as they start.
            Exception: what ``work`` raised; the tasks not yet done are given up.
        """
        if self._scheduler is None and min(self._workers, len(tasks)) <= 1:
            yield from map(work, tasks)
            return
        from distributed import KilledWorker  # here, for it loads Dask

        if self._client is None:
            self._client = self._stack.enter_context(_client(self._scheduler, self._workers))
        futures = self._client.map(work, tasks, pure=False)
        try:
            for future, result in _as_they_finish(futures, _Patience(self._client, self._scheduler)):
                if future.cancelled():
                    raise CancelledError
                future.release()  # else all that a worker has done is done again where the worker dies
                yield result
        except KilledWorker as error:
            raise WorldtapeError(
                "a task killed every worker it was given to",
                where=str(error.last_worker.address),
                mend="give the workers more memory, or use fewer of them",
            ) from error
        except CancelledError as error:
            raise WorldtapeError(
                "the Dask scheduler is gone",
                where=self._scheduler,
                mend="run the same command again: it goes on where it stopped",
            ) from error


def spread(
    work: Callable[[_Task], _Result], tasks: Sequence[_Task], *, scheduler: str | None, workers: int
) -> Iterator[_Result]:
    """`Pool.map` of a pool for this one job."""
    with Pool(scheduler=scheduler, workers=min(workers, len(tasks))) as pool:
        yield from pool.map(work, tasks)


_PATIENCE_S: Final = 60
"""How long a scheduler may be without a worker, at the start as later."""
_LOOK_EVERY_S: Final = 1
_NUM_STARTS: Final = 3
"""How often worker processes of this machine are started, where one dies on the way."""
_OWN_WORKERS: Final[Mapping[str, object]] = {
    # What goes wrong in a task is raised here, in one line; the worker would print it with all its calls before that.
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
    "distributed.worker.preload": [silent_worker.__name__],
    # Nobody looks at these; together they take a few per cent of every core.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
}
"""Settings of Dask for workers on this machine, which end with the job."""


@dataclass(slots=True)
class _Patience:
    """Whether there is anybody who works, asked now and then while nothing comes."""

    client: Client
    scheduler: str | None
    next_look: float = 0
    alone_since: float | None = None

    def look(self) -> None:
        """Raises ``InputError`` where there has been no worker for too long; tells the user where that begins."""
        now = time.monotonic()
        if now < self.next_look:
            return
        self.next_look = now + _LOOK_EVERY_S
        if self.client.scheduler_info(n_workers=1)["workers"]:
            self.alone_since = None
        elif self.alone_since is None:
            self.alone_since = now
            _LOG.warning("the Dask scheduler has no worker; waiting %d seconds for one", _PATIENCE_S)
        elif now - self.alone_since >= _PATIENCE_S:
            raise self._too_long()

    def _too_long(self) -> InputError:
        start = f"start one (dask worker {self.scheduler}), and " if self.scheduler else ""
        return InputError(
            f"the Dask scheduler has had no worker for {_PATIENCE_S} seconds",
            where=self.scheduler,
            mend=f"{start}run the same command again: it goes on where it stopped",
        )


def _as_they_finish(futures: Sequence[Future[Any]], patience: _Patience) -> Iterator[tuple[Future[Any], Any]]:
    """Futures with their results: asking each for its own goes through Dask's event loop, which an interrupt upsets."""
    from distributed import as_completed

    completed = as_completed(futures, with_results=True)
    while not completed.is_empty():
        if completed.has_ready():
            patience.alone_since = None
            yield next(completed)
        else:
            patience.look()
            with completed.thread_condition:  # it may have been notified just before, so this is not for long
                completed.thread_condition.wait(timeout=0.1)


@contextmanager
def own_cluster(workers: int) -> Iterator[LocalCluster]:
    """So many worker processes on this machine, until the block ends.

    Raises:
        WorldtapeError: however often they are started, one of them dies on the way.
    """
    import dask
    import distributed  # noqa: F401  # whose own settings would else be gone with ours

    with dask.config.set(dict(_OWN_WORKERS)):
        cluster = _started(workers)
        try:
            yield cluster
        finally:
            # A nanny that is starting a worker asserts when it is told to end it; that must not hide why we stop. The
            # workers are daemons of this process and end with it.
            with suppress(AssertionError):
                cluster.close()


def _started(workers: int) -> LocalCluster:
    """Worker processes of this machine; Dask itself starts those again that die once all have started."""
    from distributed import LocalCluster

    cause: RuntimeError | None = None
    for _ in range(_NUM_STARTS):
        try:
            with _silence():
                return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        except RuntimeError as error:
            cause = error
    raise WorldtapeError(
        f"{workers} worker processes were started {_NUM_STARTS} times, and each time one died on the way",
        mend="give the machine more memory, or use fewer --workers; what is done is kept",
    ) from cause


@contextmanager
def _silence() -> Iterator[None]:
    """No log of anything: in the middle of its work, Dask complains of being closed, which would hide why we stop."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def _client(scheduler: str | None, workers: int) -> Iterator[Client]:
    from distributed import Client

    if scheduler is None:
        with own_cluster(workers) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(scheduler, timeout="10s")
    except (OSError, ValueError) as error:
        raise InputError("no Dask scheduler answers", where=scheduler, mend="check the address") from error
    with client:
        yield client
