"""The statistics of turns: the plain reference says what is meant, and the fast path equals it bit for bit."""

import json
import math
import os
import sys
from pathlib import Path
from typing import TypedDict

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.classes import classify
from curation.statistics import batch_statistics, turn_statistics
from curation.words import words

DATA = Path(__file__).parent / "data" / "turns.jsonl"
CASES = Path(os.environ.get("WORLDTAPE_CASES", Path(__file__).parents[2] / "../shared/cases")) / "turns.jsonl"

TRICKY = "aZ_09 -\nßẞſKÅİıΣσςΐÀéÑǅǆȺȾⱥⱦ你あ\u0307\u0301\u00ad\u200d٣²ⅣⒶ𝐀𐐀𐐨🎉\U000e0041"
texts = st.one_of(
    st.text(),
    st.text(alphabet=TRICKY, max_size=60),
    st.lists(st.text(alphabet=TRICKY, max_size=12), max_size=30).map(" ".join),
)


Case = TypedDict(
    "Case",
    {
        "about": str,
        "case": str,
        "action": str,
        "observation": str,
        "ol": float,
        "nov": float,
        "jac": float,
        "r": float | str,
        "class": str,
    },
    total=False,
)
"""A turn and what is to be said of it; a file of cases has what it needs of this."""


def fast_and_plain(
    actions: list[str], observations: list[str]
) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    """What the two paths say of the same turns, with the counts that come with them."""
    fast = batch_statistics(pa.array(actions, pa.string()), pa.array(observations, pa.string()))
    plain: list[tuple[float, ...]] = []
    for action, observation in zip(actions, observations, strict=True):
        wa, wo = words(action), words(observation)
        counts = (len(wa), len(wo), len(wa & wo), len(action), len(observation))
        plain.append((*turn_statistics(action, observation), *counts))
    return [tuple(row.values()) for row in fast.to_pylist()], plain


def assert_equal(actions: list[str], observations: list[str]) -> None:
    fast, plain = fast_and_plain(actions, observations)
    assert fast == plain


def json_lines(path: Path) -> list[Case]:
    return [json.loads(line) for line in path.read_text().split("\n") if line]


@pytest.mark.parametrize("case", json_lines(DATA), ids=lambda case: case["about"])
def test_the_reference_gives_the_statistics_and_class_written_by_hand(case: Case) -> None:
    stats = turn_statistics(case["action"], case["observation"])
    assert (stats.ol, stats.nov, stats.jac) == (case["ol"], case["nov"], case["jac"])
    assert classify(stats, len_observation=len(case["observation"])) == case["class"]
    assert_equal([case["action"]], [case["observation"]])


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not here")
def test_the_shared_cases_hold_for_both_paths() -> None:
    cases = json_lines(CASES)
    for case in cases:
        stats = turn_statistics(case["action"], case["observation"])
        expected = (case["ol"], case["nov"], case["jac"], float(case["r"]))
        assert stats == pytest.approx(expected, abs=1e-9), case["case"]
        assert classify(stats, len_observation=len(case["observation"])) == case["class"], case["case"]
    assert_equal([case["action"] for case in cases], [case["observation"] for case in cases])


def test_the_length_ratio_of_an_empty_action_is_infinite_unless_both_are_empty() -> None:
    assert turn_statistics("", "x").r == math.inf
    assert turn_statistics("", "").r == 1.0
    assert turn_statistics("x", "").r == 0.0


@given(st.lists(st.tuples(texts, texts), max_size=8))
@example([("İ", "i"), ("ΑΣ", "ας"), ("ΑΣΑ", "ασα"), ("Σ", "σ")])
@example([("a" * 8, "a" * 9), ("a" * 16, "a" * 17), ("b" + "a" * 16, "c" + "a" * 16)])
@settings(max_examples=400, deadline=None)
def test_the_fast_path_equals_the_reference_on_any_text(turns: list[tuple[str, str]]) -> None:
    assert_equal([action for action, _ in turns], [observation for _, observation in turns])


