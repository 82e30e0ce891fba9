"""Why a turn is kept in the loss, or is not: the reason codes of a sidecar, and which of several is told."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Booleans: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.int8]
"""Reasons as their places in `REASONS`; `NO_REASON` where there is none. Of two, the smaller is told."""


class Reason(StrEnum):
    """Why a turn is kept in the loss, or is not. Of several reasons the first in this order is told."""

    UNREADABLE = "unreadable"
    SUPERSEDED = "superseded"
    CONTAMINATED = "contaminated"
    DUPLICATE_TRAJECTORY = "duplicate_trajectory"
    FEW_TURNS = "few_turns"
    UNDECLARED_TOOL = "undeclared_tool"
    GUI_FAILURE = "gui_failure"
    SANDBOX_DIED = "sandbox_died"
    EMPTY_ACTION = "empty_action"
    RETRY = "retry"
    NO_CHANGE = "no_change"
    TRUNCATED = "truncated"
    DUPLICATE_TURN = "duplicate_turn"
    SILENCE = "silence"
    DRAWN_OUT = "drawn_out"
    DRAWN_BY_TOKEN = "drawn_by_token"
    KEPT = "kept"


MEANINGS: Final[Mapping[Reason, str]] = {
    Reason.UNREADABLE: "Masked: the action or the observation is missing or is not UTF-8.",
    Reason.SUPERSEDED: "Masked: the turn is of an attempt that was interrupted and begun again; both begin alike.",
    Reason.CONTAMINATED: "Masked: the turn holds an item of a benchmark, or is of a trajectory that does.",
    Reason.DUPLICATE_TRAJECTORY: "Masked: the turn is of a trajectory that is an exact or near copy of an earlier one.",
    Reason.FEW_TURNS: "Masked: the turn is of a trajectory with too few turns.",
    Reason.UNDECLARED_TOOL: "Masked: a tool was called that the trajectory does not declare.",
    Reason.GUI_FAILURE: "Masked: the screen's state is missing, or shows a CAPTCHA or an HTTP error.",
    Reason.SANDBOX_DIED: "Masked: the sandbox failed, in this turn or another of its trajectory.",
    Reason.EMPTY_ACTION: "Masked: nothing was done.",
    Reason.RETRY: "Masked: the action was malformed, was refused, and was tried again.",
    Reason.NO_CHANGE: "Masked: the screen is the same before and after.",
    Reason.TRUNCATED: "Masked: the observation was cut when it was recorded.",
    Reason.DUPLICATE_TURN: "Masked: the turn is a copy, exact or nearly, of an earlier one.",
    Reason.SILENCE: "Kept: the observation is empty, and silence is what the environment answered.",
    Reason.DRAWN_OUT: "Masked: the draw was not below the class's keep ratio.",
    Reason.DRAWN_BY_TOKEN: "Kept: each of its tokens is in the loss where its own draw is below the keep ratio.",
    Reason.KEPT: "Kept: the draw was below the class's keep ratio.",
}

REASONS: Final = tuple(Reason)
NO_REASON: Final = np.int8(len(REASONS))
REASON_NAMES: Final = pa.array([reason.value for reason in REASONS], pa.string())
"""What a code takes from this array is its reason; `NO_REASON` is null in `reason_names`."""


def code_of(reason: Reason) -> np.int8:
    """The code of one reason."""
    return np.int8(REASONS.index(reason))


def no_reasons(size: int) -> Codes:
    """The codes of so many turns against which nothing is said."""
    return np.full(size, NO_REASON, dtype=np.int8)


def reason_names(codes: Codes) -> pa.Array:
    """The reasons by name, null where there is none."""
    return REASON_NAMES.take(pa.array(codes, mask=codes == NO_REASON))
