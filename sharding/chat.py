"""Chat templates a world model can be trained with: turn N's rendering must be a prefix of turn N + 1's.

A template that has this property and leaves contents alone is nothing but fixed text around them. That text is found
once, by rendering a probe conversation, and proven on another whose contents are awkward; from then on conversations
are laid out without the template, and it is known exactly which characters are the template's and which are content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import chain, cycle
from pathlib import Path
from typing import Literal

from jinja2 import TemplateError
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from sharding.chat_format import ChatFormat
from sharding.conversation import Message, Role
from trajectories import InputError

CHATML_TOKENS = ("<|im_start|>", "<|im_end|>")


class UnfitTemplateError(ValueError):
    """A template that cannot be trained with; the message is the reason, as a clause."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """The template chosen for a tokenizer, why, and the form it was found to have."""

    origin: Literal["file", "tokenizer", "chatml"]
    reason: str
    text: str
    form: ChatFormat


def load_tokenizer(name: str) -> PreTrainedTokenizerFast:
    """The fast tokenizer in a folder, or of a name on the Hub. Code that comes with a tokenizer is never run.

    Raises:
        InputError: there is none, or only a slow one (whose tokens do not know their place in the text).
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError) as error:
        first_line = str(error).partition("\n")[0]
        raise InputError(
            f"no tokenizer could be loaded: {first_line}",
            where=name,
            mend="give a folder with a tokenizer.json, or a name on the Hub",
        ) from error
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise InputError(
            "the tokenizer has no fast form, so its tokens cannot be aligned with the text",
            where=name,
            mend="give one with a tokenizer.json",
        )
    return tokenizer


def choose_template(tokenizer: PreTrainedTokenizerFast, file: Path | None = None) -> ChatTemplate:
    """The user's template if one is given; else the tokenizer's own if it is fit; else ChatML if its tokens are there.

    Raises:
        InputError: none of them will do.
    """
    if file is not None:
        return _from_file(tokenizer, file)
    own = _own_template(tokenizer)
    try:
        if own is None:
            raise UnfitTemplateError("the tokenizer has none of its own")
        return ChatTemplate("tokenizer", "the tokenizer's own is fit", own, probe(tokenizer, own))
    except UnfitTemplateError as unfit:
        reason = f"the tokenizer's own is unfit: {unfit}" if own else str(unfit)
    if not control_tokens(tokenizer).keys() >= set(CHATML_TOKENS):
        raise InputError(
            f"no chat template to train with: {reason}, and it lacks the ChatML tokens {' '.join(CHATML_TOKENS)}",
            where=f"tokenizer {tokenizer.name_or_path}",
            mend="give one with --chat-template FILE",
        )
    chatml = resources.files("sharding").joinpath("templates/chatml.jinja").read_text(encoding="utf-8")
    return ChatTemplate("chatml", reason, chatml, probe(tokenizer, chatml))


def probe(tokenizer: PreTrainedTokenizerFast, template: str) -> ChatFormat:
    """Find the fixed text a template writes, and prove that it writes nothing else.

    Raises:
        UnfitTemplateError: it cannot render these roles, rewrites what came before, or changes contents.
    """
    renderings = [_rendered(tokenizer, template, _PLAIN[: 1 + 2 * turns]) for turns in (1, 2)]
    if not renderings[1].startswith(renderings[0]):
        raise UnfitTemplateError("it rewrites earlier turns: turn N is no prefix of turn N + 1")
    gaps = _gaps(renderings[1])
    stop_token = _stop_token(gaps[-1], control_tokens(tokenizer))
    for trims in (False, True):
        form = ChatFormat(*gaps, stop_token, trims)
        if all(form.render(part) == _rendered(tokenizer, template, part) for part in _awkward_prefixes()):
            return form
    raise UnfitTemplateError("it changes the contents of messages")


def control_tokens(tokenizer: PreTrainedTokenizerFast) -> dict[str, int]:
    """The tokens a tokenizer declares special, with their ids: those that mean something beyond their text."""
    return {token.content: number for number, token in tokenizer.added_tokens_decoder.items() if token.special}


def _stop_token(closing: str, control: Iterable[str]) -> str:
    """The special token that the text after an assistant's message begins with."""
    found = [token for token in control if closing.startswith(token)]
    if not found:
        raise UnfitTemplateError("no stop token ends the assistant's message")
    return max(found, key=len)


def _from_file(tokenizer: PreTrainedTokenizerFast, file: Path) -> ChatTemplate:
    try:
        text = file.read_text(encoding="utf-8")
        return ChatTemplate("file", f"given as {file.name}", text, probe(tokenizer, text))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the chat template: {error}", where=str(file)) from error
    except UnfitTemplateError as unfit:
        raise InputError(
            f"this chat template cannot be trained with: {unfit}",
            where=str(file),
            mend="write each message as fixed text around its content",
        ) from unfit


def _own_template(tokenizer: PreTrainedTokenizerFast) -> str | None:
    try:
        return str(tokenizer.get_chat_template())
    except ValueError:
        return None


def _rendered(tokenizer: PreTrainedTokenizerFast, template: str, messages: Sequence[Message]) -> str:
    plain = [{"role": message.role, "content": message.content} for message in messages]
    try:
        return str(tokenizer.apply_chat_template(plain, chat_template=template, tokenize=False))
    except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise UnfitTemplateError(f"it fails on a system, user, assistant conversation: {error}") from error


def _messages(contents: Iterable[str]) -> list[Message]:
    roles: Iterator[Role] = chain(["system"], cycle(["user", "assistant"]))
    return [Message(role, content) for role, content in zip(roles, contents, strict=False)]


_PLAIN = _messages(f"probe of content {index}" for index in range(5))


def _gaps(rendering: str) -> tuple[str, str, str, str, str]:
    """The text between the contents of ``_PLAIN``; a content that does not come out whole is a change of contents."""
    gaps = []
    for message in _PLAIN:
        gap, found, rendering = rendering.partition(message.content)
        if not found:
            raise UnfitTemplateError("it changes the contents of messages")
        gaps.append(gap)
    opening, system_to_user, user_to_assistant, assistant_to_user, _ = gaps
    return opening, system_to_user, user_to_assistant, assistant_to_user, rendering


def _awkward_prefixes() -> Iterator[Sequence[Message]]:
    """A conversation of contents that templates are known to treat specially, after each of its turns."""
    contents = (
        "",
        "  a user's margins\n",
        "\n\nlines around\n\n",
        "<tool_response>\nx\n</tool_response>",
        "<think>\nb\n</think>\n\nc",
        "plain",
        "",
        "[TOOL_CALLS] {{ x }} {% y %} </think>",
        " \n",
    )
    messages = _messages(contents)
    return (messages[: 1 + 2 * turns] for turns in range(1, 1 + len(contents) // 2))
