"""Rows of AgentWorldBench: a world model's conversation up to one turn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from trajectories.importers.base import Imported, NoTrajectory, Result
from trajectories.importers.file_names import files_named
from trajectories.importers.json_text import parse
from trajectories.importers.loss import LossReport, whole
from trajectories.importers.problems import UnreadableError
from trajectories.importers.sources import Row, each_row
from trajectories.importers.turn_list import TurnList, answer
from trajectories.importers.values import Object, as_list, as_object, as_text, plain
from trajectories.model import DOMAINS, Action, JsonValue, SystemPrompt

sources = files_named("*_test.jsonl", "*_test.json")

_FIELDS: Final = {"task", "id", "prompt", "response", "current_prompt", "system_str", "turn_idx", "total_turns"}
_SECTION: Final = re.compile(r"^\*\*(Task Instruction|Current State|Action):\*\*[ \t]*\n?", re.MULTILINE)
_FENCE: Final = re.compile(r"\A\s*(`{3,})(\w*)[ \t]*\n(.*?)\n?\1\s*\Z", re.DOTALL)
_THOUGHT: Final = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_PREDICTED: Final = re.compile(r"\A<predicted_observation>\n?(.*?)\n?</predicted_observation>\s*\Z", re.DOTALL)
_OBSERVATION: Final = re.compile(r"\A\*\*Environment Observation:\*\*[ \t]*\n*")


def read(source: Path) -> Iterator[Result]:
    """A trajectory a row. Rows of one id overlap, and their ids need not be unique: none is joined to another."""
    return each_row(source, _imported)


def _imported(row: Row) -> Imported | NoTrajectory:
    fields = as_object(row.value, "the row")
    loss = LossReport()
    loss.drop_fields("row", fields, _FIELDS)
    prompts, responses = (_texts(fields.get(name), name, loss) for name in ("prompt", "response"))
    if len(prompts) != len(responses):
        raise UnreadableError(f"{len(prompts)} prompts and {len(responses)} responses do not go together")
    if not prompts:
        raise UnreadableError("the row has no prompt")
    _check_numbers(fields, len(prompts), loss)
    turns = TurnList(loss)
    for prompt, response in zip(prompts, responses, strict=True):
        turns.add(_action(prompt, loss), answer(_observation(response)))
    first = _sections(prompts[0])
    return Imported(
        domain=_domain(fields, row, loss),
        digest=row.digest,
        source_id=f"{plain(fields.get('id'))}#{len(prompts)}",
        place=row.place,
        instruction=first.get("Task Instruction", ""),
        turns=turns.turns,
        loss=loss,
        outcome={"total_turns": fields.get("total_turns")},
        prompt=SystemPrompt(
            task_description=as_text(fields.get("system_str"), "system_str"),
            initial_state=first.get("Current State", ""),
        ),
    )


def _check_numbers(fields: Object, num_turns: int, loss: LossReport) -> None:
    """Raises ``UnreadableError`` where the row has not as many turns as it says."""
    number, total = (_number(fields.get(name), loss) for name in ("turn_idx", "total_turns"))
    if number is not None and number != num_turns:
        raise UnreadableError(f"turn_idx is {number}, but the number of turns is {num_turns}")
    if total is not None and total < num_turns:
        raise UnreadableError(f"total_turns is {total}, but the number of turns is {num_turns}")


def _number(value: JsonValue, loss: LossReport) -> int | None:
    """A whole number, also one that is written as a string."""
    if isinstance(value, str) and value.isdecimal():
        loss.infer("string taken as a number")
        return int(value)
    return value if isinstance(value, int) else None


def _texts(value: JsonValue, what: str, loss: LossReport) -> list[str]:
    """Texts, or messages with a content."""
    loss.drop_unknown(what, value, whole("role", "content"))
    items = [item.get("content") if isinstance(item, Mapping) else item for item in as_list(value, what)]
    return [as_text(item, f"an element of {what}") for item in items]


def _domain(fields: Object, row: Row, loss: LossReport) -> str:
    """The task's name, or the file's, begins with it."""
    for name in (plain(fields.get("task")), Path(row.file).name):
        first = re.split(r"[^a-z]", name.lower(), maxsplit=1)[0]
        if first in DOMAINS:
            return first
    loss.infer("domain")
    return "mcp"


def _sections(prompt: str) -> dict[str, str]:
    marks = list(_SECTION.finditer(prompt))
    if not marks:
        return {}
    ends = [*(mark.start() for mark in marks), len(prompt)][1:]
    return {mark[1]: prompt[mark.end() : end].strip("\n") for mark, end in zip(marks, ends, strict=True)}


def _action(prompt: str, loss: LossReport) -> Action:
    """The fenced block of the action's section; the whole prompt where there is none."""
    given = _sections(prompt).get("Action")
    if given is None:
        loss.infer("action is the whole prompt")
        return Action(prompt, prompt)
    fence = _FENCE.match(given)
    text = fence[3] if fence else given
    if fence and fence[2] == "json":
        try:
            return Action(text, parse(text))
        except ValueError:
            loss.infer("action that is no JSON kept as a string")
    return Action(text, text)


def _observation(response: str) -> str:
    """The observation's text, without the marks that the benchmark puts around it."""
    text = _THOUGHT.sub("", response)
    predicted = _PREDICTED.match(text)
    return predicted[1] if predicted else _OBSERVATION.sub("", text)
