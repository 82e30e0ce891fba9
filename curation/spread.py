"""Where tasks run: in this process, on worker processes of this machine, or on a Dask scheduler anywhere."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar

from curation import silent_worker
from trajectories.errors import InputError, WorldtapeError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

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
            InputError: the scheduler does not answer.
            WorldtapeError: a task killed several workers in a row.
            Exception: what ``work`` raised; the tasks not yet done are given up.
        """
        if self._scheduler is None and min(self._workers, len(tasks)) <= 1:
            yield from map(work, tasks)
            return
        from distributed import KilledWorker, as_completed  # here, for it loads Dask

        if self._client is None:
            self._client = self._stack.enter_context(_client(self._scheduler, self._workers))
        futures = self._client.map(work, tasks, pure=False)
        try:
            # With their results: asking each for its own goes through Dask's event loop, which an interrupt upsets.
            for future, result in as_completed(futures, with_results=True):
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
"""How long a scheduler may take to get its first worker."""
_OWN_WORKERS: Final[Mapping[str, object]] = {
    # What goes wrong in a task is raised here, in one line; the worker would print it with all its calls before that.
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
    "distributed.worker.preload": [silent_worker.__name__],
    # Nobody looks at these; together they take a few per cent of every core.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
}
"""Settings of Dask for workers on this machine, which end with the job."""


@contextmanager
def own_cluster(workers: int) -> Iterator[LocalCluster]:
    """So many worker processes on this machine, until the block ends."""
    import dask
    from distributed import LocalCluster

    with dask.config.set(dict(_OWN_WORKERS)):
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        try:
            yield cluster
        finally:
            # A nanny that is starting a worker asserts when it is told to end it; that must not hide why we stop. The
            # workers are daemons of this process and end with it.
            with suppress(AssertionError):
                cluster.close()


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
        _await_worker(client, scheduler)
        yield client


def _await_worker(client: Client, scheduler: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_S)
    except TimeoutError as error:
        raise InputError(
            f"the Dask scheduler has had no worker for {_PATIENCE_S} seconds",
            where=scheduler,
            mend=f"start one: dask worker {scheduler}",
        ) from error
