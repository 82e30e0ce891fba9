"""Chats with tool calls: JSON lines, lists, Parquet, tau-bench trials, mini-swe-agent's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from trajectories.importers.base import Imported, NoTrajectory, Result
from trajectories.importers.conversation import Conversation
from trajectories.importers.file_names import files_named, is_named
from trajectories.importers.loss import whole
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.sources import Layout, Row, built, read_document, read_rows
from trajectories.importers.tools import action_space, domain_of, tool_objects
from trajectories.importers.values import Object, arguments, as_object, as_text, instant, objects, plain, sub
from trajectories.model import JsonValue, Status, SystemPrompt

sources = files_named("*.jsonl", "*.json", "*.parquet")
MINI_SWE_AGENT: Final = "*.traj.json"
"""How mini-swe-agent names its files."""

_ROW: Final = whole(
    *("messages", "traj", "tools", "id", "model", "model_name", "reward", "task_id", "trial", "trajectory_format"),
    "time_created",
    metadata=whole("model", "model_name"),
    info=whole(
        *("exit_status", "submission", "exception_str"),
        task=whole("instruction"),
        config=whole(environment=whole("image"), model=whole("model", "model_name")),
    ),
)
_ENDINGS: Final[Mapping[str, Status]] = {"Submitted": Status.COMPLETED, "LimitsExceeded": Status.MAX_TURNS}
"""mini-swe-agent's exit status → ours; any other is the name of the exception that ended the agent."""


def read(source: Path) -> Iterator[Result]:
    """A conversation a row; a file that is one list of messages is one conversation."""
    for row in read_rows(source):
        if isinstance(row, Problem):
            yield row
        elif row.layout is Layout.ARRAY and _is_message(row.value):
            # The whole array is one conversation: read again, as such.
            yield built(read_document(source), imported)
            return
        else:
            yield built(row, imported)


def imported(row: Row) -> Imported | NoTrajectory:
    """Raises ``UnreadableError`` where the row is no conversation."""
    fields: Object = {"messages": row.value} if isinstance(row.value, list) else as_object(row.value, "the row")
    messages = fields.get("messages", fields.get("traj"))
    if messages is None and fields.keys() <= {"metadata", "id", "index"}:
        return NoTrajectory("row of metadata")
    if messages is None:
        is_sharegpt = "conversations" in fields
        raise UnreadableError("the row has no messages", mend="import it as sharegpt" if is_sharegpt else None)
    conversation = Conversation(is_shell=_is_mini_swe_agent(fields, row))
    conversation.loss.drop_unknown("row", fields, _ROW)
    # Tables hold conversations as JSON in a string.
    turns = conversation.read(objects(arguments(messages), "messages"))
    tools = tool_objects(arguments(fields.get("tools")), conversation.loss)
    status, outcome, error = _ending(fields, conversation.exit)
    if not outcome:
        conversation.loss.infer("status")
    return Imported(
        domain="swe" if conversation.is_shell else domain_of(conversation.tool_names, conversation.loss),
        digest=row.digest,
        source_id=plain(fields.get("id", fields.get("task_id"))),
        place=row.place,
        instruction=_instruction(fields) or conversation.instruction,
        turns=turns,
        loss=conversation.loss,
        started_at=instant(fields.get("time_created")),
        status=status,
        outcome=outcome,
        error=error,
        prompt=SystemPrompt(task_description=conversation.system, action_space=action_space(tools)),
        tools=tools,
        agent="mini-swe-agent" if conversation.is_shell else "",
        model=_model(fields),
        sandbox=plain(sub(fields, "info", "config", "environment").get("image")),
    )


def _is_message(value: JsonValue) -> bool:
    return isinstance(value, Mapping) and "role" in value and "messages" not in value


def _instruction(fields: Object) -> str:
    """A tau-bench trial tells the simulated user's task; else the first message of the user is the instruction."""
    return as_text(sub(fields, "info", "task").get("instruction"), "the instruction of the task")


def _ending(fields: Object, ended: Object) -> tuple[Status, Object, str | None]:
    outcome: dict[str, JsonValue] = {name: fields[name] for name in ("reward", "trial") if name in fields}
    info = {**sub(fields, "info"), **ended}
    exit_status = plain(info.get("exit_status"))
    if not exit_status:
        return Status.COMPLETED, outcome, None
    outcome["exit_status"] = exit_status
    if submission := plain(info.get("submission")):
        outcome["submission"] = submission
    status = _ENDINGS.get(exit_status, Status.INTERRUPTED)
    error = plain(info.get("exception_str")) or exit_status
    if status is Status.INTERRUPTED:
        outcome["error_kind"] = "agent"
    return status, outcome, error if status is Status.INTERRUPTED else None


def _is_mini_swe_agent(fields: Object, row: Row) -> bool:
    named = plain(fields.get("trajectory_format")).startswith("mini-swe-agent")
    return named or is_named(Path(row.file), MINI_SWE_AGENT)


def _model(fields: Object) -> str | None:
    places = (fields, sub(fields, "metadata"), sub(fields, "info", "config", "model"))
    names = (plain(place.get(key)) for place in places for key in ("model", "model_name"))
    return next((name for name in names if name), None)
