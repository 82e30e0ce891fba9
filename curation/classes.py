"""The seven classes of turns, and the rules that tell them apart.

The first rule that holds decides, in this order (echo before boilerplate: every echo also fits boilerplate):

| class | rule, with the default thresholds |
|---|---|
| other | the observation is empty: silence is what the environment answered |
| retrieval | Nov ≥ 0.6 and R > 1 |
| expansion | OL ≥ 0.5 and Nov ≥ 0.5 and R > 1.5 |
| action | Nov ≥ 0.5 and (R ≤ 1 or the observation is short) |
| echo | OL ≥ 0.7 and Nov < 0.3 |
| boilerplate | OL ≥ 0.5 and Nov < 0.5 |
| transform | Nov < 0.5 and R < 1 |
| other | none of these |
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from curation.statistics import Floats, Integers, TurnStatistics

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Ratio = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class TurnClass(StrEnum):
    """What a turn teaches about the environment."""

    RETRIEVAL = "retrieval"
    """The environment brings something new."""
    EXPANSION = "expansion"
    """It repeats the action's words and adds to them."""
    ACTION = "action"
    """It acts, and says little."""
    ECHO = "echo"
    """It says what the action said."""
    BOILERPLATE = "boilerplate"
    """It wraps what the action said."""
    TRANSFORM = "transform"
    """It makes something shorter of what it was given."""
    OTHER = "other"


CLASSES = tuple(TurnClass)
"""The classes in the order of their rules; a class's place is its code in a batch."""


class Thresholds(BaseModel):
    """Where the classes end; `classify` says how they are used. Ratios are of lengths (R).

    The shares and ratios are by default those of Qwen-AgentWorld (Qwen Team, 2026, arXiv:2606.24597).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    retrieval_nov: Share = 0.6
    retrieval_r: Ratio = 1.0
    expansion_ol: Share = 0.5
    expansion_nov: Share = 0.5
    expansion_r: Ratio = 1.5
    action_nov: Share = 0.5
    action_r: Ratio = 1.0
    echo_ol: Share = 0.7
    echo_nov: Share = 0.3
    boilerplate_ol: Share = 0.5
    boilerplate_nov: Share = 0.5
    transform_nov: Share = 0.5
    transform_r: Ratio = 1.0
    short: Annotated[int, Field(ge=0)] = 32
    """An observation of so many code points or fewer is short."""


def classify(stats: TurnStatistics, *, len_observation: int, thresholds: Thresholds | None = None) -> TurnClass:
    """The class of one turn.

    Args:
        stats: `curation.statistics.turn_statistics` of the turn.
        len_observation: code points of the observation.
        thresholds: the default ones unless given.
    """
    t = thresholds or Thresholds()
    ol, nov, _, r = stats
    if len_observation == 0:
        return TurnClass.OTHER
    if nov >= t.retrieval_nov and r > t.retrieval_r:
        return TurnClass.RETRIEVAL
    if ol >= t.expansion_ol and nov >= t.expansion_nov and r > t.expansion_r:
        return TurnClass.EXPANSION
    if nov >= t.action_nov and (r <= t.action_r or len_observation <= t.short):
        return TurnClass.ACTION
    if ol >= t.echo_ol and nov < t.echo_nov:
        return TurnClass.ECHO
    if ol >= t.boilerplate_ol and nov < t.boilerplate_nov:
        return TurnClass.BOILERPLATE
    if nov < t.transform_nov and r < t.transform_r:
        return TurnClass.TRANSFORM
    return TurnClass.OTHER


def classify_batch(
    ol: Floats, nov: Floats, r: Floats, len_observation: Integers, thresholds: Thresholds
) -> NDArray[np.int8]:
    """`classify` of many turns, as codes (places in `CLASSES`)."""
    t = thresholds
    rules = {
        TurnClass.RETRIEVAL: (nov >= t.retrieval_nov) & (r > t.retrieval_r),
        TurnClass.EXPANSION: (ol >= t.expansion_ol) & (nov >= t.expansion_nov) & (r > t.expansion_r),
        TurnClass.ACTION: (nov >= t.action_nov) & ((r <= t.action_r) | (len_observation <= t.short)),
        TurnClass.ECHO: (ol >= t.echo_ol) & (nov < t.echo_nov),
        TurnClass.BOILERPLATE: (ol >= t.boilerplate_ol) & (nov < t.boilerplate_nov),
        TurnClass.TRANSFORM: (nov < t.transform_nov) & (r < t.transform_r),
    }
    codes = [np.int8(CLASSES.index(name)) for name in rules]
    other = np.int8(CLASSES.index(TurnClass.OTHER))
    chosen: NDArray[np.int8] = np.select(list(rules.values()), codes, other)
    return np.where(len_observation == 0, other, chosen)
