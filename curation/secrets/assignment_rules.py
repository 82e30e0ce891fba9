"""Secrets that only what is said beside them gives away: assignments, fields, options and arguments of commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from curation.secrets.boundaries import back_over
from curation.secrets.names import NAME_CHARACTERS, is_password_name, is_secret_name
from curation.secrets.notation import ASSIGNED, OPENED
from curation.secrets.plausible import is_made_up, is_password, is_random, stands_for_a_secret
from curation.secrets.rule import Rank, Rule
from curation.secrets.triggers import ALNUM, Trigger, any_case, exact, one_of

_Check = Callable[[re.Match[bytes]], bool]

_LOOK_BACK = 80
_NAME = rb"(?P<name>[A-Za-z0-9_.\-]{2,96}+)"
_QUOTED_VALUE = rb"\\{0,3}(?P<quote>[\"'`])(?P<secret>[^\s\"'`\\]{6,4096})\\{0,3}(?P=quote)"
_BARE_VALUE = rb"(?P<secret>[^\s\"'`\\,;&<>|(){}\[\]]{6,4096}+)(?![(\[])"
_ASSIGNMENT = re.compile(rb"[A-Za-z0-9_.\-]{2,96}+" + ASSIGNED + OPENED + rb"[^\s\"'`\\]{6}")
_PASSWORD_ARGUMENT = OPENED + rb"(?P<secret>[^\s\"'`\\]{6,128})"
_TOKEN_ARGUMENT = OPENED + rb"(?P<secret>[\w.~+/=-]{16,4096})"

_PASSWORD_NAMES = ("password", "passwd", "passphrase", "pwd", "passwort")
_PASS = any_case("pass") + one_of("=:\"' ")
_TOKEN_NAMES = (
    *("secret", "token", "credential", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key"),
    *("private_key", "privatekey", "auth_key", "authkey", "auth-key", "encryption_key", "signing_key", "master_key"),
    *("account_key", "license_key", "app_key", "application_key"),
)


_back_over_name = back_over(NAME_CHARACTERS, 48)


def _begin_of_name(data: bytes, position: int) -> int | None:
    """Where the name begins, if something is assigned to it: mostly it is only mentioned."""
    return _back_over_name(data, position) if _ASSIGNMENT.match(data, position) else None


def _begin_of_echo(data: bytes, position: int) -> int | None:
    begin = data.rfind(b"echo ", max(0, position - 2 * _LOOK_BACK), position)
    return begin if begin >= 0 else None


def _is_genuine(match: re.Match[bytes]) -> bool:
    return not is_made_up(match["secret"]) and not stands_for_a_secret(match["secret"])


def _is_password(match: re.Match[bytes]) -> bool:
    return is_password(match["secret"])


def _is_token(match: re.Match[bytes]) -> bool:
    return is_random(match["secret"])


def _is_named_password(match: re.Match[bytes]) -> bool:
    return is_password_name(match["name"]) and is_password(match["secret"])


def _is_named_token(match: re.Match[bytes]) -> bool:
    return is_secret_name(match["name"]) and is_random(match["secret"])


def _is_mysql_password(match: re.Match[bytes]) -> bool:
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
    return re.search(rb"\b(?:mysql|mariadb)\w*[^\n|;]*\Z", before) is not None and is_password(match["secret"])


def _assigned(kind: str, triggers: Sequence[Trigger], accepts: _Check) -> tuple[Rule, ...]:
    """Rules for ``name = "value"`` and ``name=value`` where a trigger is a part of the name."""
    values = {"quoted": _QUOTED_VALUE, "bare": _BARE_VALUE}
    return tuple(
        Rule(
            name=f"{kind} = {form} value",
            kind=kind,
            triggers=tuple(triggers),
            pattern=re.compile(_NAME + ASSIGNED + value),
            accepts=accepts,
            begin=_begin_of_name,
            rank=Rank.LOOSE,
        )
        for form, value in values.items()
    )


def _vendor_value(kind: str, names: Sequence[str], value: str) -> Rule:
    """A rule for a vendor's value that has no form of its own, but stands beside one of these names."""
    spellings = {name.replace("_", joint) for name in names for joint in ("_", "-", "", " ")}
    name = "|".join(re.escape(spelling) for spelling in sorted(spellings, key=len, reverse=True))
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
        triggers=tuple(map(any_case, sorted(spellings))),
        pattern=re.compile(pattern),
        accepts=_is_genuine,
        rank=Rank.NAMED,
    )


