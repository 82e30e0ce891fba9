"""The compiled pass reads the words that the definition names, in their order, whatever the text."""

from __future__ import annotations

import json
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.ngrams import Hashes, hash_ngrams, hash_words, ordered_words, texts_of
from curation.words import lower_table, words

TRICKY = "aZ_09 -\nßẞſKÅİıΣσςΐÀéÑǅȺȾⱥ\u0307\u0301\u00ad\u200d٣²Ⓐ𝐀𐐀𐐨🎉한ก\\nrtuNU"
UNSPACED = "你あー々ﾊ𠀀"
quoted_units = st.sampled_from(
    ["00e4", "00C4", "0130", "03a3", "4F60", "000a", "005c", "d801", "dc00", "D83C", "d8", "u"]
)
quoted = st.lists(st.one_of(quoted_units.map("\\u{}".format), st.sampled_from(TRICKY + UNSPACED))).map("".join)
texts = st.one_of(st.text(), st.text(alphabet=TRICKY + UNSPACED, max_size=60), quoted)


def hashes(column: list[str]) -> list[list[int]]:
    """The hashes of the words of each text, as the compiled pass finds them."""
    found = texts_of(pa.chunked_array([pa.array(column, pa.string())]))
    result = []
    for at, end in zip(found.ends[:-1], found.ends[1:], strict=True):
        room = np.empty((end - at) // 2 + 1, np.uint64)
        result.append(room[: hash_words(found.text, at, end, lower_table(), room)].tolist())
    return result


def ngrams(of_words: list[int], n: int) -> Hashes:
    array = np.array(of_words, np.uint64)
    return array[: hash_ngrams(array, len(of_words), n)]


@given(st.lists(texts, min_size=1, max_size=5))
@example(["ΑΣ ας", "İx"])
@example([r"\u0391\u03a3 \u03b1\u03c2", r"\u0130x", "none"])
@example([r"\ud801\udc00 \ud801 \udc00\ud801\u0041", "\\", "\\u", "\\u00e", r"\u00eg", r"\\u00e4"])
@example([r"C:\New\TEMP \U0041", r"C:\New\TEMP \U0041 İ"])
@example(["a" * 8 + " " + "a" * 9, "a" * 16 + "-" + "a" * 17])
@settings(max_examples=300, deadline=None)
def test_the_words_are_those_of_the_definition_in_their_order(column: list[str]) -> None:
    expected = [ordered_words(text) for text in column]
    found = hashes(column)
    assert [len(of_text) for of_text in found] == [len(of_text) for of_text in expected]
    spelt: dict[int, str] = {}
    for word, hashed in zip(chain(*expected), chain(*found), strict=True):
        assert spelt.setdefault(hashed, word) == word, "two words have one hash"
    assert len(set(spelt.values())) == len(spelt), "one word has two hashes"


@given(st.text(alphabet=TRICKY.replace("\\", ""), max_size=60))
@settings(deadline=None)
def test_the_words_are_those_of_curation_where_nothing_is_escaped(text: str) -> None:
    assert set(ordered_words(text)) == words(text)


def test_line_breaks_quoted_as_json_are_gaps() -> None:
    assert ordered_words(r"first line\nsecond\tthird\\nfourth C:\new") == [
        *("first", "line", "second", "third", "nfourth", "c", "ew"),
    ]


@given(st.text(), st.text(alphabet=TRICKY.replace("\\", "") + UNSPACED))
@settings(deadline=None)
def test_a_text_quoted_as_json_has_the_words_of_the_text(text: str, tricky: str) -> None:
    for plain in (text.replace("\\", ""), tricky):
        spaced = plain.translate(dict.fromkeys(range(32), " "))  # of these, JSON has names for some
        assert ordered_words(json.dumps(spaced)) == ordered_words(spaced)


def test_a_letter_beyond_ascii_does_not_split_its_word_where_it_is_quoted() -> None:
    assert ordered_words(json.dumps("Ändere die Größe, Straße 𐐀𐐨!")) == ["ändere", "die", "größe", "straße", "𐐨𐐨"]
    assert hashes([json.dumps("Ändere die Größe 𐐀 ΑΣ İx")]) == hashes(["ändere die größe 𐐨 ας İx"])


def test_each_character_of_a_script_without_blanks_is_a_word() -> None:
    assert ordered_words("打开LibreOffice表格、カーソル 한국어 말") == [
        *("打", "开", "libreoffice", "表", "格", "カ", "ー", "ソ", "ル", "한국어", "말"),
    ]


@given(st.lists(st.integers(0, 2**64 - 1), max_size=12), st.integers(1, 6))
@settings(deadline=None)
def test_an_ngram_depends_on_its_words_alone(of_words: list[int], n: int) -> None:
    found = ngrams(of_words, n)
    size = min(n, len(of_words))
    expected = [ngrams(of_words[place : place + size], n)[0] for place in range(len(of_words) - size + 1) if size]
    assert found.tolist() == expected


def test_words_in_another_order_are_another_ngram() -> None:
    rng = np.random.default_rng(0)
    of_words = rng.integers(0, 2**64, 13, dtype=np.uint64)
    orders = {tuple(rng.permutation(13)) for _ in range(2000)}
    assert len({int(ngrams(of_words[list(order)].tolist(), 13)[0]) for order in orders}) == len(orders)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_slices_chunks_and_nulls_are_read_where_they_lie(kind: pa.DataType) -> None:
    whole = pa.array(["skipped", "one Two", None, "Σ three", "skipped"], kind)
    column = pa.chunked_array([whole[1:2], whole[2:4]])
    found = texts_of(column)
    texts = [bytes(found.text[at:end]) for at, end in zip(found.ends[:-1], found.ends[1:], strict=True)]
    assert texts == [b"one Two", b"", "σ three".encode()]


def test_bytes_that_are_not_utf_8_are_gaps() -> None:
    for broken in (b"one\xfftwo", b"one\xc3", b"one\xed\xa0\x80two \xce\xa3"):
        column = pa.chunked_array([pa.array([broken]).view(pa.string())])
        found = texts_of(column)
        room = np.empty(20, np.uint64)
        count = hash_words(found.text, found.ends[0], found.ends[1], lower_table(), room)
        assert count == len(ordered_words(broken.decode(errors="replace")))
