"""Turns out of the actions and answers of a source."""

from __future__ import annotations

from datetime import datetime

from trajectories.importers.base import AS_GIVEN, NO_TIME
from trajectories.importers.json_text import count_numbers_as_written
from trajectories.importers.loss import LossReport
from trajectories.importers.observed import marked_truncated
from trajectories.importers.refusals import marked_refused
from trajectories.importers.spooled_turns import SpooledTurns
from trajectories.importers.surrogates import SHOWN_AS_REPLACEMENT, num_halves
from trajectories.model import Action, ErrorKind, Observation, Turn


class TurnList:
    """Makes turns out of actions and answers: numbers them, and notes the times that the source does not tell."""

    def __init__(self, loss: LossReport) -> None:
        self._loss = loss
        self._latest_start = NO_TIME
        self.turns = SpooledTurns()

    def add(
        self,
        action: Action,
        observation: Observation,
        *,
        started_at: datetime | None = None,
        duration_s: float | None = None,
        ended_at: datetime | None = None,
        is_noop: bool | None = None,
        state_before: str | None = None,
        tells_outcome: bool = False,
    ) -> Turn:
        """Add a turn; the duration is given, or runs from ``started_at`` to ``ended_at``, or is noted as unknown.

        Args:
            tells_outcome: whether the source says itself if the observation was cut, and whose fault an error was; else
                its text may show it.
        """
        if started_at is None:
            self._loss.infer("time of a turn")
        elif duration_s is None and ended_at is not None and ended_at >= started_at:
            duration_s = (ended_at - started_at).total_seconds()
        if duration_s is None:
            self._loss.infer("duration of a turn")
        numbers = count_numbers_as_written(action.payload)
        self._loss.infer("number that JSON cannot hold kept as a string", numbers)
        halves = num_halves(action.text, action.reasoning, observation.text)
        self._loss.infer(SHOWN_AS_REPLACEMENT, halves)
        if not tells_outcome:
            self._loss.drop(
                "answer of which no text is left", int(observation.truncated and not observation.text.strip())
            )
            observation = marked_truncated(marked_refused(action, observation, self._loss), self._loss)
        self._latest_start = started_at or self._latest_start
        turn = Turn(
            number=len(self.turns) + 1,
            action=action,
            observation=observation,
            started_at=self._latest_start,
            duration_s=duration_s or 0.0,
            state_before=state_before,
            is_noop=is_noop,
        )
        self.turns.append(turn)
        return turn


def answer(
    text: str,
    *,
    exit_code: int | None = None,
    timed_out: bool = False,
    truncated: bool = False,
    error_kind: ErrorKind | None = None,
    error: str | None = None,
    tree_status: str | None = None,
) -> Observation:
    """An observation whose text is taken as it stands in the source."""
    return Observation(
        text=text,
        renderer=AS_GIVEN,
        bytes_total=len(text.encode(errors="surrogatepass")),
        exit_code=exit_code,
        timed_out=timed_out,
        truncated=truncated,
        error_kind=error_kind,
        error=error,
        tree_status=tree_status,
    )
