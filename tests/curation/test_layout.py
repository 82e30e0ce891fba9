"""Texts that a screen has cut or a viewer has numbered are read as they were, and no other is read twice."""

from __future__ import annotations

import textwrap

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.contamination.layout import as_laid_out
from curation.text_buffers import buffers_of
from tests.curation.quoted_texts import cut_into_rows, numbered

_words = st.lists(st.text("abcdefgé日", min_size=1, max_size=9), min_size=40, max_size=80)
_SIGNS = ("\t", "  ", ":", "|", " |", " │", "→", "\\t")


def second_reading(*texts: str) -> list[str]:
    read = as_laid_out(buffers_of(pa.array(texts, pa.large_string())))
    data = read.text.tobytes()
    return [data[begin:end].decode() for begin, end in zip(read.ends[:-1], read.ends[1:], strict=True)]


@given(_words, st.integers(40, 99), st.sampled_from(["\n", "\r\n"]))
def test_rows_that_were_cut_are_joined(words: list[str], width: int, end: str) -> None:
    text = " ".join(words).ljust(2 * width + 1, ".")  # two full rows tell of the width
    assert second_reading(cut_into_rows(text, width).replace("\n", end)) == [text]


@given(_words, st.sampled_from([80, 100, 120, 132, 160]), st.integers(1, 9))
def test_of_a_usual_width_one_full_row_is_enough(words: list[str], width: int, more: int) -> None:
    text = " ".join(words)[: width + more].ljust(width + more, ".")
    assert second_reading(f"$ cat it\n{cut_into_rows(text, width)}") == [f"$ cat it\n{text}"]


@given(_words, st.sampled_from(_SIGNS), st.integers(1, 8))
def test_numbers_before_lines_are_left_out(words: list[str], behind: str, width: int) -> None:
    text = textwrap.fill(" ".join(words), 39)
    assert second_reading(numbered(text, behind, width)) == [text]


@given(_words)
def test_numbers_before_lines_are_left_out_of_text_in_json(words: list[str]) -> None:
    text = textwrap.fill(" ".join(words), 39)
    in_json = [shown.replace("\n", "\\n").replace("\t", "\\t") for shown in (numbered(text, "\t"), text)]
    assert second_reading(in_json[0]) == [in_json[1]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "words that were wrapped at their ends, by\nan editor, and none of them\nwas cut",
        "7\tone number tells nothing\nof the lines after it",
        "2026-11-30 is no number of a line\n2026-11-30 neither",
        f"{'x' * 80}\n{'y' * 81}",
        "a line\n" + "x" * 80,
    ],
)
def test_what_is_laid_out_as_it_is_has_no_second_reading(text: str) -> None:
    assert second_reading(text) == [""]


def test_each_text_is_read_for_itself() -> None:
    cut, text = cut_into_rows("word " * 40, 80), "no screen\nnear it"
    assert second_reading(text, cut, text, cut) == ["", "word " * 40, "", "word " * 40]


@given(st.lists(st.text("1 \t\n\r\\nt:|│→x", max_size=40) | st.text(max_size=40)))
def test_the_second_reading_only_leaves_out(texts: list[str]) -> None:
    for text, read in zip(texts, second_reading(*texts), strict=True):
        rest = iter(text.encode())
        assert all(byte in rest for byte in read.encode())


def test_bytes_that_are_no_text_do_no_harm() -> None:
    noise = np.random.default_rng(0).integers(0, 256, 20_000, np.uint8)
    binary = pa.array([noise.tobytes()], pa.large_binary()).view(pa.large_string())
    assert as_laid_out(buffers_of(binary)).ends[-1] <= noise.size
