"""A conversation as token ids and a loss mask, aligned token by token.

Only the chat template writes control tokens. The text between two of them is tokenised on its own with special tokens
switched off, so that an observation that spells ``<|im_end|>`` stays text. (Added tokens that are not special, such as
Qwen3's ``<think>``, are ordinary vocabulary, in contents as anywhere.) So is an observation's own text, which no token
shares with the marker before it: the model is given the marker's tokens, and answers after them. Where no content
spells a special token, and no observation begins with what would join the marker's last token (a newline), the ids
equal those of the whole rendering tokenised in one go (``is_seamless`` proves that for a tokenizer).

The loss holds the tokens of a kept observation, as far as its mask lets them, and the stop token that ends its message.
The marker is a constant of the layout and stays outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from sharding.chat_format import ChatFormat
from sharding.conversation import OBSERVATION_MARKER, Message
from sharding.masks import Mask, touching


class TurnTokens(NamedTuple):
    """What became of one turn's observation."""

    num_tokens: int
    """Its own tokens, and the stop token: what is in the loss where all of the turn is."""
    num_loss_tokens: int
    num_volatile_tokens: int
    """Its tokens that would be in the loss, were they not volatile."""


class TokenisedConversation(NamedTuple):
    """Two arrays of shape ``(num_tokens,)``, of which ``loss`` is not shifted; and what they hold of each turn."""

    tokens: NDArray[np.uint32]
    loss: NDArray[np.bool_]
    turns: Sequence[TurnTokens] = ()


@dataclass(slots=True)
class _Run:
    """Text without control tokens, and the control token that ends it, if one does.

    The text of a run with a ``mask`` is an observation's, all of it and nothing else.
    """

    text: str = ""
    mask: Mask | None = None
    control: int | None = None

    @property
    def needs_offsets(self) -> bool:
        """Whether it matters where in the text its tokens are."""
        return self.mask is not None and self.mask.kept and bool(self.mask.volatile)


def _in_loss(mask: Mask, encoding: Encoding) -> tuple[NDArray[np.bool_], TurnTokens]:
    """Which tokens of an observation are in the loss, without the stop token; and the counts, with it."""
    num_own = len(encoding)
    if not mask.kept:
        return np.zeros(num_own, np.bool_), TurnTokens(num_own + 1, 0, 0)
    loss = np.ones(num_own, np.bool_) if mask.draw is None else mask.draw.keeps(num_own)
    num_drawn = int(loss.sum())
    if mask.volatile:
        loss &= ~touching(np.array(encoding.offsets, np.int64).reshape(-1, 2), mask.volatile)
    num_loss = int(loss.sum())
    return loss, TurnTokens(num_own + 1, num_loss + 1, num_drawn - num_loss)


_BATCH_CHARACTERS: Final = 2**18
"""An encoding takes hundreds of bytes a character; so many characters of runs are encoded together, or one run."""


def _batches(runs: Sequence[_Run]) -> Iterator[list[_Run]]:
    """The runs in order, together as long as they are not too many characters."""
    batch: list[_Run] = []
    num_characters = 0
    for run in runs:
        num_characters += len(run.text)
        if batch and num_characters > _BATCH_CHARACTERS:
            yield batch
            batch, num_characters = [], len(run.text)
        batch.append(run)
    yield batch


class ConversationTokenizer:
    """Tokenises conversations laid out by one chat format.

    Args:
        backend_json: a fast tokenizer's serialised form.
        form: the text of the chat template around contents.
        control: the special tokens and their ids; ``form.closing`` begins with one of them, the stop token.
    """

    def __init__(self, backend_json: str, form: ChatFormat, control: Mapping[str, int]) -> None:
        self._form = form
        self._control = control
        self._control_pattern = re.compile(f"({'|'.join(map(re.escape, sorted(control, key=len, reverse=True)))})")
        self._backend = _bare_backend(backend_json)
        self._backend.encode_special_tokens = True  # a special token that is spelled out is text

    def is_seamless(self) -> bool:
        """Whether a probe conversation has the same ids run by run as its rendering has in one go."""
        parts = self.encode(_PROBE).tokens
        self._backend.encode_special_tokens = False
        whole = self._backend.encode(self._form.render(_PROBE), add_special_tokens=False)
        self._backend.encode_special_tokens = True
        return np.array_equal(parts, whole.ids)

    def encode(self, messages: Sequence[Message]) -> TokenisedConversation:
        """Token ids and loss mask of a conversation."""
        tokens: list[NDArray[np.uint32]] = []
        loss: list[NDArray[np.bool_]] = []
        turns = []
        for run, encoding in self._encodings(self._runs(messages)):
            tokens.append(np.array(encoding.ids, np.uint32))
            if run.mask is None:
                loss.append(np.zeros(len(encoding), np.bool_))
            else:
                of_run, counts = _in_loss(run.mask, encoding)
                loss.append(of_run)
                turns.append(counts)
            if run.control is not None:
                tokens.append(np.array([run.control], np.uint32))
                loss.append(np.array([run.mask is not None and run.mask.kept]))
        return TokenisedConversation(np.concatenate(tokens), np.concatenate(loss), turns)

    def _encodings(self, runs: Sequence[_Run]) -> Iterator[tuple[_Run, Encoding]]:
        """Each run with its encoding, of which no more are in memory at once than a batch has."""
        for batch in _batches(runs):
            placed = any(run.needs_offsets for run in batch)
            encode = self._backend.encode_batch if placed else self._backend.encode_batch_fast  # takes less memory
            encodings = encode([run.text for run in batch], add_special_tokens=False)
            yield from zip(batch, encodings, strict=True)

    def _runs(self, messages: Sequence[Message]) -> list[_Run]:
        runs = [_Run()]
        for before, message in self._form.parts(messages):
            self._append_template_text(runs, before)
            content = self._form.content(message)
            if message.mask is not None:
                runs[-1].text += content[: len(OBSERVATION_MARKER)]
                content = content[len(OBSERVATION_MARKER) :]
                runs.append(_Run(mask=message.mask))
            runs[-1].text += content
        self._append_template_text(runs, self._form.closing)
        return runs

    def _append_template_text(self, runs: list[_Run], text: str) -> None:
        for part in self._control_pattern.split(text):
            if part in self._control:
                runs[-1].control = self._control[part]
                runs.append(_Run())
            else:
                runs[-1].text += part


_PROBE = [
    Message("system", " A system's text.\n"),
    Message("user", "### Turn 1\n\n ls"),
    Message("assistant", f"{OBSERVATION_MARKER}  a b\n\n"),
    Message("user", "\n### Turn 2"),
    Message("assistant", OBSERVATION_MARKER),
]


def _bare_backend(backend_json: str) -> Tokenizer:
    """The tokenizer without what it would add, cut or trim: its offsets are then exact."""
    backend = Tokenizer.from_str(backend_json)
    backend.no_truncation()
    backend.no_padding()
    backend.post_processor = None
    return backend
