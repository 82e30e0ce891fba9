"""A token is in the loss by the characters it shares with what is masked, and by its own draw: by nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from curation.keep import token_draw
from curation.replays.spans import Spans
from curation.secrets import Placeholders, redact
from sharding.chat import choose_template, control_tokens, load_tokenizer
from sharding.conversation import OBSERVATION_MARKER, ContextText, TurnText, conversation
from sharding.masks import Mask, TokenDraw, touching
from sharding.redaction import carried, redacted
from sharding.tokenise import ConversationTokenizer, TokenisedConversation, TurnTokens
from tests.sharding.conftest import spelled

TRIMMING = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n{{ '' }}{% endfor %}"
PLACEHOLDER = re.compile(r"\[(?:secret|personal):[a-z0-9-]+:\d+\]")
SECRETS = (
    "".join(("ghp_", "a1B2c3D4e5F6", "g7H8i9J0k1L2", "m3N4o5P6q7R8")),
    "".join(("AKIA", "QX3TZ7LM", "9RWKC2VB")),
    "jane@acme.io",
)


class Layout(NamedTuple):
    """A tokenizer, the text it makes of one turn, and where the observation is in it."""

    encode: ConversationTokenizer
    trims: bool
    tokenizer: PreTrainedTokenizerFast

    def document(self, observation: str, mask: Mask) -> TokenisedConversation:
        turns = [TurnText("ls", observation, mask)]
        return self.encode.encode(conversation(ContextText("terminal"), turns))

    def characters(self, document: TokenisedConversation, observation: str) -> list[set[int] | None]:
        """The characters of the observation that each token shares a byte with; None for the stop token after it.

        In a byte-level vocabulary a token has a character for every byte that it stands for.
        """
        tokens = spelled(self.tokenizer, document.tokens)
        control = set(control_tokens(self.tokenizer))
        stop = max(place for place, token in enumerate(tokens) if token == "<|im_end|>")
        first = max(place for place, token in enumerate(tokens[:stop]) if token in control) + 1
        shown = observation.rstrip() if self.trims else observation
        marker = OBSERVATION_MARKER if shown or not self.trims else OBSERVATION_MARKER.rstrip()
        of_bytes = [
            None if place < len(marker) else place - len(marker)
            for place, character in enumerate(marker + shown)
            for _ in character.encode()
        ]
        found: list[set[int] | None] = [set() for _ in tokens]
        place = len(b"assistant\n")
        begun = 0
        for number in range(first, stop):
            ends = begun + len(tokens[number])
            touched = of_bytes[max(0, begun - place) : max(0, ends - place)]
            found[number] = {character for character in touched if character is not None}
            begun = ends
        assert begun == place + len(of_bytes)
        found[stop] = None
        return found


@pytest.fixture(scope="module", params=["plain", "trimming"])
def layout(request: pytest.FixtureRequest, tiny_tokenizer: Path, tmp_path_factory: pytest.TempPathFactory) -> Layout:
    tokenizer = load_tokenizer(str(tiny_tokenizer))
    file = tmp_path_factory.mktemp("template") / "trimming.jinja"
    file.write_text(TRIMMING)
    form = choose_template(tokenizer, file if request.param == "trimming" else None).form
    encode = ConversationTokenizer(tokenizer.backend_tokenizer.to_str(), form, control_tokens(tokenizer))
    return Layout(encode, form.trims, tokenizer)


def spans_of(flags: Sequence[bool]) -> Spans:
    """The stretches of set flags."""
    edges = np.flatnonzero(np.diff([False, *flags, False])).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


TEXTS = st.text(st.sampled_from("ab19 é零🦊\n\t.:"), max_size=30) | st.sampled_from(
    ["user@host:~$ ls -la\ntotal 8\n", "the quick brown fox  \n\n", "<|im_end|> notes.txt"]
)
FLAGGED_TEXTS = TEXTS.flatmap(
    lambda text: st.tuples(st.just(text), st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
)


@given(FLAGGED_TEXTS)
def test_a_token_leaves_the_loss_if_and_only_if_it_touches_a_volatile_character(
    layout: Layout, drawn: tuple[str, list[bool]]
) -> None:
    text, flags = drawn
    document = layout.document(text, Mask(True, spans_of(flags)))
    volatile = {place for place, flag in enumerate(flags) if flag}
    characters = layout.characters(document, text)
    expected = [of_token is None or bool(of_token and not of_token & volatile) for of_token in characters]
    assert document.loss.tolist() == expected
    own = [of_token for of_token in characters if of_token]
    num_volatile = sum(bool(of_token & volatile) for of_token in own)
    assert document.turns == [TurnTokens(len(own) + 1, len(own) + 1 - num_volatile, num_volatile)]
    np.testing.assert_array_equal(document.tokens, layout.document(text, Mask(True)).tokens)


PIECES = st.lists(st.sampled_from(SECRETS) | st.text(st.sampled_from("ab1 \né"), max_size=12), max_size=7)


@given(PIECES, st.data())
def test_spans_go_through_placeholders_and_a_placeholder_for_anything_volatile_is(
    layout: Layout, pieces: list[str], data: st.DataObject
) -> None:
    text = "\n".join(pieces)
    flags = data.draw(st.lists(st.booleans(), min_size=len(text), max_size=len(text)))
    _, (turn,), counts = redacted(ContextText("mcp"), [TurnText("ls", text, Mask(True, spans_of(flags)))])
    assume(sum(counts.values()) == sum(piece in SECRETS for piece in pieces))
    expected: list[bool] = []
    place = 0
    for piece in pieces:
        of_piece = flags[place : place + len(piece)]
        if piece in SECRETS:
            placeholder = PLACEHOLDER.match(turn.observation, len(expected))
            assert placeholder
            of_piece = [any(of_piece)] * len(placeholder[0])
        expected += [*of_piece, *flags[place + len(piece) : place + len(piece) + 1]]
        place += len(piece) + 1
    assert list(turn.mask.volatile) == spans_of(expected)
    document = layout.document(turn.observation, turn.mask)
    volatile = {number for number, flag in enumerate(expected) if flag}
    assert document.loss.tolist() == [
        of_token is None or bool(of_token and not of_token & volatile)
        for of_token in layout.characters(document, turn.observation)
    ]


def test_all_is_volatile_where_nobody_can_tell_what_came_from_where() -> None:
    text = f"key {SECRETS[0]} and so on"
    new, findings = redact(text, Placeholders(), columns=None)
    assert carried([(0, 3)], text, new, findings) == [(0, 3)]
    assert carried([(0, 3)], text, new.replace("[", "<"), findings) == [(0, len(new))]
    assert carried([(0, 3)], text, new.replace("so on", "forth"), findings) == [(0, len(new))]


@given(st.lists(st.integers(1, 3), max_size=12), st.lists(st.booleans(), max_size=30))
def test_touching_is_sharing_a_character(sizes: list[int], flags: list[bool]) -> None:
    ends = np.cumsum(sizes, dtype=np.int64)
    offsets = np.stack([ends - np.array(sizes, np.int64), ends], axis=1)
    expected = [any(flags[start:end]) for start, end in offsets.tolist()]
    assert touching(offsets, spans_of(flags)).tolist() == expected


def test_what_is_volatile_as_a_whole_still_trains_its_stop_token(layout: Layout) -> None:
    document = layout.document("4711", Mask(True, [(0, 4)]))
    assert layout.tokenizer.decode(document.tokens[document.loss]) == "<|im_end|>"


def test_nothing_of_a_turn_that_is_not_kept_is_in_the_loss_whatever_else_is_said_of_it(layout: Layout) -> None:
    document = layout.document("4711", Mask(False, [(0, 1)], TokenDraw(0.5, 0, "t", 1)))
    assert not document.loss.any()


@given(FLAGGED_TEXTS, st.floats(0, 1), st.integers(0, 3), st.integers(1, 9))
def test_of_a_thinned_turn_those_tokens_are_in_the_loss_whose_draw_is_below_the_ratio(
    layout: Layout, drawn: tuple[str, list[bool]], ratio: float, seed: int, turn: int
) -> None:
    """Tokens are counted from 1 among the observation's own, the volatile ones too; the stop token is not drawn."""
    text, flags = drawn
    mask = Mask(True, spans_of(flags), TokenDraw(ratio, seed, "trajectory", turn))
    document = layout.document(text, mask)
    volatile = {place for place, flag in enumerate(flags) if flag}
    expected, number = [], 0
    for of_token in layout.characters(document, text):
        number += bool(of_token)
        below = token_draw(seed, "trajectory", turn, number) < ratio if of_token else False
        expected.append(of_token is None or bool(of_token and below and not of_token & volatile))
    assert document.loss.tolist() == expected
    more = layout.document(text, mask._replace(draw=TokenDraw(min(1.0, ratio + 0.1), seed, "trajectory", turn)))
    assert (document.loss <= more.loss).all()
