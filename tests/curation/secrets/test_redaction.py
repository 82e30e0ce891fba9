"""Placeholders: typed, the same for the same value, and nothing else is touched."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.secrets import Finding, Placeholders, redact, redact_trajectory
from tests.curation.secrets.test_detector import key, suspicious_texts

_PLACEHOLDER = re.compile(r"\[(?:secret|personal):[a-z0-9-]+:\d+\]")


def test_the_same_value_has_the_same_placeholder_in_one_trajectory() -> None:
    placeholders = Placeholders()
    first, _ = redact(f"export A=ghp_{key(seed=1)}\nexport B=ghp_{key(seed=2)}", placeholders)
    second, _ = redact(f"echo ghp_{key(seed=2)} to jane@acme.io", placeholders)
    assert first == "export A=[secret:github-token:1]\nexport B=[secret:github-token:2]"
    assert second == "echo [secret:github-token:2] to [personal:email:1]"


def test_findings_are_at_their_places_in_the_text_as_it_was_given() -> None:
    text = f"é {'A'} ghp_{key()} and jane@acme.io"
    _, findings = redact(text, Placeholders())
    assert [text[finding.start : finding.end] for finding in findings] == [f"ghp_{key()}", "jane@acme.io"]


def test_a_wrapped_secret_is_the_same_as_a_whole_one() -> None:
    placeholders = Placeholders()
    row = f"{'x ' * 70}ghp_{key()}"
    assert redact(f"ghp_{key()}", placeholders)[0] == "[secret:github-token:1]"
    wrapped, _ = redact(f"{row[:160]}\n{row[160:]}\n$", placeholders)
    assert wrapped == f"{'x ' * 70}[secret:github-token:1]\n$"


def test_a_secret_is_taken_out_of_every_turn_once_one_turn_tells_what_it_is() -> None:
    secret = key(24, seed=3)
    texts, counts = redact_trajectory([f"it says {secret}", f"API_TOKEN={secret}", f"xx{secret}yy"])
    assert texts == ["it says [secret:token:1]", "API_TOKEN=[secret:token:1]", "xx[secret:token:1]yy"]
    assert counts == {"token": 3}


def test_a_weak_password_is_not_taken_out_of_ordinary_text() -> None:
    texts, _ = redact_trajectory(["password=hunter2", "the film is called hunter2"])
    assert texts == ["password=[secret:password:1]", "the film is called hunter2"]


def test_text_without_findings_is_the_same_object() -> None:
    text = "total 0\n-rw-r--r-- 1 root root 0 notes.md"
    assert redact(text, Placeholders())[0] is text


@settings(max_examples=150, deadline=None)
@given(suspicious_texts)
@example("password=ghp_abcdefghijklmnopqrstuvwxyz0123456789!longrest9Aq")
@example("a@b.com@c.org:x@d.net")
def test_all_outside_the_findings_stays_as_it_is(text: str) -> None:
    redacted, findings = redact(text, Placeholders())
    outside, position = [], 0
    for finding in _merged(findings):
        outside.append(text[position : finding.start])
        position = max(position, finding.end)
    outside.append(text[position:])
    original_placeholders = _PLACEHOLDER.findall(text)
    if not original_placeholders:
        assert "".join(_PLACEHOLDER.split(redacted)) == "".join(outside)


@settings(max_examples=150, deadline=None)
@given(suspicious_texts)
@example("password=ghp_abcdefghijklmnopqrstuvwxyz0123456789!longrest9Aq")
def test_redacting_again_changes_nothing(text: str) -> None:
    placeholders = Placeholders()
    redacted, _ = redact(text, placeholders)
    assert redact(redacted, placeholders) == (redacted, [])
    assert redact(redacted, Placeholders()) == (redacted, [])


@settings(max_examples=50, deadline=None)
@given(st.lists(suspicious_texts, max_size=5))
def test_no_known_secret_is_left_in_any_text_of_a_trajectory(texts: list[str]) -> None:
    redacted, _ = redact_trajectory(texts)
    assert redact_trajectory(redacted) == (redacted, {})


def _merged(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.start)
