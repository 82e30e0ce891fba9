"""What the detector finds, what it does not, and that no text is too much for it."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.secrets import Finding, find
from tests.curation.secrets.labelled import Labelled, generated_cases, written_cases

_ALPHANUMERIC = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_SUSPICIOUS = [
    *(
        "AKIA",
        "ghp_",
        "sk-",
        "eyJ",
        "eyJhbGciOiJIUzI1NiJ9.",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "password=",
        "token: '",
    ),
    *("@", "a@b.", "://", "://u:", "Cookie: a=b; ", "4111 1111 ", "1.2.", "2a02::", "+49 ", "DE89 ", "(415) ", "\\n"),
    *("aaaa", "Zz9", "\n", '"', "'", " ", "=", "é", "日本", "🙂", "[secret:token:1]", "Bearer ", "user", ".com", "-p"),
]
suspicious_texts = st.lists(st.one_of(st.sampled_from(_SUSPICIOUS), st.text(max_size=8))).map("".join)


def key(length: int = 36, seed: int = 0) -> str:
    return "".join(random.Random(seed).choices(_ALPHANUMERIC, k=length))


def test_the_labelled_set_is_large_and_has_as_many_look_alikes_as_it_needs() -> None:
    cases = _labelled_set()
    positives = sum(case.kind is not None for case in cases)
    assert positives >= 300
    assert len(cases) - positives >= 250


def test_recall_and_precision_hold_on_the_labelled_set() -> None:
    recall, precision = _recall_and_precision(_labelled_set())
    assert recall >= 0.99
    assert precision >= 0.95


@pytest.mark.parametrize("name", ["hard_cases.yaml", "held_out_cases.yaml"])
def test_recall_and_precision_hold_on_the_cases_written_by_hand_alone(name: str) -> None:
    recall, precision = _recall_and_precision(written_cases(name))
    assert recall >= 0.99
    assert precision >= 0.95


def test_places_count_code_points() -> None:
    text = f"🙂 naïve 日本: ghp_{key()}."
    assert find(text) == [Finding("github-token", 12, 52, "ghp_")]


def test_the_more_specific_rule_has_what_two_rules_claim() -> None:
    text = f"GITHUB_TOKEN=ghp_{key()}"
    assert [(finding.kind, text[finding.start : finding.end]) for finding in find(text)] == [
        ("github-token", f"ghp_{key()}")
    ]


def test_a_key_that_the_screen_wraps_is_found_whole() -> None:
    prompt = "user@box:~$ echo "
    screen = f"{prompt}{'x ' * 60}ghp_{key()}"
    wrapped = f"{screen[:160]}\n{screen[160:]}\nuser@box:~$"
    [finding] = find(wrapped)
    assert finding.kind == "github-token"
    assert wrapped[finding.start : finding.end].replace("\n", "") == f"ghp_{key()}"


def test_rows_of_another_width_are_not_joined() -> None:
    screen = f"{'x ' * 70}ghp_{key()}"
    wrapped = f"{screen[:150]}\n{screen[150:]}"
    assert not find(wrapped)
    assert find(wrapped, columns=150)
    assert not find(f"{screen[:160]}\n{screen[160:]}", columns=None)


def test_what_stands_for_a_secret_already_is_left_alone() -> None:
    assert not find("password=[secret:DB_PASSWORD] token: '[secret:token:1]' to [personal:email:12]")


def test_lone_surrogates_do_no_harm() -> None:
    assert [finding.start for finding in find(f"\ud800 ghp_{key()} \udfff")] == [2]


@settings(max_examples=150, deadline=None)
@given(suspicious_texts, st.sampled_from([None, 3, 160]))
def test_findings_are_in_order_apart_and_inside_the_text(text: str, columns: int | None) -> None:
    end = 0
    for finding in find(text, columns=columns):
        assert end <= finding.start < finding.end <= len(text)
        end = finding.end


@pytest.mark.parametrize("piece", [*_SUSPICIOUS, "eyJ-", "password='a", "a.b@", "1.1.1.1.", "xoxb-1-", "%3D", "=" * 7])
def test_a_long_text_made_to_mislead_the_rules_takes_time_in_proportion(piece: str) -> None:
    short, long = (_seconds(piece * (size // len(piece))) for size in (8_000, 64_000))
    assert long < 24 * short + 0.1


def _labelled_set() -> list[Labelled]:
    written = [case for name in ("hard_cases.yaml", "held_out_cases.yaml") for case in written_cases(name)]
    return [*written, *generated_cases(seed=0)]


def _recall_and_precision(cases: Iterable[Labelled]) -> tuple[float, float]:
    """A label is found where a finding of its kind covers it; a finding that touches no label is a false one."""
    labels = hits = false_findings = 0
    for case in cases:
        findings = find(case.text)
        touching = [f for f in findings if case.kind is not None and f.start < case.end and case.start < f.end]
        labels += case.kind is not None
        hits += any((f.kind, f.start <= case.start, f.end >= case.end) == (case.kind, True, True) for f in touching)
        false_findings += len(findings) - len(touching)
    return hits / labels, hits / (hits + false_findings)


def _seconds(text: str) -> float:
    start = time.process_time()
    find(text)
    return time.process_time() - start
