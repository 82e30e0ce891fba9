"""Placeholders: typed, the same for the same value, and nothing else is touched."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.secrets import PERSONAL, Finding, Placeholders, redact, redact_trajectory
from curation.secrets.detector import PLACEHOLDER, RULES
from curation.secrets.plausible import is_random
from tests.curation.secrets.test_detector import key, suspicious_texts

_PLACEHOLDER = re.compile(r"\[(?:secret|personal):[a-z0-9-]+:\d+\]")
_KINDS = sorted({rule.kind for rule in RULES})
_SECRET_KINDS = sorted(set(_KINDS) - PERSONAL)
_of_placeholders = st.lists(
    st.sampled_from(("[", "]", ":", "secret", "personal", "1", "12", "123456789", "[secret:", "\\n", "aB3xQ9zLmK2"))
    | st.sampled_from(_KINDS)
    | st.builds("{1}:{0}".format, st.integers(1, 99), st.sampled_from(_KINDS)),
    min_size=1,
    max_size=8,
).map("".join)
_SECRET_GIVEN = (
    "password={}",
    "curl -u bob:{} http://h/",
    "postgres://u:{}@h/db",
    "API_TOKEN='{}'",
    "Authorization: Bearer {}",
)


def test_the_same_value_has_the_same_placeholder_in_one_trajectory() -> None:
    placeholders = Placeholders()
    first, _ = redact(f"export A=ghp_{key(seed=1)}\nexport B=ghp_{key(seed=2)}", placeholders)
    second, _ = redact(f"echo ghp_{key(seed=2)} to jane@acme.io", placeholders)
    assert first == "export A=[secret:github-token:1]\nexport B=[secret:github-token:2]"
    assert second == "echo [secret:github-token:2] to [personal:email:1]"


def test_a_placeholder_that_stands_in_the_text_is_taken() -> None:
    texts = [
        "[secret:aws-key:1] and [secret:aws-key:3]",
        "AKIAQ3EGRIXD7YWNBV2K AKIAW5TR7YWNBV2KQ3EG",
        "AKIAZ7YWNBV2KQ3EGRIX",
    ]
    redacted, _ = redact_trajectory(texts)
    assert redacted == [texts[0], "[secret:aws-key:2] [secret:aws-key:4]", "[secret:aws-key:5]"]
    assert redact_trajectory(redacted)[0] == redacted


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


@pytest.mark.parametrize(
    "value",
    [
        *(
            "ZCaEHf9rM91REG",
            "Correct-Horse7!",
            "Welcome2024!",
            "BlueHarborDoor",
            "copper-kettle-lantern",
            "Oyster_Sh3ll",
        ),
        *("x7#kq!Tz", "BlueHarbor42", "b(w4k,Qz"),
    ],
)
def test_an_unmistakable_password_is_taken_out_wherever_it_stands_whole(value: str) -> None:
    elsewhere = f"rotated to {value}, '{value}' (tried {value}) \\n{value}\n{value}"
    texts, counts = redact_trajectory([elsewhere, f"DB_PASSWORD={value}", f"x{value}y"])
    assert texts[:2] == [elsewhere.replace(value, "[secret:password:1]"), "DB_PASSWORD=[secret:password:1]"]
    assert texts[2] == f"x{value}y"
    assert counts == {"password": 6}


@pytest.mark.parametrize("value", ["hunter2", "postgres15", "Welcome2024", "oatmeal-bowl", "a1b2c3d"])
def test_a_password_that_ordinary_text_can_hold_is_taken_out_only_where_it_shows(value: str) -> None:
    texts, _ = redact_trajectory([f"DB_PASSWORD={value}", f"image: {value} is up"])
    assert texts == ["DB_PASSWORD=[secret:password:1]", f"image: {value} is up"]


def test_code_that_was_taken_for_a_password_is_not_taken_out_elsewhere() -> None:
    placeholders = Placeholders()
    placeholders.stand_for("password", "re.compile(rb")
    assert placeholders.known("found = re.compile(rb'a')") == []


def test_a_uuid_that_is_a_token_is_taken_out_of_every_turn() -> None:
    token = "3f0c9a52-7d1e-4b8a-9c35-0e6b1d2f4a78"
    texts, _ = redact_trajectory([f"SNYK_TOKEN={token}", f"it is {token}."])
    assert texts[1] == "it is [secret:token:1]."


def test_the_value_of_a_cookie_is_the_same_secret_without_its_name() -> None:
    session = key(32, seed=4)
    texts, _ = redact_trajectory(
        [
            f"Set-Cookie: session={session}; Path=/; HttpOnly",
            f"Cookie: theme=dark; session={session}",
            f"it is {session}",
        ]
    )
    assert texts == ["Set-Cookie: [secret:cookie:1]; HttpOnly", "Cookie: [secret:cookie:1]", "it is [secret:cookie:1]"]


def test_each_of_several_cookies_that_open_a_session_is_taken_out_of_every_turn() -> None:
    session, token = key(32, seed=4), key(40, seed=5)
    texts, _ = redact_trajectory([f"Cookie: sid={session}; lang=en; auth={token}", f"{session} then {token}"])
    assert texts == ["Cookie: [secret:cookie:1]", "[secret:cookie:2] then [secret:cookie:3]"]


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


@pytest.mark.parametrize("given_as", _SECRET_GIVEN)
@pytest.mark.parametrize(
    "value",
    [
        *("secret:password:1", "secret:aws-key:1", "secret:token:123456789", "ecret:password:12]", "secret:password:"),
        *("[secret:password:1", "x[secret:password:1", "secret", "aws-key:1", "1", "[secret", "password:1]", "1]"),
        *("secret:password:1]aB3xQ9z", "[secret:aB3xQ9zLmK2w7Vt]", "x[secret:pass\\nword:1]9Kz"),
    ],
)
def test_a_secret_that_reads_like_a_placeholder_comes_to_an_end(given_as: str, value: str) -> None:
    _comes_to_an_end([given_as.format(value), f"it says {value}", "password=hunter2 API_TOKEN=aB3xQ9zLmK2w7VtP"])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.builds(str.format, st.sampled_from((*_SECRET_GIVEN, "it says {}")), _of_placeholders), max_size=6))
def test_secrets_made_of_pieces_of_placeholders_come_to_an_end(texts: list[str]) -> None:
    _comes_to_an_end([*texts, " ".join(texts)])


@settings(max_examples=300, deadline=None)
@given(_of_placeholders, st.sampled_from(_KINDS))
@example("secret:password:1x", "password")
@example("x[secret:password:1", "password")
def test_a_secret_that_reads_like_a_placeholder_is_still_taken_out_of_ordinary_text(value: str, kind: str) -> None:
    placeholders = Placeholders()
    placeholders.stand_for(kind, value)
    redacted, findings = redact(f"it says {value} here", placeholders)
    plain = PLACEHOLDER.search(value) is None and "\\n" not in value
    if kind in _SECRET_KINDS and plain and is_random(value.encode()) and not _is_in_a_placeholder(value):
        assert findings
        assert value not in redacted


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(_KINDS), st.integers(1, 10**9 - 1), st.integers(0, 12), st.integers(0, 12))
@example("password", 1, 1, 1)
@example("aws-key", 12, 0, 0)
def test_what_can_stand_inside_a_placeholder_is_not_known(kind: str, number: int, before: int, after: int) -> None:
    placeholder = f"[{'personal' if kind in PERSONAL else 'secret'}:{kind}:{number}]"
    value = placeholder[before : len(placeholder) - after]
    placeholders = Placeholders()
    placeholders.stand_for("password", value)
    assert placeholders.known(f"it says {value}") == []


def test_a_known_secret_leaves_placeholders_as_they_are() -> None:
    secret = key(24, seed=3)
    texts, _ = redact_trajectory([f"API_TOKEN={secret}", f"[secret:{secret}] is not {secret}"])
    assert texts[1] == f"[secret:{secret}] is not [secret:token:1]"


def _comes_to_an_end(texts: list[str]) -> None:
    redacted, _ = redact_trajectory(texts)
    assert redact_trajectory(redacted) == (redacted, {})
    placeholders = Placeholders()
    for text in texts:
        without, _ = redact(text, placeholders)
        assert redact(without, placeholders) == (without, [])


def _is_in_a_placeholder(value: str) -> bool:
    numbers = ["1", *re.findall(r"[0-9]+", value)]
    return any(value in f"[secret:{kind}:{number}]" for kind in _KINDS for number in numbers)


def _merged(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: finding.start)
