"""The compiled judges say what the rules say, on text made of what sets the rules off."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.secrets.detector import RULES, program, taken
from curation.secrets.program import Program, compile_rules
from tests.curation.secrets.labelled import WRITTEN, Labelled, generated_cases, written_cases

_NUMBERS = [
    *("93.184.216.34", "8.8.8.8", "10.0.0.1", "1.2.3.4", "4.12.0.31", "255.256.1.1", "01.2.33.44", "2a02:8071:22c1::1"),
    *("2001:db8::1", "3fff:1::2", "2606:4700:4700:0:0:0:0:1111", "2001:4860::8888:", "12:34:56", "::", ":", "2a02"),
    *(
        "+49 30 901820",
        "+1 415-836-2671",
        "+1 (646) 555-9812",
        "+44 (0)20 7946 0958",
        "+12025550143",
        "+1.415.836.2671",
    ),
    *("(415) 836-2671", "415-836-2671", "415.836.2671", "1-800-836-2671", "123-456-7890", "+", "(", ")", "1-", "2"),
    *("4111 1111 1111 1111", "4111111111111111", "3782-822463-10005", "378282246310005", "4111 1111", "0000", "13"),
    *(
        "DE89 3704 0044 0532 0130 00",
        "GB82WEST12345698765432",
        "BE68-5390-0754-7034",
        "DE12",
        "6011 1111 1111 1117",
        "FR76 3000",
    ),
]
_NAMES = [
    *(
        "jane@acme.com",
        "jane.doe+x@mail.co.uk",
        "git@a.de",
        "@",
        "a@b",
        ".com",
        "x@2x.me",
        "@acme.technology",
        "é@ü.de",
    ),
    *("://u:pass1word@h", "https://", "//", "user:", "%40acme.com", "example.com", "@example.org", ".museum", ".c0m"),
    *(
        "password=hunter2",
        "API_KEY: 'abc123def456ghi789'",
        'token": "',
        "secretKey := ",
        "passwd",
        "credentials",
        "tokens",
    ),
    *("value", "default", "VALUE: ", ', "value": "', "}", 'API_KEY", ', "db_password ", "sessionid", "type=", "psk"),
    *(
        "\x1b[0m",
        "\x1b[1;32m",
        "**",
        "__",
        "BlueHarborDoor",
        "salt-and-pepper",
        "Oyster_Shell",
        "DB_PASSWORD",
        "PASSWORD: ",
    ),
    *("access_token", "pwd", "pass=", " = ", ": ", ': "', "=> ", "str = '", "value=", "：", "b'", "a1b2c3d4e5f6", "=="),
]
_BESIDE = [
    *(
        " ",
        "\n",
        "\t",
        "\\n",
        "\\t",
        "\\u0041",
        "\\x41",
        "%20",
        "\x1b[31m",
        "[0;1m",
        ",",
        ";",
        "/",
        "-",
        "_",
        ".",
        "v",
        "e",
    ),
    *("version ", "release", "package ", "host ", "from ", "ip=", "via", "==", ">= ", "§", "Chrome/", "lib-", ")", "]"),
    *("é", "日", "\ud800", "'", '"', "`", "\\", "<", ">", "(", "{", "|", "&", "-token ", "sk-", "AKIA", "ghp_", "eyJ"),
]
texts = st.lists(
    st.one_of(st.sampled_from(_NUMBERS), st.sampled_from(_NAMES), st.sampled_from(_BESIDE), st.text(max_size=4)),
    max_size=12,
).map("".join)


@cache
def unjudged() -> Program:
    return compile_rules(RULES, judged=False)


def spans(data: bytes, of_rules: Program) -> set[tuple[int, ...]]:
    return set(map(tuple, taken(data, of_rules).tolist()))


@settings(max_examples=400, deadline=None)
@given(texts)
@example("a@b.com.x+y@c.org")
@example("+49 30 901820+1 415-836-2671")
def test_rules_take_the_same_with_judges_and_without(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    assert spans(data, program()) == spans(data, unjudged())


@pytest.mark.parametrize("name", [*WRITTEN, "generated"])
def test_rules_take_the_same_of_the_labelled_texts(name: str) -> None:
    cases: list[Labelled] = list(generated_cases(0) if name == "generated" else written_cases(name))
    for case in cases:
        data = case.text.encode()
        assert spans(data, program()) == spans(data, unjudged()), case.text