def _after(kind: str, name: str, triggers: Sequence[Trigger], pattern: bytes, accepts: _Check) -> Rule:
    """A rule for what follows something fixed: an option, a parameter, a phrase."""
    return Rule(
        name=name,
        kind=kind,
        triggers=tuple(triggers),
        pattern=re.compile(pattern),
        accepts=accepts,
        rank=Rank.NAMED if accepts is _is_genuine else Rank.LOOSE,
    )


_VENDOR_VALUES = (
    _vendor_value("aws-secret", ["secret_access_key", "aws_secret_key"], "[A-Za-z0-9+/]{40}"),
    _vendor_value("google-key-id", ["private_key_id"], "[a-f0-9]{40}"),
    _vendor_value("datadog-key", ["dd_api_key", "datadog_api_key"], "[a-f0-9]{32}"),
    _vendor_value("datadog-key", ["dd_app_key", "datadog_app_key", "dd_application_key"], "[a-f0-9]{40}"),
    _vendor_value("heroku-key", ["heroku_api_key"], "[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    _after(
        "aws-secret",
        "after the key's id",
        [exact("AKIA"), exact("ASIA")],
        rb"A[KS]IA[A-Z0-9]{16}[\s\"',:;|\\]{1,8}(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        _is_genuine,
    ),
    _after(
        "azure-key",
        "AccountKey",
        [any_case("accountkey="), any_case("sharedaccesskey=")],
        rb"\w{10,16}=(?P<secret>[A-Za-z0-9+/]{43,86}={1,2})",
        _is_genuine,
    ),
    _after(
        "azure-sas",
        "sig",
        [exact("&sig="), exact("?sig=")],
        rb"[?&]sig=(?P<secret>[A-Za-z0-9%+/_-]{43,60}(?:%3[Dd]|=)?)",
        _is_genuine,
    ),
)

_ARGUMENTS = (
    _after(
        "token",
        "--token value",
        [exact("-token "), exact("-api-key "), exact("-apikey "), exact("-secret ")],
        rb"-[a-z-]{5,8} " + _TOKEN_ARGUMENT,
        _is_token,
    ),
    _after(
        "password",
        "--password value",
        [exact("-password "), exact("-passphrase ")],
        rb"-pass[a-z]{4,6} " + _PASSWORD_ARGUMENT,
        _is_password,
    ),
    _after(
        "password",
        "curl -u user:password",
        [exact(" -u "), exact(" --user ")],
        rb" (?:-u|--user) " + OPENED + rb"[\w.@-]{1,64}:(?P<secret>[^\s\"'`\\]{6,128})",
        _is_password,
    ),
    _after("password", "sshpass -p", [exact("sshpass -p")], rb"sshpass -p ?" + _PASSWORD_ARGUMENT, _is_password),
    _after("password", "mysql -p", [exact(" -p") + ALNUM], rb" -p" + _PASSWORD_ARGUMENT, _is_mysql_password),
    _after(
        "password",
        "SQL",
        [any_case("password '"), any_case("identified by '")],
        rb"(?i:password|identified by) '(?P<secret>[^\s'\\]{6,128})'",
        _is_password,
    ),
    _after(
        "password",
        "htpasswd -b",
        [exact("htpasswd -")],
        rb"htpasswd -\w{0,6}b\w{0,6} [^\s-]{1,128} [^\s-]{1,128} " + _PASSWORD_ARGUMENT,
        _is_password,
    ),
    Rule(
        name="chpasswd",
        kind="password",
        triggers=(exact("| chpasswd"), exact("| sudo chpasswd")),
        pattern=re.compile(rb"echo " + OPENED + rb"[\w.-]{1,64}:(?P<secret>[^\s\"'`\\]{4,128})"),
        accepts=_is_password,
        begin=_begin_of_echo,
        rank=Rank.LOOSE,
    ),
    _after(
        "password",
        "netrc",
        [exact("login ")],
        rb"login[ \t]\S{1,128}\s{1,8}password[ \t](?P<secret>\S{4,128})",
        _is_password,
    ),
    _after(
        "password",
        "pgpass",
        [exact(":5432:")],
        rb":5432:[\w*-]{1,64}:[\w*-]{1,64}:(?P<secret>[^\s:\"'\\]{4,128})",
        _is_password,
    ),
)

ASSIGNMENT_RULES = (
    *_VENDOR_VALUES,
    *_ARGUMENTS,
    *_assigned("password", [*map(any_case, _PASSWORD_NAMES), _PASS], _is_named_password),
    *_assigned("token", list(map(any_case, _TOKEN_NAMES)), _is_named_token),
)
