"""Known values: found where the plain search finds them, and in a time that hardly grows with their number."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.secrets import Finding, Placeholders, known_values, redact
from curation.secrets.detector import PLACEHOLDER
from curation.secrets.known_values import KNOWN, SHORTEST, KnownValues
from tests.curation.secrets.test_detector import key
from tests.work import num_calls

_BEGINNINGS = ("a" * 16, "ab" * 8, "eyJhbGciOiJIUzI1", "é日🙂" + "a" * 8, "\ud800" + "b" * 13)
_PIECES = (
    *_BEGINNINGS,
    "a",
    "b",
    "ab",
    "é",
    "🙂",
    "\udfff",
    " ",
    "[secret:token:1]",
    f"[secret:{'a' * 16}b]",
    "[secret:",
)
_LONGEST_BEGINNING = 16
_values = st.builds(str.__add__, st.sampled_from(_BEGINNINGS), st.text("ab1é", max_size=4))


@pytest.mark.parametrize(("few", "crowded"), [(32, 32), (0, 32), (0, 1)])
@settings(max_examples=150, deadline=None)
@given(st.lists(_values, unique=True, max_size=8), st.lists(st.sampled_from(_PIECES) | _values).map("".join))
@example(["a" * 16], "a" * 15 + "[secret:a]" + "a" * 33)
@example(["a" * 16, "a" * 17], "a" * 16)
def test_values_are_found_where_the_plain_search_finds_them(
    few: int, crowded: int, values: list[str], text: str
) -> None:
    known = _known_anywhere()
    for value in values:
        known.add(value.encode("utf-8", "surrogatepass"), f"kind of {value}")
    with mock.patch.multiple(known_values, _FEW=few, _CROWDED=crowded):
        assert sorted(known.find(text)) == sorted(_plainly(values, text))


@pytest.mark.parametrize(("few", "crowded"), [(32, 32), (0, 32), (0, 1)])
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.from_regex(r"[ab1!]{8,10}", fullmatch=True), unique=True, min_size=1, max_size=6),
    st.lists(st.sampled_from(("a", "1", "!", " ", "é", "\\n", "%20", "[secret:token:1]")), max_size=6),
    st.data(),
)
def test_whole_values_are_found_where_no_word_goes_on_into_them(
    few: int, crowded: int, values: list[str], between: list[str], data: st.DataObject
) -> None:
    text = "".join(piece + data.draw(st.sampled_from(values)) for piece in between)
    known = KnownValues(shortest=SHORTEST, whole=True)
    for value in values:
        known.add(value.encode(), f"kind of {value}")
    with mock.patch.multiple(known_values, _FEW=few, _CROWDED=crowded):
        found = known.find(text)
    assert {finding.kind for finding in found} <= {f"kind of {value}" for value in values}
    standing = {finding for finding in _everywhere(values, text) if _stands_whole(text, finding)}
    assert set(found) <= standing
    # Where a value overlaps itself, one of the places is left.
    assert all(any(_overlap(finding, other) for other in found) for finding in standing)


def test_a_value_that_is_added_again_keeps_its_kind() -> None:
    known = _known_anywhere()
    known.add(b"0123456789abcdef", "token")
    known.add(b"0123456789abcdef", "cookie")
    assert known.find("0123456789abcdef") == [Finding("token", 0, 16, KNOWN)]


def test_values_that_are_added_after_a_search_are_found_too() -> None:
    known = _known_anywhere()
    secrets = [key(24, seed=seed) for seed in range(100)]
    for number, secret in enumerate(secrets):
        known.add(secret.encode(), "token")
        assert len(known.find(" ".join(secrets))) == number + 1


@pytest.mark.parametrize("length", [0, 15, 16, 2**16 + 14, 2**16 + 15, 2**16 + 16, 2**17 + 16])
def test_values_are_found_wherever_a_long_text_is_divided(length: int) -> None:
    known = _known_anywhere()
    with mock.patch.object(known_values, "_FEW", 0):
        known.add(b"0123456789abcdef", "token")
        found = known.find("." * length + "0123456789abcdef" + "." * (length % 3))
    assert found == [Finding("token", length, length + 16, KNOWN)]


def test_a_log_of_many_keys_takes_work_in_proportion_to_their_number() -> None:
    few, many = (
        "\n".join(f"API_TOKEN={key(24, seed=seed)} {key(24, seed=seed)}" for seed in range(count))
        for count in (500, 4_000)
    )
    redact(few, Placeholders())  # what is compiled is loaded
    with mock.patch.object(KnownValues, "_by_value", side_effect=AssertionError("the whole text for each value")):
        of_few, of_many = (
            num_calls(lambda: redact(few, Placeholders())),
            num_calls(lambda: redact(many, Placeholders())),
        )
    assert of_many < 10 * of_few


def test_no_text_has_very_many_values_tried_at_each_of_its_places() -> None:
    text, known = "a" * 20_000, _known_anywhere()
    for length in range(1000):
        known.add(b"a" * (16 + length) + b"b1", "token")
    assert known.find(text) == []
    assert num_calls(lambda: known.find(text)) < 20 * len(text)


def _known_anywhere() -> KnownValues:
    return KnownValues(shortest=_LONGEST_BEGINNING, whole=False)


def _everywhere(values: list[str], text: str) -> Iterator[Finding]:
    """Each place of each value, those that overlap too, outside placeholders."""
    held = [match.span() for match in PLACEHOLDER.finditer(text)]
    for value in values:
        for start in range(len(text)):
            end = start + len(value)
            if text.startswith(value, start) and not any(begin < end and start < after for begin, after in held):
                yield Finding(f"kind of {value}", start, end, KNOWN)


def _stands_whole(text: str, finding: Finding) -> bool:
    """In these texts a word is of ``a`` and ``1``, and may begin after an escape."""
    _, start, end, _ = finding
    before, following = text[:start], text[end:]
    opens = text[start] == "!" or not before.endswith(("a", "b", "1", "n", "0")) or before.endswith(("\\n", "%20"))
    return opens and (text[end - 1] == "!" or not following.startswith(("a", "b", "1")))


def _overlap(finding: Finding, other: Finding) -> bool:
    return finding.kind == other.kind and finding.start < other.end and other.start < finding.end


def _plainly(values: list[str], text: str) -> list[Finding]:
    """One value after the other, in what is between the placeholders."""
    found, begin = [], 0
    for end, after in [*(match.span() for match in PLACEHOLDER.finditer(text)), (len(text), 0)]:
        for value in values:
            start = text.find(value, begin, end)
            while start >= 0:
                found.append(Finding(f"kind of {value}", start, start + len(value), KNOWN))
                start = text.find(value, start + len(value), end)
        begin = after
    return found
