"""Passwords that their place gives away: in a call that logs in, in a field of a page or a screen, in a key of JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

from curation.secrets.boundaries import back_over
from curation.secrets.checks import Check, after, genuine, text_password, token, token_or_uuid
from curation.secrets.names import NAME_CHARACTERS
from curation.secrets.notation import ASSIGNED, UNQUOTED, VALUE
from curation.secrets.plausible import is_made_up
from curation.secrets.rule import Judge, Rank, Rule
from curation.secrets.triggers import Trigger, any_case, exact, one_of

_NEAR = 3000
"""So far from its type a number of a key may be: those of 4096 bits are long."""
_LONGEST_TAG = 1000
_CALL_BEFORE = 80
_SESSIONS = ("session", "sessionid", "session_id", "sid", "token", "SESSID")
"""What the names of cookies end with that open a session."""
_ONE = rb"(?:(?:\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+'|[\w.$\[\]\"':@/ -]{0,96}?)\s?,\s{0,40})"
"""Another argument, then its comma."""
_TEXT = (
    rb"(?:[A-Za-z_]{0,10}=)?[bru]?(?P<quote>[\"'])(?P<secret>[^\"'\\\n]{6,128})(?P=quote)"
    rb"(?:\.toCharArray\(\))?\s{0,40}[),]"
)
_OF_TWO = (
    *("auth=(", "auth = (", "auth=[", 'auth": (', "auth': (", "Auth(", "basic_auth(", "Credentials(", "Credential("),
    *("PasswordAuthentication(", "PasswordAuthenticationToken(", "login(", "LoginAsync(", "Authenticate("),
    *("PlainTextAuthProvider(", "authenticate(", "cx_Oracle.connect(", "oracledb.connect("),
)
"""A user's name, then the password."""
_OF_THREE = (
    "FTP(",
    "FTP_TLS(",
    "PlainAuth(",
    "mysqli(",
    "mysqli_connect(",
    "mysql_connect(",
    "add_password(",
    "PDO(",
    "MongoCredential(",
    "connect(",
)
"""A host, a user's name, then the password; a realm and an address may be before them."""
_APP_PASSWORD = re.compile(rb"[a-z]{4}(?: [a-z]{4}){3}\Z")
"""As Google makes them for one application."""


def _is_argument(match: re.Match[bytes]) -> bool:
    return text_password(match) or _APP_PASSWORD.match(match["secret"]) is not None


def _call(names: Sequence[str], before: bytes) -> Rule:
    alternatives = "|".join(map(re.escape, names)).encode()
    return Rule(
        name=f"argument of {names[0]}",
        kind="password",
        triggers=tuple(map(exact, names)),
        pattern=re.compile(rb"(?:" + alternatives + rb")\s{0,40}" + before + _TEXT),
        accepts=_is_argument,
        rank=Rank.LOOSE,
    )


def _begin_of_tag(data: bytes, position: int) -> int | None:
    place = data.rfind(b"<", max(0, position - _LONGEST_TAG), position)
    return place if place >= 0 else None


def _near(words: bytes, check: Check) -> Check:
    """A check that holds only where such words stand near, before or after."""
    pattern = re.compile(words)

    def holds(match: re.Match[bytes]) -> bool:
        data = match.string
        around = max(0, match.start() - _NEAR), min(len(data), match.end() + _NEAR)
        return check(match) and pattern.search(data, *around) is not None

    return holds


def _is_key_number(match: re.Match[bytes]) -> bool:
    return not is_made_up(match["secret"])


def _json_keys(names: Sequence[str]) -> tuple[Trigger, ...]:
    return tuple(
        exact(f"{quote}{name}{closing}") for name in names for quote, closing in (('"', '"'), ("'", "'"), ('"', "\\"))
    )


def _number_of_key(name: str, members: Sequence[str], kinds: bytes) -> Rule:
    alternatives = "|".join(members).encode()
    return Rule(
        name=name,
        kind="private-key",
        triggers=(*_json_keys(members), *(one_of(" {,") + exact(f"{member}:") for member in members)),
        pattern=re.compile(
            rb"[\"' {,](?:"
            + alternatives
            + rb")(?:\\{0,3}[\"'])?\s{0,4}:\s{0,4}\\{0,3}[\"'](?P<secret>[\w-]{22,1500})\\{0,3}[\"']"
        ),
        accepts=_near(rb"kty(?:\\{0,3}[\"'])?\s{0,4}:\s{0,4}\\{0,3}[\"'](?:" + kinds + rb")\b", _is_key_number),
        rank=Rank.STRUCTURE,
    )


