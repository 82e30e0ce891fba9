"""The Agent Data Protocol's standardised schema 1.2; its later form is a dialect of ATIF, read as that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from trajectories.importers.agent import AgentCalls
from trajectories.importers.base import Imported, NoTrajectory, Result
from trajectories.importers.contents import NOT_KEPT, Content, all_of, shown_content
from trajectories.importers.file_names import files_named
from trajectories.importers.loss import LossReport, Shape, whole
from trajectories.importers.problems import UnreadableError
from trajectories.importers.sources import Row, each_row
from trajectories.importers.tools import domain_of
from trajectories.importers.turn_list import TurnList, answer
from trajectories.importers.values import Object, as_object, as_text, objects, plain, shown
from trajectories.model import Action, JsonValue, Observation, SystemPrompt

sources = files_named("*.json", "*.jsonl")

_FIELDS: Final = {"id", "content", "details"}
_ITEMS: Final[Mapping[str, Shape]] = {
    "text_observation": whole("class_", "content", "source", "name"),
    "web_observation": whole("class_", "axtree", "html"),
    "message_action": whole("class_", "content", "description"),
    "api_action": whole("class_", "function", "kwargs", "description"),
    "code_action": whole("class_", "language", "content", "description"),
}
"""Class of an item → what is used of it."""
_NEW_PROBLEM: Final = re.compile(r"Now, I will start a new problem\b")
"""What stands between AgentInstruct's demonstration and the task."""


def read(source: Path) -> Iterator[Result]:
    """A trajectory an element or a line."""
    return each_row(source, _imported)


def _imported(row: Row) -> Imported | NoTrajectory:
    fields = as_object(row.value, "the trajectory")
    if "content" not in fields:
        if "steps" in fields:
            raise UnreadableError("it has steps: this is the ATIF dialect", mend="import it as atif")
        raise UnreadableError("the trajectory has no content")
    loss = LossReport()
    loss.drop_fields("trajectory", fields, _FIELDS)
    items = objects(fields.get("content"), "content")
    for item in items:
        loss.drop_unknown("item", item, _ITEMS.get(_kind(item), whole("class_")))
    begin = _begin(items)
    events = _Events(loss)
    for item in items[begin:]:
        events.add(item)
    turns = events.finish()
    demonstration = items[:begin]
    loss.skip("action of a demonstration", sum(_kind(item) in ("api_action", "code_action") for item in demonstration))
    loss.infer("status")
    return Imported(
        domain=events.domain(),
        digest=row.digest,
        source_id=plain(fields.get("id")),
        place=row.place,
        instruction=events.instruction,
        turns=turns.turns,
        loss=loss,
        initial=events.initial,
        outcome=_details(fields),
        prompt=SystemPrompt(
            task_description=events.system,
            demonstrations="\n\n".join(_said(item) for item in demonstration),
        ),
    )


def _begin(items: list[Object]) -> int:
    """Where the task begins: behind a demonstration of another one, if there is one."""
    for index, item in enumerate(items):
        is_user = _kind(item) == "text_observation" and item.get("source") == "user"
        if index and is_user and _NEW_PROBLEM.match(shown(item.get("content"))):
            return index
    return 0


class _Events:
    """Reads observations and actions in their order: an action's answer is what follows it."""

    def __init__(self, loss: LossReport) -> None:
        self._loss = loss
        self._turns = TurnList(loss)
        self._agent = AgentCalls(loss)
        self._languages: set[str] = set()
        self._pages = 0
        self._action: Action | None = None
        self._asks_harness = False
        """Whether the last action was a call that the agent's harness answers."""
        self._answers: list[Content] = []
        self.instruction = self.system = ""
        self.initial: Observation = answer("")

    def add(self, item: Object) -> None:
        """Raises ``UnreadableError`` for a class that the schema does not have."""
        kind = _kind(item)
        if kind == "message_action":
            self._end_turn()
            self._agent.say(plain(item.get("description")), shown(item.get("content")))
            self._loss.skip("agent message")
        elif kind in ("api_action", "code_action"):
            self._end_turn()
            self._action = self._call(item) if kind == "api_action" else self._code(item)
            self._asks_harness = self._action is None
        elif kind == "text_observation":
            self._text(item)
        elif kind == "web_observation":
            self._page(item)
        elif kind == "image_observation":
            self._image()
        else:
            raise UnreadableError(f"there is no class {kind!r} in the schema")

    def finish(self) -> TurnList:
        self._end_turn()
        return self._turns

    def domain(self) -> str:
        """By the kind of what was seen and done."""
        if self._pages:
            self._loss.infer("domain")
            return "web"
        if self._languages:
            self._loss.infer("domain")
            return "terminal"
        return domain_of(self._agent.names, self._loss)

    @property
    def _num_told(self) -> int:
        """How many answers to the last action have a text."""
        return sum(not told.is_cut for told in self._answers)

    def _call(self, item: Object) -> Action | None:
        name = as_text(item.get("function"), "the function of an action")
        return self._agent.action(name, item.get("kwargs"), plain(item.get("description")))

    def _code(self, item: Object) -> Action:
        code, language = as_text(item.get("content"), "code"), plain(item.get("language"))
        self._languages.add(language)
        return Action(code, {"language": language, "code": code}, self._agent.reasons(plain(item.get("description"))))

    def _text(self, item: Object) -> None:
        text, source = as_text(item.get("content"), "the content of an observation"), plain(item.get("source"))
        told = shown_content(item.get("content"), self._loss)
        if self._action is not None and not (source == "user" and self._num_told):
            if source == "user":
                self._loss.infer("answer of the environment, though the source says user")
            self._answers.append(told)
        elif self._asks_harness:
            self._loss.skip("answer to a call of the harness")
            self._asks_harness = False
        elif item.get("name") == "system" and not self.system:
            self.system = text
        elif source == "user" and not self.instruction:
            self.instruction = text
        else:
            self._loss.skip("user message after the first" if source == "user" else "observation without its action")

    def _page(self, item: Object) -> None:
        self._pages += 1
        tree = item.get("axtree")
        page = shown_content(tree if tree is not None else item.get("html"), self._loss)
        if self._action is not None:
            self._answers.append(page)
        elif not self.initial.text:
            self.initial = answer(page.text)
        else:
            self._loss.skip("observation without its action")

    def _image(self) -> None:
        self._loss.drop("image")
        if self._action is not None:
            self._answers.append(NOT_KEPT)

    def _end_turn(self) -> None:
        if self._action is None:
            return
        if not self._answers:
            self._loss.skip("action without an observation")
        else:
            self._loss.infer("observations in a row taken as one", max(0, self._num_told - 1))
            told = all_of(self._answers)
            self._turns.add(self._action, answer(told.text, truncated=told.is_cut))
        self._action, self._answers = None, []


def _kind(item: Object) -> str:
    return as_text(item.get("class_"), "the class of an item")


def _said(item: Object) -> str:
    """An item of a demonstration as text."""
    if _kind(item) == "api_action":
        return Action.of({"name": item.get("function"), "arguments": item.get("kwargs")}).text
    return shown(item.get("content"))


def _details(fields: Object) -> Mapping[str, JsonValue]:
    details = fields.get("details")
    return details if isinstance(details, Mapping) else {}
