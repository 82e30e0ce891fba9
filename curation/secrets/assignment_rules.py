"""Secrets that only the name beside them gives away: assignments, fields and parameters in many syntaxes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from curation.secrets.boundaries import after_colour, back_over
from curation.secrets.checks import Check, genuine, named_password, named_text_password, named_token, token
from curation.secrets.names import KEYS_OF, NAME_CHARACTERS
from curation.secrets.notation import ASSIGNED, BARE_VALUE, BEFORE_OPERATOR, NAME, OPENED, QUOTED_VALUE, VALUE
from curation.secrets.rule import Judge, Rank, Rule
from curation.secrets.triggers import Trigger, any_case, exact, one_of

_PASSWORD_NAMES = (
    *map(any_case, ("password", "passwd", "passphrase", "passcode", "pwd", "passwort", "psk")),
    *(any_case(name) + one_of("=:\"' \x1b") for name in ("pass", "pw")),
)
_TOKEN_NAMES = (
    *map(any_case, ("secret", "token", "credential", "credentials")),
    *(any_case(of) + joint + any_case("key") for of in sorted(KEYS_OF) for joint in (one_of("_-"), ())),
    *(any_case(name) + one_of("=:\"' ") for name in ("_pat", "_auth")),
)
_begin_of_name = after_colour(back_over(NAME_CHARACTERS, 48))


def _assigned(
    kind: str, triggers: Sequence[Trigger], accepts: Check, judge: Judge = Judge.ASSIGNMENT
) -> tuple[Rule, ...]:
    """Rules for ``name = "value"`` and ``name=value`` where a trigger is a part of the name."""
    values = {"quoted": QUOTED_VALUE, "bare": BARE_VALUE}
    return tuple(
        Rule(
            name=f"{kind} = {form} value",
            kind=kind,
            triggers=tuple(triggers),
            pattern=re.compile(NAME + ASSIGNED + value),
            accepts=accepts,
            begin=_begin_of_name,
            judge=judge,
            rank=Rank.LOOSE,
        )
        for form, value in values.items()
    )


def _vendor_value(kind: str, names: Sequence[str], value: str) -> Rule:
    """A rule for a vendor's value that has no form of its own, but stands beside one of these names."""
    name = "|".join(name.replace("_", "[_ -]?") for name in names)
    prompted = r"(?: \[[^\]\n]{0,20}\])?"
    pattern = (
        f"(?i:{name}){prompted}(?:".encode()
        + ASSIGNED
        + b"| )"
        + OPENED
        + f"(?P<secret>{value})(?![A-Za-z0-9+/=])".encode()
    )
    return Rule(
        name=names[0],
        kind=kind,
        triggers=tuple(_joined(name.split("_"), joint) for name in names for joint in (one_of("_- "), ())),
        pattern=re.compile(pattern),
        accepts=genuine,
        rank=Rank.NAMED,
    )


def _joined(words: Sequence[str], joint: Trigger) -> Trigger:
    first, *others = map(any_case, words)
    return first + tuple(step for other in others for step in (*joint, *other))


def _fixed(kind: str, name: str, triggers: Sequence[Trigger], pattern: bytes, accepts: Check) -> Rule:
    """A rule for what follows something fixed."""
    return Rule(
        name=name,
        kind=kind,
        triggers=tuple(triggers),
        pattern=re.compile(pattern),
        accepts=accepts,
        rank=Rank.NAMED if accepts is genuine else Rank.LOOSE,
    )


