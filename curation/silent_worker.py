"""Loaded by each worker process that a job starts for itself: it has nothing to say to the terminal.

What goes wrong in a task is raised where the job runs, in one line. What is left is Dask's complaint, with all its
calls, where a worker that is asked to end finds the others ending too.
"""

from __future__ import annotations

import os
import sys


def dask_setup(_worker: object) -> None:
    """Called by Dask when the worker starts."""
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # as long as the process lives
