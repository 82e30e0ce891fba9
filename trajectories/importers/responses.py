"""Items of OpenAI's Responses API: function calls and their outputs, joined by call id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trajectories.importers.agent import AgentCalls
from trajectories.importers.base import Imported, NoTrajectory, Result
from trajectories.importers.contents import Content, content_of, shown_content
from trajectories.importers.file_names import files_named
from trajectories.importers.loss import LossReport, Shape, whole
from trajectories.importers.pairing import Call, Pairing
from trajectories.importers.problems import UnreadableError
from trajectories.importers.sources import Row, each_row
from trajectories.importers.tools import action_space, domain_of, tool_objects
from trajectories.importers.turn_list import TurnList, answer
from trajectories.importers.values import Object, arguments, as_object, as_text, instant, objects, plain, shown, sub
from trajectories.model import JsonValue, Status, SystemPrompt, Turn

sources = files_named("*.jsonl", "*.json")

_SHELL: Final = "local_shell_call"
_CALLS: Final = {"function_call", "custom_tool_call", "tool_search_call", _SHELL}
_OUTPUTS: Final = {
    "function_call_output",
    "custom_tool_call_output",
    "tool_search_output",
    "local_shell_call_output",
}
_STATUSES: Final[Mapping[str, Status]] = {"failed": Status.FAILED, "incomplete": Status.MAX_TURNS}
_USED: Final = {"responses_create_params", "response", "reward", "id"}
_PARAMETERS: Final = {"input", "tools", "instructions", "model"}
_RESPONSE: Final = {"id", "object", "model", "output", "tools", "status", "created_at", "error"}
_ITEM: Final = whole("type", "id", "timestamp")
_OUTPUT: Final = _ITEM | whole("call_id", "output", "tools")
_ITEMS: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(_CALLS, _ITEM | whole("call_id", "name", "arguments", "input")),
    _SHELL: _ITEM | whole("call_id", "action"),
    **dict.fromkeys(_OUTPUTS, _OUTPUT),
    "message": _ITEM | whole("role", "content"),
    "reasoning": _ITEM | whole("summary", "content"),
}
"""Type of an item → what is used of it."""
_NO_TEXTS: Final = frozenset({"input_image", "image", "input_file", "input_audio", "computer_screenshot"})
"""Types of parts of a content."""


def read(source: Path) -> Iterator[Result]:
    """A row is ``{"responses_create_params", "response"}`` or a response by itself."""
    return each_row(source, _imported)


@dataclass
class Items:
    """Reads items in their order; the results are what an imported trajectory is made of."""

    loss: LossReport = field(default_factory=LossReport)
    system: str = ""
    instruction: str = ""

    def __post_init__(self) -> None:
        self._agent = AgentCalls(self.loss)
        self._turns = TurnList(self.loss)
        self._pairing = Pairing(self._turns, self.loss)

    @property
    def tool_names(self) -> set[str]:
        return self._agent.names

    def add(self, item: Object, time: JsonValue = None) -> None:
        """Raises ``UnreadableError`` where the item is not what its type says."""
        kind = self._noted(item)
        if kind in _CALLS:
            self._call(kind, item, time)
        elif kind in _OUTPUTS:
            told = _content(item.get("output", item.get("tools")), self.loss)
            observation = answer(told.text, truncated=told.is_cut)
            self._pairing.answer(plain(item.get("call_id")), observation, instant(time))
        elif kind == "message":
            self._message(item)
        elif kind == "reasoning":
            self._agent.say(_text(item.get("summary"), self.loss), _text(item.get("content"), self.loss))
        else:
            self.loss.skip(f"item of the type {kind}")

    def pass_over(self, item: Object, why: str) -> None:
        """Leave an item out."""
        self._noted(item)
        _text(item.get("content"), self.loss)
        self.loss.skip(why)

    def _noted(self, item: Object) -> str:
        """The kind of an item, whose fields without a place are noted."""
        kind = plain(item.get("type")) or "message"
        self.loss.drop_unknown(kind, item, _ITEMS.get(kind, _ITEM))
        return kind

    def finish(self) -> Sequence[Turn]:
        self._pairing.finish()
        return self._turns.turns

    def _call(self, kind: str, item: Object, time: JsonValue) -> None:
        name = as_text(item.get("name"), "the name of a call") or kind.removesuffix("_call")
        given = item.get("input") if "input" in item else arguments(item.get("arguments"))
        if kind == _SHELL:
            given = item.get("action")
        if isinstance(given, str) and kind == "function_call":
            self.loss.infer("arguments that are no JSON kept as a string")
        action = self._agent.action(name, given)
        self._pairing.call([Call(plain(item.get("call_id")), action, instant(time))])

    def _message(self, item: Object) -> None:
        role, text = plain(item.get("role")), _text(item.get("content"), self.loss)
        if role == "assistant":
            self._agent.say(text)
            self.loss.skip("agent message")
        elif role in ("system", "developer") and not self.system:
            self.system = text
        elif role == "user" and not self.instruction:
            self.instruction = text
        else:
            self.loss.skip(f"{role or 'nameless'} message after the first")


def _imported(row: Row) -> Imported | NoTrajectory:
    fields = as_object(row.value, "the row")
    if sub(fields, "verifier_metadata").get("osworld_steps") is not None:
        raise UnreadableError("no observation of any kind was kept in this rollout, so there is nothing to predict")
    response = sub(fields, "response") or fields
    if "output" not in response:
        raise UnreadableError("the row has no response with an output")
    parameters = sub(fields, "responses_create_params")
    items = Items()
    items.loss.drop_fields("row", fields, _USED if "response" in fields else _USED | _RESPONSE)
    if "response" in fields:
        items.loss.drop_fields("response", response, _RESPONSE)
    items.loss.drop_fields("parameters", parameters, _PARAMETERS)
    given = parameters.get("input")
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else objects(given, "the input"):
        items.add(item)
    for item in objects(response.get("output"), "the output"):
        items.add(item)
    turns = items.finish()
    tools = tool_objects(parameters.get("tools") or response.get("tools"), items.loss)
    error = response.get("error")
    return Imported(
        domain=domain_of(items.tool_names, items.loss),
        digest=row.digest,
        source_id=plain(response.get("id")),
        place=row.place,
        instruction=items.instruction,
        turns=turns,
        loss=items.loss,
        started_at=instant(response.get("created_at")),
        status=_STATUSES.get(plain(response.get("status")), Status.COMPLETED),
        outcome={"reward": fields["reward"]} if "reward" in fields else {},
        error=shown(error) or None,
        prompt=SystemPrompt(
            task_description=plain(parameters.get("instructions")) or items.system, action_space=action_space(tools)
        ),
        tools=tools,
        model=plain(response.get("model")) or None,
    )


def _content(content: JsonValue, loss: LossReport) -> Content:
    """What a content tells: a string, parts with a text each and others, or anything else as JSON."""
    if not isinstance(content, list):
        return shown_content(content, loss)
    kinds = [plain(part.get("type")) if isinstance(part, Mapping) else "" for part in content]
    if not all(kind.endswith("text") or kind in _NO_TEXTS for kind in kinds):
        loss.infer("content that is no text shown as JSON")
        return shown_content(content, loss)
    texts = [part for part, kind in zip(content, kinds, strict=True) if kind not in _NO_TEXTS]
    loss.drop_unknown("content", texts, whole("type", "text"))
    return content_of(content, loss)


def _text(content: JsonValue, loss: LossReport) -> str:
    return _content(content, loss).text