_VENDOR_VALUES = (
    _vendor_value("aws-secret", ["secret_access_key", "aws_secret_key"], "[A-Za-z0-9+/]{40}"),
    _vendor_value("google-key-id", ["private_key_id"], "[a-f0-9]{40}"),
    _vendor_value("datadog-key", ["dd_api_key", "datadog_api_key"], "[a-f0-9]{32}"),
    _vendor_value("datadog-key", ["dd_app_key", "datadog_app_key", "dd_application_key"], "[a-f0-9]{40}"),
    _vendor_value("heroku-key", ["heroku_api_key"], "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    _vendor_value("azure-key", ["azure_storage_key", "azure_storage_account_key"], "[A-Za-z0-9+/]{86}=="),
    _fixed(
        "aws-secret",
        "after the key's id",
        [exact("AKIA"), exact("ASIA")],
        rb"A[KS]IA[A-Z0-9]{16}[\s\"',:;|\\]{1,8}(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        genuine,
    ),
    _fixed(
        "azure-key",
        "AccountKey",
        [any_case("accountkey="), any_case("sharedaccesskey=")],
        rb"\w{10,16}=(?P<secret>[A-Za-z0-9+/]{43,86}={1,2})",
        genuine,
    ),
    _fixed(
        "azure-sas",
        "sig",
        [exact("&sig="), exact("?sig=")],
        rb"[?&]sig=(?P<secret>[A-Za-z0-9%+/_-]{43,60}(?:%3[Dd]|=)?)",
        genuine,
    ),
)

_PARAMETERS = ("key", "code", "appid", "auth", "signature", "X-Amz-Signature")
_KEYWORDS = ("#define", "setx", "set -gx", "set -x", "setenv", "ENV", "ARG", "config set", "secret set")


def _name_then_value(kind: str, triggers: Sequence[Trigger], accepts: Check) -> Rule:
    """A rule for ``"name": "API_KEY", "value": "…"``, ``variable "db_password" { default = "…" }`` and the like."""
    return Rule(
        name=f"{kind}, then its value",
        kind=kind,
        triggers=tuple(triggers),
        pattern=re.compile(
            NAME + rb"(?!" + BEFORE_OPERATOR + rb"{0,16}[:=])[^}]{1,100}?(?i:value|default|text)" + ASSIGNED + VALUE
        ),
        accepts=accepts,
        begin=_begin_of_name,
        judge=Judge.THEN_VALUE,
        rank=Rank.LOOSE,
    )


def _keyword(kind: str, accepts: Check) -> Rule:
    """A rule for ``#define NAME value`` and the like."""
    keywords = "|".join(map(re.escape, _KEYWORDS)).encode()
    return _fixed(
        kind,
        f"{kind}, after a keyword",
        [exact(f"{keyword} ") for keyword in _KEYWORDS],
        rb"(?:" + keywords + rb")[ \t]{1,8}" + NAME + rb"(?: --body| -b)?[ \t]{1,8}" + VALUE,
        accepts,
    )


def _argument(kind: str, triggers: Sequence[Trigger], accepts: Check) -> Rule:
    """A rule for ``define('NAME', 'value')``, ``env("NAME", "value")`` and the like."""
    return Rule(
        name=f"{kind}, as an argument",
        kind=kind,
        triggers=tuple(trigger + one_of("\"'") + one_of(", ") for trigger in triggers),
        pattern=re.compile(
            NAME + rb"[\"']\s?,\s{0,32}(?P<quote>[\"'])(?P<secret>[^\"'\\\n]{6,256})(?P=quote)",
        ),
        accepts=lambda match: accepts(match) and _opens_call(match),
        begin=_begin_of_name,
        rank=Rank.LOOSE,
    )


def _opens_call(match: re.Match[bytes]) -> bool:
    return re.search(rb"\(\s?[\"']\Z", match.string[max(0, match.start() - 3) : match.start()]) is not None


_TWO_WORDS = _fixed(
    "token",
    "token, its name of two words",
    [any_case(f"{of} key") for of in sorted(KEYS_OF)],
    rb"(?<!public )(?<!Public )(?<!able )(?P<name>[A-Za-z]{2,16} (?i:key))" + ASSIGNED + VALUE,
    named_token,
)
_PARAMETER = _fixed(
    "token",
    "parameter of a URL",
    [exact(f"{mark}{name}=") for mark in "?&" for name in _PARAMETERS],
    rb"[?&](?:" + "|".join(_PARAMETERS).encode() + rb")=(?P<secret>[\w%.~+/=-]{24,4096})",
    token,
)

ASSIGNMENT_RULES = (
    *_VENDOR_VALUES,
    *_assigned("password", _PASSWORD_NAMES, named_text_password, Judge.ASSIGNMENT_OF_WORDS),
    *_assigned("token", _TOKEN_NAMES, named_token),
    _name_then_value("password", _PASSWORD_NAMES, named_password),
    _name_then_value("token", _TOKEN_NAMES, named_token),
    _argument("password", (*_PASSWORD_NAMES, any_case("pass"), any_case("pw")), named_password),
    _argument("token", _TOKEN_NAMES, named_token),
    _keyword("password", named_password),
    _keyword("token", named_token),
    _TWO_WORDS,
    _PARAMETER,
)