@given(st.lists(st.sampled_from(["alpha", "ALPHA", "alphabet_soup", "ALPHABET_SOUP", "alphabet_soap", "ⱥⱥⱥ", "ȺȺȺ"])))
@settings(max_examples=100, deadline=None)
def test_words_that_differ_only_in_case_are_one_word(chosen: list[str]) -> None:
    assert_equal([" ".join(chosen), "-".join(reversed(chosen))], ["+".join(map(str.swapcase, chosen)), "alphabet_soup"])


def test_every_code_point_is_a_word_character_or_not_and_lowers_as_python_says() -> None:
    codes = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    assigned = [[code] for code in codes if code < 0x32000]
    rest = [code for code in codes if code >= 0x32000]
    groups = assigned + [rest[start : start + 256] for start in range(0, len(rest), 256)]
    characters = ["".join(map(chr, group)) for group in groups]
    actions = [f"{text} a{text}b {text}{text} é{text}" for text in characters]
    observations = [f"{text.lower()} A{text.upper()}B 你{text}" for text in characters]
    assert_equal(actions, observations)


def test_a_turn_with_very_many_words_outgrows_the_first_table() -> None:
    many = " ".join(f"w{number}" for number in range(20_000))
    long = " ".join(f"a_rather_long_word_{number}_and_its_end" for number in range(20_000))
    assert_equal([many, long, "w1", many], [long + many, many + long, long, ""])


def test_one_enormous_word_is_counted_once() -> None:
    assert_equal(["é" * 1_000_000, "x" * 3_000_001], ["É" * 1_000_000 + " " + "é" * 1_000_000, "X" * 3_000_001])


def test_slices_chunks_and_large_strings_are_read_where_they_lie() -> None:
    actions = pa.array(["skipped"] + [f"Read file {n} Ünï" for n in range(10)])
    observations = pa.array([f"file {n} ünï says {n * n}" for n in range(10)] + ["skipped"], pa.large_string())
    whole = batch_statistics(actions[1:], observations[:-1])
    assert whole.to_pylist()[3]["ol"] == turn_statistics("Read file 3 Ünï", "file 3 ünï says 9").ol
    chunked = batch_statistics(
        pa.chunked_array([actions[1:4], actions[4:]]), pa.chunked_array([observations[:7], observations[7:-1]])
    )
    assert chunked == whole


def test_a_null_text_has_null_statistics() -> None:
    result = batch_statistics(pa.array(["a", None, "İ"]), pa.array([None, "b", "i"]))
    assert [row["ol"] for row in result.to_pylist()] == [None, None, 1.0]
    assert [row["len_observation"] for row in result.to_pylist()] == [None, None, 1]


BAD_UTF8 = [
    b"\x80",
    b"\xc3",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe0\x80\x80",
    b"\xf5\x80\x80\x80",
    b"a\xff",
]


@given(st.lists(st.binary(max_size=12), min_size=1, max_size=6))
@example(BAD_UTF8)
@example([b"\xc4\xb0" + bad for bad in BAD_UTF8])
@settings(max_examples=200, deadline=None)
def test_bytes_that_are_not_utf8_have_null_statistics_and_harm_no_other_turn(rows: list[bytes]) -> None:
    text = pa.array(rows, pa.binary()).view(pa.string())
    result = batch_statistics(text, pa.array(["same"] * len(rows)))
    for row, stats in zip(rows, result.to_pylist(), strict=True):
        try:
            expected = turn_statistics(row.decode(), "same").ol
        except UnicodeDecodeError:
            expected = None
        assert stats["ol"] == expected


def test_texts_of_another_type_or_number_are_refused() -> None:
    with pytest.raises(TypeError, match="int64"):
        batch_statistics(pa.array([1]), pa.array(["a"]))
    with pytest.raises(ValueError, match="1 and 2"):
        batch_statistics(pa.array(["a"]), pa.array(["a", "b"]))


def test_no_turns_have_no_statistics() -> None:
    assert batch_statistics(pa.array([], pa.string()), pa.array([], pa.string())).num_rows == 0
