"""A chat as messages: tool calls, and the answers of the tools, in the ways that APIs and trainers write them.

OpenAI's ``tool_calls`` and ``tool`` messages, Anthropic's blocks, calls and answers as messages of their own
(ms-swift, LLaMA-Factory), and markup in the text (Hermes, Qwen, mini-swe-agent).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from trajectories.importers.agent import AgentCalls
from trajectories.importers.blocks import BLOCKS, drop_unknown_of_block, tool_result
from trajectories.importers.contents import Content, content_of
from trajectories.importers.loss import LossReport, whole
from trajectories.importers.pairing import Call, Pairing
from trajectories.importers.problems import UnreadableError
from trajectories.importers.turn_list import TurnList, answer
from trajectories.importers.values import (
    Object,
    arguments,
    as_object,
    as_text,
    instant,
    int32,
    objects,
    plain,
    sub,
)
from trajectories.importers.written_calls import (
    WrittenCall,
    named_call,
    said_around,
    tagged_answers,
    tagged_calls,
    written_call,
)
from trajectories.model import Action, ErrorKind, Observation, Turn

_FENCED_COMMAND: Final = re.compile(r"```mswea_bash_command\s*\n(.*?)\n?```", re.DOTALL)
_FENCED_BASH: Final = re.compile(r"```bash\s*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE: Final = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>")
_FUNCTION: Final = whole("name", "arguments")
_MESSAGE: Final = whole(
    *("role", "content", "tool_call_id", "tool_call_ids", "reasoning_content", "reasoning", "thought"),
    *("name", "error", "timestamp"),
    tool_calls=whole("id", "type", "index", function=_FUNCTION),
    function_call=_FUNCTION,
    extra=whole("timestamp", "returncode", "exit_status", "submission", "exception_str"),
)
"""What is used of a message."""
_CALL_ROLES: Final = frozenset({"tool_call", "function_call", "function-call"})
_ANSWER_ROLES: Final = frozenset({"tool", "function", "tool_response", "function_response", "observation", "ipython"})


@dataclass
class Conversation:
    """Reads a list of messages; the results are what an imported trajectory is made of."""

    loss: LossReport = field(default_factory=LossReport)
    system: str = ""
    instruction: str = ""
    is_shell: bool = False
    """Its actions are fenced shell commands, which the next message answers: mini-swe-agent's way. Known from the
    start, or seen by its own mark on a fence."""
    exit: Object = field(default_factory=dict)
    """What mini-swe-agent says of the end."""

    def __post_init__(self) -> None:
        self._agent = AgentCalls(self.loss)

    @property
    def tool_names(self) -> set[str]:
        return self._agent.names

    def read(self, messages: Sequence[Object]) -> Sequence[Turn]:
        """The turns. Raises ``UnreadableError`` for what is no message."""
        turns = TurnList(self.loss)
        self._pairing = Pairing(turns, self.loss, by_order=_ids_disagree(messages))
        self._user_answers = False
        """Whether the latest call is one that the user's next message answers."""
        for message in messages:
            self._message(message)
        self._pairing.finish()
        return turns.turns

    def _message(self, message: Object) -> None:
        role = as_text(message.get("role"), "the role of a message")
        told = content_of(message.get("content"), self.loss, elsewhere=BLOCKS)
        text = told.text
        drop_unknown_of(message, self.loss)
        if role in ("system", "developer"):
            self._system(text)
        elif role == "user":
            self._user(told, message)
        elif role == "assistant":
            self._assistant(text, message)
        elif role in _CALL_ROLES:
            self._calls_alone(text, message)
        elif role in _ANSWER_ROLES:
            self._answer(told, message)
        elif role == "exit":
            self.exit = sub(message, "extra")
            self.loss.skip("message of the harness")
        else:
            raise UnreadableError(f"there is no role {role!r} in a conversation")

    def _system(self, text: str) -> None:
        if self.system:
            self.loss.skip("system message after the first")
        else:
            self.system = text

    def _user(self, told: Content, message: Object) -> None:
        text = told.text
        results = _blocks(message, "tool_result")
        for block in results:
            self._join(plain(block.get("tool_use_id")), tool_result(block, self.loss), message)
        answers = tagged_answers(text)
        for answered in answers:
            self._join("", answer(answered), message)
        if answers or (results and not text):
            return
        if self._user_answers:
            self._user_answers = False
            self._pairing.answer_latest(_observation(told, message), _time(message))
        elif not self.instruction:
            self.instruction = text
        else:
            self.loss.skip("user message after the first")

    def _answer(self, told: Content, message: Object) -> None:
        """What a tool answered; several answers in tags are those of several calls."""
        for answered in list(map(Content, tagged_answers(told.text))) or [told]:
            tool = plain(message.get("name"))
            self._join(_answered_id(message), _observation(answered, message), message, tool=tool)

    def _join(self, call_id: str, observation: Observation, message: Object, *, tool: str = "") -> None:
        self._user_answers = False
        self._pairing.answer(call_id, observation, _time(message), tool=tool)

    def _assistant(self, text: str, message: Object) -> None:
        thoughts = _thoughts(message, text)
        calls = objects(message.get("tool_calls"), "tool_calls")
        legacy = message.get("function_call")
        if isinstance(legacy, Mapping):
            calls.append({"id": "", "function": legacy})
        for block in _blocks(message, "tool_use"):
            calls.append(
                {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": block.get("input")}}
            )
        if calls:
            self._open([self._call(call, (*thoughts, text), message) for call in calls])
        elif tagged := tagged_calls(text):
            self._open([self._written_call(call, thoughts, message) for call in tagged])
        elif (command := self._answered_by_the_next(text, thoughts, message)) is not None:
            self._open([command], user_answers=True)
        else:
            self.loss.skip("agent message without a call")

    def _calls_alone(self, text: str, message: Object) -> None:
        """A message that is a call as JSON, or a list of them."""
        value = arguments(text)
        calls = [named_call(item) for item in (value if isinstance(value, list) else [value])]
        thoughts = _thoughts(message, text)
        named = [self._written_call(call, thoughts, message) for call in calls if call is not None]
        if not named or len(named) < len(calls):
            self.loss.infer("call that is no JSON kept as a string")
            named = [Call("", Action(text, text), _time(message))]
        self._open(named)

    def _open(self, calls: Sequence[Call], *, user_answers: bool = False) -> None:
        self._user_answers = user_answers
        self._pairing.call(calls)

    def _written_call(self, call: WrittenCall, thoughts: Sequence[str], message: Object) -> Call:
        return Call("", self._agent.action(call.name, call.arguments, *thoughts, call.said), _time(message))

    def _answered_by_the_next(self, text: str, thoughts: Sequence[str], message: Object) -> Call | None:
        """The one call or shell command that is written into a message, which the user's next message answers.

        Where there are several, the agent is told to try again.
        """
        if (call := written_call(text)) is not None:
            return self._written_call(call, thoughts, message)
        found = list(_FENCED_COMMAND.finditer(text))
        if not found and self.is_shell and not self.tool_names:
            found = list(_FENCED_BASH.finditer(text))
        if len(found) != 1:
            return None
        self.is_shell = True
        command = found[0][1]
        reasons = self._agent.reasons(*thoughts, said_around(found, text))
        return Call("", Action(command, command, reasons), _time(message))

    def _call(self, call: Object, reasons: Sequence[str], message: Object) -> Call:
        function = as_object(call.get("function"), "the function of a tool call")
        name = as_text(function.get("name"), "the name of a tool call")
        given = arguments(function.get("arguments"))
        if isinstance(given, str):
            self.loss.infer("arguments that are no JSON kept as a string")
        return Call(plain(call.get("id")), self._agent.action(name, given, *reasons), _time(message))


def drop_unknown_of(message: Object, loss: LossReport) -> None:
    """Note what a message holds that is not used."""
    loss.drop_unknown("message", message, _MESSAGE)
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        drop_unknown_of_block("content", part, loss)


def _blocks(message: Object, kind: str) -> list[Object]:
    """The parts of a message's content that are of a kind."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return [part for part in parts if isinstance(part, Mapping) and part.get("type") == kind]


def _ids_disagree(messages: Sequence[Object]) -> bool:
    """Whether there are as many answers as calls, and still an answer whose id no call has."""
    called = [
        plain(call.get("id")) for message in messages for call in objects(message.get("tool_calls"), "tool_calls")
    ]
    answered = [_answered_id(message) for message in messages if message.get("role") == "tool"]
    return len(called) == len(answered) and not set(answered) <= set(called)


def _answered_id(message: Object) -> str:
    several = message.get("tool_call_ids")
    if isinstance(several, list) and several:
        return plain(several[0])
    return plain(message.get("tool_call_id"))


def _observation(told: Content, message: Object) -> Observation:
    error = message.get("error")
    code, written = int32(sub(message, "extra").get("returncode")), _RETURN_CODE.match(told.text)
    return answer(
        told.text,
        truncated=told.is_cut,
        exit_code=int(written[1]) if code is None and written else code,
        error_kind=ErrorKind.TOOL if isinstance(error, str) and error else None,
        error=error if isinstance(error, str) and error else None,
    )


def _thoughts(message: Object, text: str) -> list[str]:
    """What the agent thought beside what it said, in every field that holds thoughts."""
    fields = (message.get(name) for name in ("reasoning_content", "reasoning", "thought"))
    blocks = (block.get("thinking") for block in _blocks(message, "thinking"))
    return [thought for thought in map(plain, (*fields, *blocks)) if thought and thought not in text]


def _time(message: Object) -> datetime | None:
    return instant(message.get("timestamp")) or instant(sub(message, "extra").get("timestamp"))