_CALLS = (_call(_OF_TWO, _ONE), _call(_OF_THREE, _ONE + rb"{2,4}?"))
_FIELDS = (
    Rule(
        name="field of a page",
        kind="password",
        triggers=(any_case('password"'), any_case('passphrase"')),
        pattern=re.compile(
            rb"(?i:password|passphrase)\"(?: \[[^\]\n]{1,40}\]){1,6}:? (?:value=)?[\"']?(?P<secret>"
            + UNQUOTED
            + rb"{6,128})"
        ),
        accepts=text_password,
        rank=Rank.LOOSE,
    ),
    Rule(
        name="node of a screen",
        kind="password",
        triggers=(exact('password="true"'),),
        pattern=re.compile(rb"<[\w.]{1,64} [^<>]{0,500}?\b(?:text|value)=\"(?P<secret>[^\"<>]{6,128})\""),
        accepts=text_password,
        begin=_begin_of_tag,
        rank=Rank.LOOSE,
    ),
    Rule(
        name="element after its name",
        kind="password",
        triggers=tuple(
            any_case(f"{word}{mark}</") for word in ("password", "passwd", "passwort") for mark in ("", ":")
        ),
        pattern=re.compile(
            rb"[A-Za-z]{6,8}:?</\w{1,8}>\s{0,40}(?:<(?!th\b)\w{1,8}[^<>\n]{0,80}>\s{0,8}){0,2}"
            rb"(?P<secret>[^<>\s\"'`\\]{6,128})(?=[<\s]|\Z)"
        ),
        accepts=text_password,
        rank=Rank.LOOSE,
    ),
    Rule(
        name="cookie, as an argument",
        kind="cookie",
        triggers=tuple(exact(f"{name}{quote},") for name in _SESSIONS for quote in "\"'"),
        pattern=re.compile(rb"[\w]{3,10}[\"'],\s{0,16}[\"'](?P<secret>[\w%.~+/=-]{16,4096})[\"']"),
        accepts=after(rb"[Cc]ookie", within=_CALL_BEFORE, check=token_or_uuid),
        rank=Rank.LOOSE,
    ),
    Rule(
        name="cookie, then its value",
        kind="cookie",
        triggers=tuple(exact(f"{name}{quote}") for name in _SESSIONS for quote in "\"'"),
        pattern=re.compile(rb"[\w.-]{2,96}+[\"'],\s{0,16}[\"'](?i:value)" + ASSIGNED + VALUE),
        accepts=token_or_uuid,
        begin=back_over(NAME_CHARACTERS, 48),
        judge=Judge.THEN_VALUE,
        rank=Rank.LOOSE,
    ),
)
_KEYS = (
    _number_of_key("JWK", ("d", "p", "q", "dp", "dq", "qi"), b"RSA|EC|OKP"),
    _number_of_key("JWK of one secret", ("k",), b"oct"),
    Rule(
        name="RSAKeyValue",
        kind="private-key",
        triggers=tuple(map(exact, ("<D>", "<P>", "<Q>", "<DP>", "<DQ>", "<InverseQ>"))),
        pattern=re.compile(rb"<\w{1,8}>\s{0,8}(?P<secret>[A-Za-z0-9+/\s]{40,1500}={0,2})\s{0,8}</"),
        accepts=_near(rb"<Modulus>", _is_key_number),
        rank=Rank.STRUCTURE,
    ),
    Rule(
        name="Twilio's, after the account",
        kind="twilio-key",
        triggers=(exact("AC"),),
        pattern=re.compile(rb"AC[a-f0-9]{32}[\"']?[,:\s]\s{0,8}[\"']?(?P<secret>[a-f0-9]{32})(?!\w)"),
        accepts=genuine,
        alone=True,
        rank=Rank.NAMED,
    ),
)

_CONVERSIONS = ("String::from(", "[]byte(", "Buffer.from(", "SecretStr(", "SecretString(", "str.encode(")


def _converted(kind: str, name: bytes, check: Check) -> Rule:
    """A rule for a string that becomes another type where it gets its name: ``jwtSecret := []byte("…")``."""
    return Rule(
        name=f"{kind}, converted",
        kind=kind,
        triggers=tuple(map(exact, _CONVERSIONS)),
        pattern=re.compile(
            rb"[\w:.\[\]]{6,14}\((?P<quote>[\"'])(?P<secret>[^\"'\\\n]{6,256})(?P=quote)",
        ),
        accepts=after(rb"(?i:" + name + rb")\w{0,12}\s?(?::[^=\n]{0,30})?:?=\s?&?\Z", within=_CALL_BEFORE, check=check),
        rank=Rank.LOOSE,
    )


_CONVERTED = (
    _converted("password", rb"passw(?:or)?d|passphrase", text_password),
    _converted("token", rb"secret|token|key", token),
)

CALL_RULES = (*_CALLS, *_FIELDS, *_KEYS, *_CONVERTED)
