"""The four statistics of a turn: how much of the action comes back in the observation, and how much is new.

With W(x) the set of words of a text (`curation.words.words`) and lengths in Unicode code points:

    OL  = |Wa ∩ Wo| / |Wa|          0 where Wa is empty
    Nov = |Wo \\ Wa| / |Wo|          0 where Wo is empty
    Jac = |Wa ∩ Wo| / |Wa ∪ Wo|     0 where both are empty
    R   = len(obs) / len(act)       +inf where act is empty and obs is not; 1 where both are empty

`turn_statistics` is the plain reference; `batch_statistics` gives the same numbers, bit for bit, at compiled speed.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curation.text_buffers import buffers_of
from curation.words import lower_table, words

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

_TEXT_TYPES = (pa.string(), pa.large_string())
_COUNTS = ("words_action", "words_observation", "words_shared", "len_action", "len_observation")

BATCH_SCHEMA = pa.schema(
    [pa.field(name, pa.float64()) for name in ("ol", "nov", "jac", "r")]
    + [pa.field(name, pa.int64()) for name in _COUNTS]
)
"""What `batch_statistics` returns; a row is null throughout where an input is null or is not UTF-8."""


class TurnStatistics(NamedTuple):
    """Overlap, novelty, Jaccard index and length ratio of one turn."""

    ol: float
    nov: float
    jac: float
    r: float


def turn_statistics(action: str, observation: str) -> TurnStatistics:
    """The statistics of one turn, straight from their definition."""
    wa, wo = words(action), words(observation)
    return TurnStatistics(
        ol=len(wa & wo) / len(wa) if wa else 0.0,
        nov=len(wo - wa) / len(wo) if wo else 0.0,
        jac=len(wa & wo) / len(wa | wo) if wa or wo else 0.0,
        r=_length_ratio(action, observation),
    )


def _length_ratio(action: str, observation: str) -> float:
    if action:
        return len(observation) / len(action)
    return math.inf if observation else 1.0


def batch_statistics(actions: pa.Array | pa.ChunkedArray, observations: pa.Array | pa.ChunkedArray) -> pa.RecordBatch:
    """The statistics of many turns in one compiled pass over the Arrow buffers, which are not copied.

    Args:
        actions, observations: equally long arrays of ``string`` or ``large_string``, sliced or not.

    Returns:
        A record batch of `BATCH_SCHEMA`, a row a turn.

    Raises:
        TypeError: an array is not of a text type.
        ValueError: the arrays differ in length.
    """
    for array in (actions, observations):
        if array.type not in _TEXT_TYPES:
            raise TypeError(f"turn texts must be string or large_string arrays, not {array.type}")
    if len(actions) != len(observations):
        raise ValueError(f"as many actions as observations are needed, not {len(actions)} and {len(observations)}")
    turns = pa.table({"action": actions, "observation": observations})
    parts = [_aligned_statistics(batch.column(0), batch.column(1)) for batch in turns.to_batches() if batch.num_rows]
    return pa.concat_batches(parts) if parts else pa.RecordBatch.from_pylist([], schema=BATCH_SCHEMA)


def _aligned_statistics(actions: pa.Array, observations: pa.Array) -> pa.RecordBatch:
    """`batch_statistics` of two arrays of one chunk each."""
    from curation import kernel  # here, for it loads Numba

    size = len(actions)
    counts = np.zeros((size, len(_COUNTS)), dtype=np.int64)
    outcomes = np.zeros(size, dtype=np.uint8)
    kernel.count_words(*buffers_of(actions), *buffers_of(observations), lower_table(), counts, outcomes)
    null = outcomes == kernel.NOT_UTF8
    for array in (actions, observations):
        if array.null_count:
            null |= array.is_null().to_numpy(zero_copy_only=False)
    for row in np.flatnonzero((outcomes == kernel.CONTEXTUAL_TEXT) & ~null):
        try:
            counts[row] = _reference_counts(actions[row].as_py(), observations[row].as_py())
        except UnicodeDecodeError:
            null[row] = True
    values = (*_statistics_of(counts), *counts.T)
    columns = [pa.array(value, mask=null, from_pandas=False) for value in values]
    return pa.record_batch(columns, schema=BATCH_SCHEMA)


def _reference_counts(action: str, observation: str) -> tuple[int, int, int, int, int]:
    wa, wo = words(action), words(observation)
    return len(wa), len(wo), len(wa & wo), len(action), len(observation)


def _statistics_of(counts: Integers) -> tuple[Floats, Floats, Floats, Floats]:
    """The statistics from the counts: quotients of integers below 2^53, so rounded just as Python rounds them."""
    words_action, words_observation, shared, len_action, len_observation = counts.T
    r = _quotient(len_observation, len_action)
    r[len_action == 0] = np.inf
    r[(len_action == 0) & (len_observation == 0)] = 1.0
    return (
        _quotient(shared, words_action),
        _quotient(words_observation - shared, words_observation),
        _quotient(shared, words_action + words_observation - shared),
        r,
    )


def _quotient(part: Integers, whole: Integers) -> Floats:
    """``part / whole``, 0 where ``whole`` is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole != 0)
