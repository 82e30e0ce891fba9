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

from trajectories.importers.base import TurnList, UnreadableError, answer
from trajectories.importers.loss import LossReport
from trajectories.importers.pairing import Call, Pairing
from trajectories.importers.tools import HARNESS_CALLS
from trajectories.importers.values import Object, arguments, as_object, as_text, instant, int32, objects, plain, sub
from trajectories.importers.written_calls import WrittenCall, named_call, tagged_answers, tagged_calls, written_call
from trajectories.model import Action, ErrorKind, JsonValue, Observation, Turn

_FENCED_COMMAND: Final = re.compile(r"```mswea_bash_command\s*\n(.*?)\n?```", re.DOTALL)
_FENCED_BASH: Final = re.compile(r"```bash\s*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE: Final = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>")
_CALL_FIELDS: Final = {"id", "type", "index", "function"}
_MESSAGE_FIELDS: Final = {
    "role",
    "content",
    "tool_calls",
    "function_call",
    "tool_call_id",
    "tool_call_ids",
    "reasoning_content",
    "reasoning",
    "name",
    "error",
    "timestamp",
    "action",
    "thought",
}
_CALL_ROLES: Final = frozenset({"tool_call", "function_call", "function-call"})
_ANSWER_ROLES: Final = frozenset({"tool", "function", "tool_response", "function_response", "observation", "ipython"})
_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking"})
"""Parts of a content that are no text and have a place (Anthropic's messages)."""


