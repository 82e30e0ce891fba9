"""SWE-agent's .traj files, old and new, and those that hold nothing but the history."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from trajectories.importers import messages
from trajectories.importers.base import Imported, NoTrajectory, Result
from trajectories.importers.conversation import Conversation, drop_unknown_of
from trajectories.importers.file_names import files_named, is_named
from trajectories.importers.loss import LossReport, whole
from trajectories.importers.observed import looks_truncated
from trajectories.importers.packing import unpacked_name
from trajectories.importers.problems import UnreadableError
from trajectories.importers.sources import Row, each_row
from trajectories.importers.turn_list import TurnList, answer
from trajectories.importers.values import Object, as_object, as_text, objects, plain, seconds, sub
from trajectories.model import Action, JsonValue, Status, SystemPrompt, Turn

sources = files_named("*.traj", messages.MINI_SWE_AGENT)

_ENDING: Final = re.compile(r"\.traj$", re.IGNORECASE)
_STEP_FIELDS: Final = {"action", "observation", "response", "thought", "execution_time"}
_FIELDS: Final = whole(
    *("environment", "trajectory", "history"), info=whole("exit_status", "submission", "swe_agent_version")
)
_OF_THE_HARNESS: Final = re.compile(
    r"exit_(?:cost|context|format|api|error|command_timeout|environment_error|total_execution_time)"
)
"""Actions that no agent takes: by them the harness ends the session."""
_STATUSES: Final[Mapping[str, Status]] = {
    "submitted": Status.COMPLETED,
    "exit_cost": Status.MAX_TURNS,
    "exit_context": Status.MAX_TURNS,
    "exit_total_execution_time": Status.MAX_TURNS,
    "exit_environment_error": Status.FAILED,
}


def read(source: Path) -> Iterator[Result]:
    """One trajectory a file. mini-swe-agent's files, which lie beside these, are read as the chats they are."""
    if is_named(source, messages.MINI_SWE_AGENT):
        return messages.read(source)
    return each_row(source, _imported)


def _imported(row: Row) -> Imported | NoTrajectory:
    fields = as_object(row.value, "the file")
    if "trajectory" not in fields and "history" not in fields:
        raise UnreadableError("the file has neither a trajectory nor a history")
    loss = LossReport()
    loss.drop_unknown("file", fields, _FIELDS)
    history = [message for message in objects(fields.get("history"), "history") if not _is_demonstration(message, loss)]
    conversation = Conversation()
    if fields.get("trajectory") is None:
        turns: Sequence[Turn] = conversation.read(history)
        loss.add(conversation.loss)
    else:
        steps = objects(fields.get("trajectory"), "trajectory")
        turns = _turns(steps, loss)
        _compare(steps, history, loss)
        conversation.read(history[:2])
        for message in history:
            # The steps say the same.
            drop_unknown_of(message, loss)
    info = sub(fields, "info")
    exit_status = plain(info.get("exit_status"))
    if not exit_status:
        loss.infer("status")
    return Imported(
        domain="swe",
        digest=row.digest,
        source_id=_ENDING.sub("", unpacked_name(Path(row.file).name)),
        place=row.place,
        instruction=conversation.instruction,
        turns=turns,
        loss=loss,
        status=_status(exit_status),
        outcome=_outcome(info),
        error=exit_status if exit_status.startswith("exit_") else None,
        prompt=SystemPrompt(task_description=conversation.system),
        agent="SWE-agent",
        model=plain(sub(fields, "replay_config", "agent", "model").get("name")) or None,
        sandbox=plain(fields.get("environment")),
        versions={"swe-agent": version} if (version := plain(info.get("swe_agent_version"))) else {},
    )


def _is_demonstration(message: Object, loss: LossReport) -> bool:
    is_demonstration = message.get("is_demo") is True
    loss.skip("message of a demonstration", int(is_demonstration))
    if is_demonstration:
        drop_unknown_of(message, loss)
    return is_demonstration


def _turns(steps: Sequence[Object], loss: LossReport) -> Sequence[Turn]:
    turns = TurnList(loss)
    for step in steps:
        loss.drop_fields("step", step, _STEP_FIELDS)
        given = as_text(step.get("action"), "an action")
        if _OF_THE_HARNESS.fullmatch(given.strip()):
            loss.skip(f"{given.strip()} of the harness")
            continue
        if step.get("observation") is None:
            loss.skip("action without an observation")
            continue
        # The newline that sends the action is no part of it; the payload has it.
        action = Action(given.rstrip("\n"), given, _thought(step) or None)
        text = as_text(step.get("observation"), "an observation")
        turns.add(action, answer(text), duration_s=seconds(step.get("execution_time")))
    return turns.turns


def _compare(steps: Sequence[Object], history: Sequence[Object], loss: LossReport) -> None:
    """Note where the history, which has the observations among words of the harness, does not have that of its step.

    Only where they can be told to run side by side: the last step may be unanswered, as it ends the session.
    """
    told = [answer for call, answer in pairwise(history) if call.get("role") == "assistant" != answer.get("role")]
    if len(told) not in (len(steps), len(steps) - 1):
        return
    for step, message in zip(steps, told, strict=False):
        observation, text = plain(step.get("observation")), _written(message.get("content"))
        if _squashed(observation) not in _squashed(text) and not looks_truncated(text):
            loss.infer("observation of a step, which the history tells otherwise")


def _written(content: JsonValue) -> str:
    if not isinstance(content, list):
        return plain(content)
    return "\n".join(plain(part.get("text")) for part in content if isinstance(part, Mapping))


def _squashed(text: str) -> str:
    return "".join(text.split())


def _thought(step: Object) -> str:
    return plain(step.get("thought")) or plain(step.get("response"))


def _status(exit_status: str) -> Status:
    """Of ``"submitted (exit_cost)"`` the first word counts."""
    kind = exit_status.partition(" ")[0]
    unknown = Status.INTERRUPTED if kind.startswith("exit_") else Status.COMPLETED
    return _STATUSES.get(kind, unknown)


def _outcome(info: Object) -> Mapping[str, JsonValue]:
    return {name: info[name] for name in ("exit_status", "submission") if info.get(name) is not None}
