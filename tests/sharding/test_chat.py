from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from sharding.chat import UnfitTemplateError, choose_template, load_tokenizer, probe
from sharding.conversation import Message, Role
from trajectories import InputError

FIXED_TEXT = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"
TRIMS = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>{% endfor %}"
DROPS_EARLIER_REASONING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and loop.last %}<think></think>{% endif %}{{ m.content }}<|im_end|>{% endfor %}"
)
STRIPS_REASONING = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content.split('</think>')[-1] }}<|im_end|>{% endfor %}"
)
REFUSES_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}{% endfor %}"
)
NO_STOP_TOKEN = "{% for m in messages %}<|im_start|>{{ m.role }}: {{ m.content }}\n{% endfor %}"


@pytest.fixture
def tokenizer(tiny_tokenizer: Path) -> PreTrainedTokenizerFast:
    return load_tokenizer(str(tiny_tokenizer))


def test_a_template_of_its_own_that_is_fit_is_taken(tokenizer: PreTrainedTokenizerFast) -> None:
    assert choose_template(tokenizer).origin == "tokenizer"


def test_a_template_that_rewrites_earlier_turns_gives_way_to_chatml(tokenizer: PreTrainedTokenizerFast) -> None:
    tokenizer.chat_template = DROPS_EARLIER_REASONING
    chosen = choose_template(tokenizer)
    assert chosen.origin == "chatml"
    assert "turn N is no prefix of turn N + 1" in chosen.reason


def test_qwen3_is_trained_with_chatml_because_its_own_template_rewrites_earlier_turns(qwen3: Path) -> None:
    chosen = choose_template(load_tokenizer(str(qwen3)))
    assert chosen.origin == "chatml"
    assert "turn N is no prefix of turn N + 1" in chosen.reason


def test_a_tokenizer_with_neither_template_nor_chatml_tokens_is_refused(tokenizer_without_template: Path) -> None:
    with pytest.raises(InputError, match=r"none of its own.*ChatML tokens.*--chat-template FILE"):
        choose_template(load_tokenizer(str(tokenizer_without_template)))


def test_a_template_file_comes_first(tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text(FIXED_TEXT)
    chosen = choose_template(tokenizer, file)
    assert (chosen.origin, chosen.text) == ("file", FIXED_TEXT)


def test_an_unfit_template_file_is_refused_with_its_reason(tokenizer: PreTrainedTokenizerFast, tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text(STRIPS_REASONING)
    with pytest.raises(InputError, match="changes the contents of messages"):
        choose_template(tokenizer, file)
    with pytest.raises(InputError, match="cannot read the chat template"):
        choose_template(tokenizer, tmp_path / "missing.jinja")


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (DROPS_EARLIER_REASONING, "no prefix"),
        (STRIPS_REASONING, "changes the contents"),
        (REFUSES_SYSTEM, "no system"),
        (NO_STOP_TOKEN, "no stop token"),
        ("{% for m in %}", "fails on"),
        ("{% for i in range(999999999) %}x{% endfor %}", "fails on"),
        ("{{ 1 / 0 }}", "fails on"),
        ("nothing at all", "changes the contents"),
    ],
)
def test_an_unfit_template_is_told_from_a_fit_one(
    tokenizer: PreTrainedTokenizerFast, template: str, reason: str
) -> None:
    with pytest.raises(UnfitTemplateError, match=reason):
        probe(tokenizer, template)


CONTENTS = st.lists(st.text(max_size=20), min_size=3, max_size=9).filter(lambda contents: len(contents) % 2 == 1)


@pytest.mark.parametrize("template", [FIXED_TEXT, TRIMS])
@given(contents=CONTENTS)
def test_the_form_found_renders_as_the_template_does(tiny_tokenizer: Path, template: str, contents: list[str]) -> None:
    tokenizer = load_tokenizer(str(tiny_tokenizer))
    turn: list[Role] = ["user", "assistant"]
    roles: list[Role] = ["system", *turn * (len(contents) // 2)]
    messages = [Message(role, content) for role, content in zip(roles, contents, strict=True)]
    plain = [{"role": message.role, "content": message.content} for message in messages]
    whole = tokenizer.apply_chat_template(plain, chat_template=template, tokenize=False)
    assert probe(tokenizer, template).render(messages) == whole


@pytest.mark.parametrize("content", [None, "{broken", '{"version": "1.0"}'])
def test_a_folder_that_is_no_tokenizer_gets_one_clear_line(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(InputError, match=r"no tokenizer could be loaded: .*tokenizer\.json") as refusal:
        load_tokenizer(str(tmp_path))
    assert "\n" not in str(refusal.value)