@dataclass
class Conversation:
    """Reads a list of messages; the results are what an imported trajectory is made of."""

    loss: LossReport = field(default_factory=LossReport)
    system: str = ""
    instruction: str = ""
    tool_names: list[str] = field(default_factory=list)
    is_shell: bool = False
    """Its actions are fenced shell commands, which the next message answers: mini-swe-agent's way. Known from the
    start, or seen by its own mark on a fence."""
    exit: Object = field(default_factory=dict)
    """What mini-swe-agent says of the end."""

    def read(self, messages: Sequence[Object]) -> list[Turn]:
        """The turns. Raises ``UnreadableError`` for what is no message."""
        turns = TurnList(self.loss)
        self._pairing = Pairing(turns, self.loss, by_order=_ids_disagree(messages))
        self._command: Call | None = None
        self._turns = turns
        for message in messages:
            self._message(message)
        if self._command is not None:
            self.loss.skip("action without an observation")
        self._pairing.finish()
        return turns.turns

    def _message(self, message: Object) -> None:
        role = as_text(message.get("role"), "the role of a message")
        text = self._text(message.get("content"))
        self.loss.drop_fields("message", message, _MESSAGE_FIELDS)
        if role in ("system", "developer"):
            self._system(text)
        elif role == "user":
            self._user(text, message)
        elif role == "assistant":
            self._assistant(text, message)
        elif role in _CALL_ROLES:
            self._calls_alone(text, message)
        elif role in _ANSWER_ROLES:
            self._answer(text, message)
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

    def _user(self, text: str, message: Object) -> None:
        results = _blocks(message, "tool_result")
        for block in results:
            self._pairing.answer(plain(block.get("tool_use_id")), self._result(block), _time(message))
        answers = tagged_answers(text)
        for answered in answers:
            self._pairing.answer("", answer(answered), _time(message))
        if answers or (results and not text):
            return
        if self._command is not None:
            call, self._command = self._command, None
            self._turns.add(call.action, _shell_answer(text), started_at=call.started_at, ended_at=_time(message))
        elif not self.instruction:
            self.instruction = text
        else:
            self.loss.skip("user message after the first")

    def _answer(self, text: str, message: Object) -> None:
        """What a tool answered; several answers in tags are those of several calls."""
        for answered in tagged_answers(text) or [text]:
            self._pairing.answer(_answered_id(message), _observation(answered, message), _time(message))

    def _result(self, block: Object) -> Observation:
        text, failed = self._text(block.get("content")), block.get("is_error") is True
        return answer(text, error_kind=ErrorKind.TOOL if failed else None, error=text if failed else None)

    def _assistant(self, text: str, message: Object) -> None:
        reasoning = "\n".join(part for part in (_reasoning(message), text) if part) or None
        calls = objects(message.get("tool_calls"), "tool_calls")
        legacy = message.get("function_call")
        if isinstance(legacy, Mapping):
            calls.append({"id": "", "function": legacy})
        for block in _blocks(message, "tool_use"):
            calls.append(
                {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": block.get("input")}}
            )
        if calls:
            self._pairing.call([self._call(call, reasoning, message) for call in calls])
        elif tagged := tagged_calls(text):
            self._pairing.call([self._written_call(call, message) for call in tagged])
        elif (action := self._written_action(text)) is not None:
            self._command = Call("", action, _time(message))
        else:
            self.loss.skip("agent message without a call")

    def _calls_alone(self, text: str, message: Object) -> None:
        """A message that is a call as JSON, or a list of them."""
        value = arguments(text)
        calls = [named_call(item) for item in (value if isinstance(value, list) else [value])]
        named = [self._written_call(call, message) for call in calls if call is not None]
        if not named or len(named) < len(calls):
            self.loss.infer("call that is no JSON kept as a string")
            named = [Call("", Action(text, text), _time(message))]
        self._pairing.call(named)

    def _written_call(self, call: WrittenCall, message: Object) -> Call:
        self.tool_names.append(call.name)
        action = Action.of({"name": call.name, "arguments": call.arguments}, reasoning=call.said or None)
        return Call("", action, _time(message))

    def _written_action(self, text: str) -> Action | None:
        """The one call or shell command that is written into a message, which the next message answers.

        Where there are several, the agent is told to try again.
        """
        call = written_call(text)
        if call is not None and call.name not in HARNESS_CALLS:
            self.tool_names.append(call.name)
            return Action.of({"name": call.name, "arguments": call.arguments}, reasoning=call.said or None)
        found = list(_FENCED_COMMAND.finditer(text))
        if not found and self.is_shell and not self.tool_names:
            found = list(_FENCED_BASH.finditer(text))
        if len(found) != 1:
            return None
        self.is_shell = True
        (command,) = found
        return Action(command[1], command[1], text[: command.start()].strip() or None)

    def _call(self, call: Object, reasoning: str | None, message: Object) -> Call:
        self.loss.drop_fields("tool_call", call, _CALL_FIELDS)
        function = as_object(call.get("function"), "the function of a tool call")
        name = as_text(function.get("name"), "the name of a tool call")
        self.tool_names.append(name)
        given = arguments(function.get("arguments"))
        if isinstance(given, str):
            self.loss.infer("arguments that are no JSON kept as a string")
        action = Action.of({"name": name, "arguments": given}, reasoning=reasoning)
        return Call(plain(call.get("id")), action, _time(message))

    def _text(self, content: JsonValue) -> str:
        if not isinstance(content, list):
            return as_text(content, "the content of a message")
        parts = [part if isinstance(part, str) else as_object(part, "a part of a message") for part in content]
        texts = [part if isinstance(part, str) else part.get("text") for part in parts]
        placed = sum(isinstance(part, Mapping) and part.get("type") in _BLOCKS for part in parts)
        self.loss.drop("content that is no text", sum(not isinstance(text, str) for text in texts) - placed)
        return "\n".join(text for text in texts if isinstance(text, str))


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


def _observation(text: str, message: Object) -> Observation:
    error = message.get("error")
    extra = sub(message, "extra")
    return answer(
        text,
        exit_code=int32(extra.get("returncode")),
        error_kind=ErrorKind.TOOL if isinstance(error, str) and error else None,
        error=error if isinstance(error, str) and error else None,
    )


def _shell_answer(text: str) -> Observation:
    code = _RETURN_CODE.match(text)
    return answer(text, exit_code=int(code[1]) if code else None)


def _reasoning(message: Object) -> str:
    found = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(found, str):
        return found
    return "\n".join(plain(block.get("thinking")) for block in _blocks(message, "thinking"))


def _time(message: Object) -> datetime | None:
    return instant(message.get("timestamp")) or instant(sub(message, "extra").get("timestamp"))
