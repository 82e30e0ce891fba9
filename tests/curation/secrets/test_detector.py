"""What the detector finds, what it does not, and that no text is too much for it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from subprocess import PIPE

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.secrets import Finding, find
from curation.secrets.detector import RULES, program, resolved, taken
from tests.curation.secrets import count_steps
from tests.curation.secrets.labelled import WRITTEN, Label, Labelled, generated_cases, written_cases

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
_MISLEADING = [
    *(
        "eyJ-",
        "password='a",
        "a.b@",
        "1.1.1.1.",
        "xoxb-1-",
        "%3D",
        "=" * 7,
        "tokena",
        "token value",
        "value: ",
        "A",
        "5K",
    ),
    *(
        "docker login -p",
        "openssl a ",
        "net user a ",
        "echo a | passwd ",
        "define('secret', '",
        "set -x token ",
        "session=",
    ),
    *(
        "mnemonic: abcd ",
        "password is ",
        "密码：",
        "LS0tLS1CRUdJTi",
        "otpauth://totp/?secret=",
        'Digest response="',
        "%40a",
    ),
    *(
        "Private-Lines: 1\naaaaaaaaaaaaaaaaaaaa\n",
        "password'), '",
        "://aaaaaaaaaaaaaaaaaaaaaaaa",
        "\tTRUE\t1\ta\t",
        "::",
    ),
    *("$6$a$", "*A", "GB82WEST", "415-415-", "4 4 4 4 ", "1234 5678 ", "+1 ", "[;;;;;;;;m", "@a.b.c", "é@", "[secret:"),
]
_ANSWERING = [
    *(
        'password: "a\\"',
        "password=a&b|",
        "cat token\na",
        "printenv token\n",
        "openssl rand a ",
        "tel: 0",
        "tel (0) / ",
    ),
    *("-----BEGIN RSA PRIVATE KEY-----\n> ", ".fill('a", "curl \\\n -u a:b1", "mot de passe a est ", "password  a"),
    *("https://a.webhook.office.com/webhookb2/", "a key: ", 'form-data; name="a"\n\n', "echo a --password-stdin"),
]
_IN_COLUMNS = [
    *(
        "password | ",
        "password  ",
        "a | password \n--+--\n",
        "a | password \n--+--\nb | c1\n",
        "a,password\n",
        "password,",
    ),
    *("password,a\nb1c2d3,e4f5g6\n", "a  password\n-  --------\n", "-[ RECORD 1 ]\npassword | a1b2c3\n", '"password",'),
    *(
        "insert into a (password) values ('",
        "insert into a (password) values ('a1b2c3'), ",
        "insert into a values (1), ",
    ),
    *(
        "create table a (password text); insert into a values ('",
        "COPY a (password) FROM stdin;\n",
        "phone | ",
        "phone,",
    ),
    *("CREATE TABLE a (\n password text", "insert into a (password", "COPY a (password", "password │ "),
    *('"d":"aaaaaaaaaaaaaaaaaaaaaa"', '{"kty":"EC","d":"abcdefghijklmnopqrstuvw"', "<Modulus><D>", 'password="true"'),
    *('<node text="a1b2c3d4 ', "auth=(a, ", "login('a', '", "FTP('a', 'b', ", 'password" [a]', 'session", "value": "'),
    *(
        "\x1b[1mpassword\x1b[0m",
        "password\x1b[0m: \x1b[1m",
        'password "',
        "the password for a ",
        "ec2-1-1-1-1.",
        "login: a  ",
    ),
    *(
        'psk="a ',
        "DB_PASSWORD=a-a",
        "passwordAa",
        'password="Aa',
        "enable secret 0 ",
        "password:**",
        "**password: ** ",
        "login: a / ",
        "password</b>",
        "nxc a -p ",
        "a.connect(b, c, 'd', ",
        "cookie('sid', '",
        " d:'aaaaaaaaaaaaaaaaaaaaaa'",
        "a | docker secret create",
        "<node ",
    ),
]
_IN_OPTIONS = [
    *("impacket-a a ", "--creds a:b1", "curl --proxy-user a:", "snmpwalk -A a -X ", ":1234:a:b:", "\n*:*:a:b:c1d2e3"),
    *("> AUTH a ", "USER a\nPASS ", "a LOGIN b ", "a.password b", "String::from('", "key = []byte('", "> user a "),
    *("maestro 5018 ", "card number 5", "the following password\n\n", "a1b2c3 as the password ", "wifi key "),
    *(
        "creds for a: ",
        "credentials a:",
        "set password to ",
        "with password ",
        "pass is ",
        "password -> ",
        "login is a /",
    ),
]
_THROW_AWAY_KEY = """\
-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACDj1WxcmWaql/R4Uxqd1J1k4tIBwNAOH3J6X1A1Ut0btgAAAJBMmSQ/TJkk
PwAAAAtzc2gtZWQyNTUxOQAAACDj1WxcmWaql/R4Uxqd1J1k4tIBwNAOH3J6X1A1Ut0btg
AAAECqCypEo2rmvXwS0aHarvf3ffAxSDI4RLSIz/2dbH1nuOPVbFyZZqqX9HhTGp3UnWTi
0gHA0A4fcnpfUDVS3Ru2AAAACnRocm93LWF3YXkBAgM=
-----END OPENSSH PRIVATE KEY-----
"""
"""As ``ssh-keygen`` writes one without a passphrase; made for this test, it opens nothing."""
suspicious_texts = st.lists(st.one_of(st.sampled_from(_SUSPICIOUS), st.text(max_size=8))).map("".join)


def key(length: int = 36, seed: int = 0) -> str:
    return "".join(random.Random(seed).choices(_ALPHANUMERIC, k=length))


def test_the_labelled_set_is_large_and_has_as_many_look_alikes_as_it_needs() -> None:
    cases = _labelled_set()
    assert sum(len(case.labels) for case in cases) >= 900
    assert sum(not case.labels for case in cases) >= 500


def test_recall_and_precision_hold_on_the_labelled_set() -> None:
    recall, precision = _recall_and_precision(_labelled_set())
    assert recall >= 0.99
    assert precision >= 0.95


@pytest.mark.parametrize("name", WRITTEN)
def test_recall_and_precision_hold_on_the_cases_written_by_hand_alone(name: str) -> None:
    recall, precision = _recall_and_precision(written_cases(name))
    assert recall >= 0.98
    assert precision >= 0.95


def test_every_rule_takes_something_of_the_labelled_set() -> None:
    fired = {number for case in _labelled_set() for *_, number in taken(case.text.encode(), program()).tolist()}
    assert [f"{rule.kind}: {rule.name}" for number, rule in enumerate(RULES) if number not in fired] == []


def test_a_key_that_ssh_keygen_wrote_is_found_whole() -> None:
    text = f"$ cat key\n{_THROW_AWAY_KEY}$ "
    [finding] = find(text)
    assert (finding.kind, text[finding.start : finding.end]) == ("private-key", _THROW_AWAY_KEY.strip())


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


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 90), st.integers(1, 12), st.integers(0, len(RULES) - 1)), max_size=30))
def test_of_what_overlaps_the_best_stays_and_then_the_best_that_is_left(claims: list[tuple[int, int, int]]) -> None:
    spans = [(start, start + length, rule) for start, length, rule in claims]
    kept: list[tuple[int, int, int]] = []
    for span in sorted(spans, key=lambda span: (RULES[span[2]].rank, span[0] - span[1], span[0])):
        if all(span[1] <= other[0] or other[1] <= span[0] for other in kept):
            kept.append(span)
    found = resolved(np.array(spans, np.int64).reshape(-1, 3), b"")
    assert [(start, end) for start, end, _ in found.tolist()] == sorted((start, end) for start, end, _ in kept)


def test_a_text_made_to_mislead_the_rules_takes_work_in_proportion() -> None:
    counting = [sys.executable, "-m", count_steps.__name__]
    pieces = json.dumps([*_SUSPICIOUS, *_MISLEADING, *_ANSWERING, *_IN_COLUMNS, *_IN_OPTIONS])
    counted = subprocess.run(
        counting, input=pieces, text=True, stdout=PIPE, check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}
    )
    steps: dict[str, list[int]] = json.loads(counted.stdout)
    assert len(steps) == len({*_SUSPICIOUS, *_MISLEADING, *_ANSWERING, *_IN_COLUMNS, *_IN_OPTIONS})
    assert {piece: counts for piece, counts in steps.items() if counts[1] > 10 * counts[0] + 1000} == {}


@pytest.mark.parametrize("piece", [*_SUSPICIOUS, *_MISLEADING, *_ANSWERING, *_IN_COLUMNS, *_IN_OPTIONS])
def test_no_expression_of_a_rule_hangs_on_a_text_made_to_mislead_it(piece: str) -> None:
    # Some hundredths of a second; minutes, if an expression looked through all of the text at each of its places.
    began = time.process_time()
    find(piece * (256_000 // len(piece)))
    assert time.process_time() - began < 30


def _labelled_set() -> list[Labelled]:
    written = [case for name in WRITTEN for case in written_cases(name)]
    return [*written, *generated_cases(seed=0)]


def _recall_and_precision(cases: Iterable[Labelled]) -> tuple[float, float]:
    """A label is found where a finding of its kind covers it; a finding that touches no label is a false one."""
    num_labels = hits = false_findings = 0
    for case in cases:
        findings = find(case.text)
        num_labels += len(case.labels)
        hits += sum(any(_covers(finding, label) for finding in findings) for label in case.labels)
        false_findings += sum(not any(_touches(finding, label) for label in case.labels) for finding in findings)
    return hits / num_labels, hits / (hits + false_findings)


def _covers(finding: Finding, label: Label) -> bool:
    return finding.kind == label.kind and finding.start <= label.start and finding.end >= label.end


def _touches(finding: Finding, label: Label) -> bool:
    return finding.start < label.end and label.start < finding.end
