"""The switches of the filters: the table ``[filters]`` of a curation's profile, its keys named as the reasons are."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from curation.classes import Share


class Scope(StrEnum):
    """What a finding in one turn masks."""

    OFF = "off"
    TURN = "turn"
    """That turn."""
    TRAJECTORY = "trajectory"
    """Every turn of its trajectory."""


class Filters(BaseModel):
    """Which turns are masked for what is wrong with them. Turning a filter on or off changes no other turn's fate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    superseded: bool = True
    """Interrupted attempts at an episode of which a later attempt is recorded: both begin alike."""
    contaminated: Scope = Scope.TRAJECTORY
    """Turns that hold an item of a benchmark that was given. An item in a trajectory's own task, or in what else is
    said before its first turn, masks all of it in any case."""
    duplicate_trajectory: bool = True
    """Trajectories that are exact or near-copies of another, but for the earliest of them. That one may be masked for a
    fault of its own, which its copies then have too."""
    few_turns: Annotated[int, Field(ge=0, le=2**31 - 1)] = 2
    """Trajectories with fewer turns than this, in the domains that are environments; 0 for no such filter."""
    undeclared_tool: Scope = Scope.TRAJECTORY
    """Calls (mcp, swe) of a tool that the trajectory does not declare, where it declares any."""
    undeclared_tool_refused: bool = False
    """Whether it counts also where the answer was an error. That is what a world says to a tool it lacks, and worth
    learning; what misleads is a call that was answered as if the tool were declared."""
    gui_failure: Scope = Scope.TRAJECTORY
    """Screens (web, android, os) whose state is missing, or that show a CAPTCHA, an HTTP error, or an error of the
    browser or app, and little else."""
    sandbox_died: Scope = Scope.TRAJECTORY
    """Turns in which the sandbox failed and, where it did not come back, their trajectories: who knows since when it
    was failing. With ``turn``, what was answered before the failure stays."""
    empty_action: bool = True
    """Nothing was done. A terminal's wait is something, and so is its ``[]``, which says that the task is complete."""
    retry: bool = True
    """Actions that could not be carried out as given, in a cycle of malformed action, error and retry."""
    retry_similarity: Share = 0.6
    """From which Jaccard index of their words on an action is a retry of the one before it."""
    no_change: bool = True
    """Actions (web, android, os) after which the state is the same as before."""
    truncated: bool = True
    """Observations of which less was kept than there was."""
    duplicate_turn: bool = False
    """Turns that are copies of another turn, but for the earliest of them, whatever becomes of that one. What is often
    answered is masked then nearly everywhere, although the world does answer it often."""

    @classmethod
    def none(cls) -> Self:
        """Every filter switched off."""
        return cls(
            superseded=False,
            contaminated=Scope.OFF,
            duplicate_trajectory=False,
            few_turns=0,
            undeclared_tool=Scope.OFF,
            gui_failure=Scope.OFF,
            sandbox_died=Scope.OFF,
            empty_action=False,
            retry=False,
            no_change=False,
            truncated=False,
        )
