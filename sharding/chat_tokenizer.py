"""A tokenizer together with the chat template chosen for it: all that turns conversations into tokens."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from transformers import PreTrainedTokenizerFast

from sharding.chat import ChatTemplate, choose_template, control_tokens, load_tokenizer
from sharding.manifest import TemplateFacts, TokenizerFacts, Width
from sharding.tokenise import ConversationTokenizer
from trajectories import InputError


@dataclass(frozen=True)
class ChatTokenizer:
    """``name`` is that of a folder or on the Hub; ``loaded`` has the chosen template in place of its own;
    ``backend_json`` is the serialised form of the fast tokenizer."""

    name: str
    loaded: PreTrainedTokenizerFast
    template: ChatTemplate

    @classmethod
    def load(cls, name: str, template_file: Path | None = None) -> ChatTokenizer:
        """Load a tokenizer, choose its template, and prove that the two can be trained with.

        Raises:
            InputError: no such tokenizer, no fit template, or ids that depend on where a text is cut.
        """
        loaded = load_tokenizer(name)
        template = choose_template(loaded, template_file)
        loaded.chat_template = template.text
        chat = cls(Path(name).name if Path(name).is_dir() else name, loaded, template)
        if not chat.conversation_tokenizer().is_seamless():
            raise InputError(
                "this tokenizer treats the beginning of its input specially, so turns would not tokenise as the whole",
                where=f"tokenizer {name}",
                mend="use a byte-level one, such as Qwen3's",
            )
        return chat

    @cached_property
    def backend_json(self) -> str:
        return str(self.loaded.backend_tokenizer.to_str())

    @cached_property
    def backend_sha256(self) -> str:
        return hashlib.sha256(self.backend_json.encode()).hexdigest()

    @cached_property
    def control(self) -> dict[str, int]:
        """The special tokens and their ids."""
        return control_tokens(self.loaded)

    @cached_property
    def vocabulary_size(self) -> int:
        """Every id is smaller than this."""
        return 1 + max(self.loaded.get_vocab().values())

    @property
    def width(self) -> Width:
        """The narrowest integer that holds every id."""
        return "uint16" if self.vocabulary_size <= 2**16 else "uint32"

    def save(self, folder: Path) -> None:
        """Write the tokenizer as transformers does, its template the chosen one."""
        self.loaded.save_pretrained(folder)

    def conversation_tokenizer(self) -> ConversationTokenizer:
        return ConversationTokenizer(self.backend_json, self.template.form, self.control)

    def tokenizer_facts(self) -> TokenizerFacts:
        pad = self.loaded.pad_token_id
        return TokenizerFacts(
            name=self.name,
            sha256=self.backend_sha256,
            vocabulary_size=self.vocabulary_size,
            pad_token_id=self.control[self.template.form.stop_token] if pad is None else pad,
        )

    def template_facts(self) -> TemplateFacts:
        template = self.template
        return TemplateFacts(
            origin=template.origin,
            reason=template.reason,
            sha256=hashlib.sha256(template.text.encode()).hexdigest(),
            stop_token=template.form.stop_token,
            stop_token_id=self.control[template.form.stop_token],
        )
