"""How datatrove's steps are set up to be measured: with what of it runs on the installed libraries."""

from __future__ import annotations

from datatrove.utils.hashing import HashConfig
from datatrove.utils.word_tokenizers import WordTokenizer

HASHES = HashConfig(hash_fc="sha1")
"""Its default, xxhash, fails with xxhash 4."""


class Blanks(WordTokenizer):  # type: ignore[misc]  # datatrove says no types
    """Splits text, which datatrove has made lower case and rid of punctuation, at blanks.

    Its own tokenizer for English needs spaCy, and is slower.
    """

    def word_tokenize(self, text: str) -> list[str]:
        return text.split()

    def sent_tokenize(self, text: str) -> list[str]:
        return [text]

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]
