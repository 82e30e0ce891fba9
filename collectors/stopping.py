"""Stopping in good order: the first SIGINT or SIGTERM asks, the second insists."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that the first signal sets, so that work can end where it is whole.

    Each further one cancels the task: the block then ends early, and without an error.

    Only a process's main thread may take signals; in another one the event is never set.
    """
    stop = asyncio.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    num_cancels = 0

    def on_signal() -> None:
        nonlocal num_cancels
        if stop.is_set():
            num_cancels += 1
            task.cancel()
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, on_signal)
    try:
        yield stop
    except asyncio.CancelledError:
        for _ in range(num_cancels):
            task.uncancel()
        if num_cancels == 0 or task.cancelling():  # somebody else wants the task to end
            raise
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
