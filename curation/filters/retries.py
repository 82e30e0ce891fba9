"""Cycles of retries: an action that could not be carried out as given, its error, and the action nearly the same again.

Of a cycle every refused action is found, and the retry that succeeds is not. A refused action that nobody repeats is no
cycle: its error is what the environment answers to such an action.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.neighbours import Turns
from curation.reasons import Booleans
from curation.statistics import batch_statistics
from trajectories.model import ErrorKind

COLUMNS: Final = ("trajectory_id", "action", "error_kind")


def are_retried(turns: Turns, similarity: float) -> Booleans:
    """Which turns of a row group are refused actions of a cycle, also of one that reaches over its ends.

    Args:
        turns: a row group with `COLUMNS`.
        similarity: from which Jaccard index of their words on two actions are nearly the same.
    """
    rows = turns.rows.select(COLUMNS)
    refused = _refused(rows)
    if not refused.any():
        return refused
    # A cycle goes over an end of the row group only from a refused action on.
    before = turns.last_before(COLUMNS) if refused[0] else rows.slice(0, 0)
    after = turns.first_after(COLUMNS) if refused[-1] else rows.slice(0, 0)
    found = _in_cycles(pa.concat_tables([before, rows, after]), similarity)
    return found[len(before) : len(before) + len(rows)]


def _refused(rows: pa.Table) -> Booleans:
    refused: Booleans = pc.fill_null(pc.equal(rows["error_kind"], ErrorKind.AGENT.value), False).to_numpy()
    return refused


def _in_cycles(rows: pa.Table, similarity: float) -> Booleans:
    refused = _refused(rows)
    retried = np.zeros(len(rows), dtype=np.bool_)
    firsts = np.flatnonzero(refused[:-1])
    retried[firsts] = _follow(rows.take(pa.array(firsts)), rows.take(pa.array(firsts + 1)), similarity)
    retries = np.concatenate([[False], retried[:-1]])
    return retried | retries & refused


def _follow(firsts: pa.Table, seconds: pa.Table, similarity: float) -> Booleans:
    """Of pairs of turns, which are of one trajectory and have nearly the same action."""
    together = pc.equal(firsts["trajectory_id"], seconds["trajectory_id"])
    same = pc.equal(firsts["action"], seconds["action"])
    # The share of common words is symmetric: for it, an action may stand in the observation's place.
    alike = pc.greater_equal(batch_statistics(firsts["action"], seconds["action"])["jac"], similarity)
    found: Booleans = pc.fill_null(pc.and_kleene(together, pc.or_kleene(same, alike)), False).to_numpy()
    return found
