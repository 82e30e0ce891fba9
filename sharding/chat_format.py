"""What is left of a chat template once it is known to be fixed text around the contents of messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sharding.conversation import Message, Role


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """What a template writes around the contents of system, user, assistant, user, assistant, … messages."""

    opening: str
    system_to_user: str
    user_to_assistant: str
    assistant_to_user: str
    closing: str
    """After the last assistant message; ``assistant_to_user`` begins with it (the prefix property)."""
    stop_token: str
    """The special token that ``closing`` begins with."""
    trims: bool
    """The template strips white space around contents."""

    def content(self, message: Message) -> str:
        return message.content.strip() if self.trims else message.content

    def before(self, role: Role, *, first: bool) -> str:
        """The template's text before a message: ``first`` for the first user message."""
        if role == "user":
            return self.system_to_user if first else self.assistant_to_user
        return self.opening if role == "system" else self.user_to_assistant

    def parts(self, messages: Sequence[Message]) -> Iterator[tuple[str, Message]]:
        """Each message with the template's text before it; ``closing`` comes after the last."""
        for index, message in enumerate(messages):
            yield self.before(message.role, first=index == 1), message

    def render(self, messages: Sequence[Message]) -> str:
        """The conversation as the template renders it."""
        body = "".join(before + self.content(message) for before, message in self.parts(messages))
        return body + self.closing
