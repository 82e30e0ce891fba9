"""Which turns, or which tokens of them, stay in the loss: draws that depend on (seed, trajectory, turn) alone.

    state = BLAKE2b-64(UTF-8 of "<seed>:<trajectory_id>"), read little-endian
    hash64(seed, trajectory_id, turn) = output number ``turn`` of SplitMix64 seeded with ``state``
    u = hash64 / 2^64, cut to 53 bits, so that it is exact in a double and below 1

A turn is kept iff u < keep ratio. So a turn's fate does not depend on the order of the data, on other turns or on the
worker, and a larger ratio keeps all that a smaller one keeps. SplitMix64: Steele, Lea and Flood, OOPSLA 2014.

Where every token is drawn for itself (`Draw.TOKEN`), the turn's hash64 is in turn the state that its tokens are drawn
from: the u of the observation's token number i, counted from 1, is output number i of SplitMix64 seeded with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from curation.classes import CLASSES, Share, TurnClass
from curation.statistics import Floats, Integers

_GOLDEN = 0x9E3779B97F4A7C15
_FIRST_MIX = 0xBF58476D1CE4E5B9
_SECOND_MIX = 0x94D049BB133111EB
_WRAP = 2**64 - 1


class KeepRatios(BaseModel):
    """The share of each class's turns that stays in the loss: by default that of Qwen-AgentWorld (Qwen Team, 2026,
    arXiv:2606.24597)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    retrieval: Share = 1.0
    expansion: Share = 1.0
    action: Share = 1.0
    echo: Share = 0.05
    boilerplate: Share = 0.1
    transform: Share = 0.5
    other: Share = 1.0

    def of(self, turn_class: TurnClass) -> float:
        """The ratio of one class."""
        ratio: float = getattr(self, turn_class.value)
        return ratio


def keep_ratio(turn_class: TurnClass, *, len_observation: int, ratios: KeepRatios | None = None) -> float:
    """The chance of a turn to stay in the loss: its class's; 1 where the observation is empty."""
    return 1.0 if len_observation == 0 else (ratios or KeepRatios()).of(turn_class)


def keep_ratio_batch(codes: NDArray[np.int8], len_observation: Integers, ratios: KeepRatios) -> Floats:
    """`keep_ratio` of many turns, their classes as places in `CLASSES`."""
    by_code = np.array([ratios.of(turn_class) for turn_class in CLASSES])
    return np.where(len_observation == 0, 1.0, by_code[codes])


def trajectory_state(seed: int, trajectory_id: str) -> int:
    """The SplitMix64 state of a trajectory, in [0, 2^64)."""
    return int.from_bytes(blake2b(f"{seed}:{trajectory_id}".encode(), digest_size=8).digest(), "little")


def splitmix64(state: int, number: int) -> int:
    """Output ``number`` (from 1) of SplitMix64 seeded with ``state``."""
    mixed = (state + number * _GOLDEN) & _WRAP
    mixed = ((mixed ^ mixed >> 30) * _FIRST_MIX) & _WRAP
    mixed = ((mixed ^ mixed >> 27) * _SECOND_MIX) & _WRAP
    return mixed ^ mixed >> 31


def hash64(seed: int, trajectory_id: str, turn: int) -> int:
    """A uniform integer in [0, 2^64) for one turn."""
    return splitmix64(trajectory_state(seed, trajectory_id), turn)


def draw(seed: int, trajectory_id: str, turn: int) -> float:
    """u of one turn, in [0, 1)."""
    return (hash64(seed, trajectory_id, turn) >> 11) / 2**53


def token_draw(seed: int, trajectory_id: str, turn: int, number: int) -> float:
    """u of the observation token ``number`` (from 1) of one turn, in [0, 1)."""
    return (splitmix64(hash64(seed, trajectory_id, turn), number) >> 11) / 2**53


def token_draws(seed: int, trajectory_id: str, turn: int, count: int) -> Floats:
    """`token_draw` of the first ``count`` tokens of one turn's observation, shape ``(count,)``."""
    state = np.array([hash64(seed, trajectory_id, turn)], dtype=np.uint64)
    return draw_batch(state, np.arange(1, count + 1))


def draw_batch(states: NDArray[np.uint64], numbers: NDArray[np.int32] | NDArray[np.int64]) -> Floats:
    """u of these output numbers, each of SplitMix64 seeded with its state: `draw` of many turns, given the states of
    their trajectories."""
    mixed: NDArray[np.uint64] = states + numbers.astype(np.uint64) * np.uint64(_GOLDEN)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(_FIRST_MIX)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(_SECOND_MIX)
    top: NDArray[np.uint64] = (mixed ^ mixed >> np.uint64(31)) >> np.uint64(11)
    return top.astype(np.float64) / 2**53


def trajectory_states(seed: int, trajectory_ids: Sequence[str]) -> NDArray[np.uint64]:
    """`trajectory_state` of many trajectories."""
    return np.array([trajectory_state(seed, trajectory_id) for trajectory_id in trajectory_ids], dtype=np.uint64)
