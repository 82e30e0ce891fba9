"""A conversation as token ids and a loss mask, aligned token by token.

Only the chat template writes control tokens. The text between two of them is tokenised on its own with special tokens
switched off, so that an observation that spells ``<|im_end|>`` stays text. (Added tokens that are not special, such as
Qwen3's ``<think>``, are ordinary vocabulary, in contents as anywhere.) Where no content spells a special token,
the ids equal those of the whole rendering tokenised in one go (``is_seamless`` proves that for a tokenizer).

The loss holds the tokens that overlap the text of a kept observation, as far as its mask lets them, and the stop token
that ends its message. The marker before the text is a constant of the layout and stays outside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from curation.replays.spans import Spans
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


class _Observed(NamedTuple):
    """Where the text of a run is an observation, in characters, and what of it is in the loss."""

    begin: int
    end: int
    mask: Mask

    def in_loss(self, encoding: Encoding) -> tuple[NDArray[np.bool_], TurnTokens]:
        """Which tokens of the run are in the loss, without the stop token; and the counts, with it."""
        offsets = np.array(encoding.offsets, np.int64).reshape(-1, 2)
        own = touching(offsets, [(self.begin, self.end)] if self.begin < self.end else [])
        num_own = int(own.sum())
        if not self.mask.kept:
            return np.zeros_like(own), TurnTokens(num_own + 1, 0, 0)
        loss = own.copy()
        if self.mask.draw is not None:
            loss[own] = self.mask.draw.keeps(num_own)
        num_drawn = int(loss.sum())
        loss &= ~touching(offsets, self._volatile())
        num_loss = int(loss.sum())
        return loss, TurnTokens(num_own + 1, num_loss + 1, num_drawn - num_loss)

    def _volatile(self) -> Spans:
        """Where the run is volatile. What a template trims it trims at the end: the marker is before the beginning."""
        spans = ((self.begin + start, min(self.begin + end, self.end)) for start, end in self.mask.volatile)
        return [(start, end) for start, end in spans if start < end]


@dataclass(slots=True)
class _Run:
    """Text without control tokens, and the control token that ends it (None at the very end)."""

    text: str = ""
    observed: _Observed | None = None
    control: int | None = None


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
        runs = self._runs(messages)
        encodings = self._backend.encode_batch([run.text for run in runs], add_special_tokens=False)
        tokens: list[int] = []
        loss: list[NDArray[np.bool_]] = []
        turns = []
        for run, encoding in zip(runs, encodings, strict=True):
            tokens.extend(encoding.ids)
            if run.observed is None:
                loss.append(np.zeros(len(encoding.ids), np.bool_))
            else:
                of_run, counts = run.observed.in_loss(encoding)
                loss.append(of_run)
                turns.append(counts)
            if run.control is not None:
                tokens.append(run.control)
                loss.append(np.array([run.observed is not None and run.observed.mask.kept]))
        return TokenisedConversation(np.array(tokens, np.uint32), np.concatenate(loss), turns)

    def _runs(self, messages: Sequence[Message]) -> list[_Run]:
        runs = [_Run()]
        for before, message in self._form.parts(messages):
            self._append_template_text(runs, before)
            content = self._form.content(message)
            if message.mask is not None:
                begin = len(runs[-1].text)
                marked = min(len(OBSERVATION_MARKER), len(content))
                runs[-1].observed = _Observed(begin + marked, begin + len(content), message.mask)
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
