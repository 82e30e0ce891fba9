"""Passwords and tokens that people tell each other, or that a program tells them, in sentences."""

from __future__ import annotations

import re

from curation.secrets.checks import after, password, spoken_password, text_password, token
from curation.secrets.notation import OPENED, PASSWORD, TOKEN, UNQUOTED
from curation.secrets.rule import Rank, Rule, loose_rule
from curation.secrets.triggers import any_case, exact

_LONGEST_WORD = 130
_WORD = OPENED + rb"(?P<secret>" + UNQUOTED + rb"{5,127}[^\s\"'`\\.,;:)])"
"""It ends before what ends a sentence."""


def _begin_of_word(data: bytes, position: int) -> int | None:
    """Of the word that ends where the trigger begins."""
    begin = data.rfind(b" ", max(0, position - _LONGEST_WORD), position)
    return begin if begin >= 0 else None


_LANGUAGES = (
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "contraseña",
    "CONTRASEÑA",
    "mot de passe",
    "senha",
    "wachtwoord",
    "hasło",
    "HASŁO",
    "passwort",
    "kennwort",
)
SAID_RULES = (
    loose_rule(
        "password",
        "password is",
        [
            any_case("password is "),
            any_case("passphrase is "),
            any_case("password was "),
            exact("New value: "),
        ],
        rb"[A-Za-z]{3,10} (?:is|was|value:) (?:now |generated for [\w@.%-]{1,64}: |set to )?"
        + OPENED
        + rb"(?P<secret>"
        + UNQUOTED
        + rb"{5,127}[^\s\"'`\\.,;:])",
        password,
    ),
    loose_rule(
        "password",
        "password for",
        [
            *(any_case(f"{word} password for ") for word in ("new", "initial", "temporary", "the", "your", "current")),
            *(exact("Password for "), any_case("pwd for "), any_case("passphrase for ")),
        ],
        rb"(?:[A-Za-z]{3,9} )?[A-Za-z]{3,10} for (?:[A-Za-z]{2,12} ){0,3}[\w@.%-]{1,64}(?:: | is (?:now )?)" + PASSWORD,
        text_password,
    ),
    loose_rule(
        "password",
        "password in quotes",
        [any_case(f"{word} {quote}") for word in ("password", "passphrase") for quote in "\"'`"],
        rb"[A-Za-z]{8,10} (?P<quote>[\"'`])(?P<secret>[^\"'`\\\n]{6,128})(?P=quote)",
        spoken_password,
    ),
    loose_rule(
        "password",
        "credentials: user / password",
        [
            any_case(f"{word}{mark}")
            for word in ("credentials", "creds", "login")
            for mark in (": ", " - ", " — ", " – ")
        ],
        rb"[A-Za-z]{5,11}(?:: | - | \xe2\x80[\x93\x94] )[\w.@+-]{1,64} ?[/|] ?(?P<secret>"
        + UNQUOTED
        + rb"{6,128})(?=\s|\Z)",
        password,
    ),
    loose_rule(
        "password",
        "password, in another language",
        [*map(any_case, _LANGUAGES)],
        rb"[^\s:=]{3,24}(?: [Dd][Ee] [Pp][Aa][Ss][Ss][Ee])?(?:\s?(?::|=|\xef\xbc\x9a|\xe6\x98\xaf|\xe3\x81\xaf)|"
        rb"[^\n:=]{0,40}?\s(?:est|es|ist|lautet|\xc3\xa9)(?: ?:| ))\s?" + PASSWORD,
        password,
        alone=True,
    ),
    loose_rule(
        "token",
        "token is",
        [any_case("token is "), any_case("api key is "), any_case("secret is "), any_case("secret key is ")],
        rb"[A-Za-z]{3,6}(?: [A-Za-z]{3})? is " + TOKEN,
        token,
    ),
    loose_rule(
        "token",
        "Unseal Key",
        [exact("Unseal Key "), exact("Recovery Key ")],
        rb"\w{6,8} Key \d{1,2}: (?P<secret>[A-Za-z0-9+/]{43,88}={0,2})",
        token,
    ),
    loose_rule(
        "password",
        "pass is",
        [*(any_case(f"{word} is ") for word in ("pass", "pw", "pwd")), any_case("pass phrase is ")],
        rb"[A-Za-z ]{2,11} is " + _WORD,
        password,
        alone=True,
    ),
    loose_rule(
        "password",
        "password ->",
        [any_case("password -> "), any_case("password → "), any_case("password => ")],
        rb"[A-Za-z]{8} (?:[-=]>|\xe2\x86\x92) " + PASSWORD,
        password,
    ),
    loose_rule(
        "password",
        "the following password",
        [any_case("following password")],
        rb"[A-Za-z]{9} [A-Za-z]{8}[^\n]{0,80}\n(?:[^\n]{0,40}\n){0,2}?(?:[\w-]{1,32} {0,4}\| )?[ \t]{0,8}"
        rb"(?P<secret>\S{12,128})(?=[ \t\r]{0,8}(?:\n|\Z))",
        token,
    ),
    loose_rule(
        "password",
        "creds for a host: user / password",
        [any_case(f"{word} for ") for word in ("credentials", "creds", "login")],
        rb"[A-Za-z]{5,11} for [^\n:]{1,40}: [\w.@+-]{1,64} ?[/|:] ?" + _WORD,
        password,
    ),
    loose_rule(
        "password",
        "password to",
        [any_case("password to "), any_case("passphrase to ")],
        rb"[A-Za-z]{8,10} to " + _WORD,
        after(rb"(?i:chang|set|reset|updat|rotat)[a-z]{0,4}\b[^\n.]{0,60}", within=80, check=password),
    ),
    loose_rule(
        "password",
        "with password",
        [any_case(f"{before} password ") for before in ("with", "and", "using", ",", "(")],
        rb"(?:[A-Za-z]{3,5}|,|\() (?i:password) " + _WORD,
        password,
    ),
    Rule(
        name="as the password",
        kind="password",
        triggers=tuple(any_case(f" as {article}password") for article in ("", "the ", "your ", "my ", "a ")),
        pattern=re.compile(rb" " + PASSWORD + rb"[\"'`]? as "),
        accepts=password,
        begin=_begin_of_word,
        rank=Rank.LOOSE,
    ),
    loose_rule(
        "password",
        "key of a wireless network",
        [any_case(word) for word in ("wi-fi", "wifi", "ssid")],
        rb"[A-Za-z-]{4,5}\b[^\n]{1,60}?\b(?i:key|code|password|pass)(?:: ?| is | = ?|=)" + _WORD,
        password,
    ),
    loose_rule(
        "password",
        "login is user / password",
        [any_case(f"{word} {verb} ") for word in ("credentials", "creds", "login") for verb in ("is", "are")],
        rb"[A-Za-z]{5,11} [a-z]{2,3} [\w.@+-]{1,64} ?[/|:] ?" + _WORD,
        password,
    ),
    loose_rule(
        "password",
        "credentials user:password",
        [any_case(f"{word} ") for word in ("credentials", "creds")],
        rb"[A-Za-z]{5,11} [\w.@+-]{1,64}:(?!//)" + _WORD,
        password,
    ),
)
