"""Credentials of a standard form: blocks of a private key, JSON Web Tokens, passwords in URLs, HTTP headers."""

from __future__ import annotations

import base64
import binascii
import json
import re

from curation.secrets.boundaries import back_over
from curation.secrets.checks import after, genuine, token, token_or_uuid
from curation.secrets.names import NAME_CHARACTERS
from curation.secrets.notation import ASSIGNED, OPENED
from curation.secrets.plausible import is_made_up, is_placeholder, is_random, is_uuid, stands_for_a_secret
from curation.secrets.rule import Judge, Rank, Rule
from curation.secrets.triggers import any_case, exact


def _is_key_block(match: re.Match[bytes]) -> bool:
    """Whether it holds key material, and is not the bare marker in a program or a search."""
    material = _NO_MATERIAL.sub(b"", match["body"])
    return len(material) >= 40 and not is_made_up(material[:512])


def _is_jwt(match: re.Match[bytes]) -> bool:
    """Whether header and payload are JSON objects, and the header names an algorithm (RFC 7515, 7519)."""
    header, payload, *_ = match["secret"].split(b".")
    try:
        decoded = json.loads(_from_base64url(header))
        return isinstance(decoded, dict) and "alg" in decoded and ("enc" in decoded or _is_object(payload))
    except (ValueError, RecursionError):
        return False


def _is_object(part: bytes) -> bool:
    return isinstance(json.loads(_from_base64url(part)), dict)


def _from_base64url(part: bytes) -> bytes:
    return base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))


def _is_basic(match: re.Match[bytes]) -> bool:
    """Whether it decodes to ``user:password`` (RFC 7617)."""
    encoded = match["secret"]
    try:
        user, colon, password = base64.b64decode(encoded + b"=" * (-len(encoded) % 4), validate=True).partition(b":")
    except binascii.Error:
        return False
    return bool(colon and password) and not stands_for_a_secret(password) and (user + password).isascii()


def _begin_of_authority(data: bytes, position: int) -> int | None:
    """Of the URL that an ``@`` stands in."""
    begin = data.rfind(b"://", max(0, position - _LONGEST_USER_INFO), position)
    return begin if begin >= 0 else None


def _is_url_password(match: re.Match[bytes]) -> bool:
    """Whether it is another than the user's name, as that of a database on trial is not."""
    secret, user = match["secret"], match["user"]
    return secret != user and not stands_for_a_secret(secret) and not is_placeholder(user)


def _is_encoded_private_key(match: re.Match[bytes]) -> bool:
    """Whether a block that is in base64 once more begins as that of a private key does."""
    return b"PRIVATE KEY" in _from_base64url(match["secret"][:80])


def _is_cookie(match: re.Match[bytes]) -> bool:
    """Whether any cookie in it could be a session's, and not one that only counts visitors."""
    cookies = re.findall(rb"([\w.-]{1,64})=([^;\s]{16,512})", match["secret"])
    return any(not _TRACKING.match(name) and (is_random(value) or is_uuid(value)) for name, value in cookies)


_LONGEST_USER_INFO = 400
_TRACKING = re.compile(
    rb"_ga|_gid|_gat|_gcl_|_fb[cp]\Z|__utm|_hj|_pk_|_clck|_clsk|_uet|_tt_|mp_|ajs_|amplitude|AMCV_|Optanon|NID\Z|IDE\Z"
    rb"|(?i:cookie-?_?(?:consent|yes|law)|consent)"
)
"""Names of cookies for statistics, advertising, and of the consent to them."""
_NO_MATERIAL = re.compile(rb"\\{1,2}(?:[nr]|u000[aAdD])|\s|A{6,}")
"""In the body of a key: ends of lines, and zeros, of which the header of OpenSSH's keys has many."""
_LINE_END = rb"(?:\s|\\{1,2}(?:[nr]|u000[aAdD]))"
_MARGIN = rb"(?:\d{1,6}+(?!\w)[ \t]{0,2}+)?(?:(?:[>#|:+*\"']|-(?!-)|\xe2\x94\x82|\xe2\x86\x92)[ \t]{0,8}+){0,3}+"
"""What a viewer, a diff, a quotation or a table puts before each line: a number, a mark or two."""
_TAIL = rb"(?:(?:\\{1,2}n)?[ \t]{0,8}(?:[|\"']|\xe2\x94\x82)(?: ?[+.,\\](?=\s))?)?+"
"""What may close a line that a margin opens; also that of a string which goes on in the next line of a program."""
_PEM_HEADER = rb"[A-Z][\w-]{0,30}: [^\n\\]{0,200}+"
_COOKIE = rb"[\w.-]{1,64}=[^\s'\"\\;]{0,4096}"
_PEM_LINE = rb"[A-Za-z0-9+/=]{2,}+(?=[\s\\\"'-]|\Z)"
_LINE_IN_MARGINS = _MARGIN + rb"(?:" + _PEM_HEADER + rb"|[A-Za-z0-9+/=]{16,}+(?!\w))" + _TAIL
_SHORT_LINE_IN_MARGINS = _LINE_END + rb"{1,8}+" + _MARGIN + rb"[A-Za-z0-9+/=]{1,15}+" + _TAIL
_PEM_END = _LINE_END + rb"{0,8}+" + _MARGIN + rb"-?-----END "

_SSH2 = rb"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
_SESSION = rb"(?:[\w.-]{0,24}(?i:session(?:_?id)?|sessid)|connect\.sid)"

_STRUCTURES = (
    Rule(
        name="private key block",
        kind="private-key",
        triggers=(exact("-----BEGIN "),),
        pattern=re.compile(
            rb"-----BEGIN (?P<what>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----"
            rb"(?P<body>[A-Za-z0-9+/=]{40,}+|" + _TAIL + rb"(?:" + _LINE_END + rb"{1,8}+"
            rb"(?:" + _LINE_IN_MARGINS + rb"|" + _PEM_LINE + rb"))*+)"
            rb"(?:(?:" + _SHORT_LINE_IN_MARGINS + rb")?" + _PEM_END + rb"(?P=what)-----)?"
        ),
        accepts=_is_key_block,
        rank=Rank.STRUCTURE,
    ),
    Rule(
        name="private key of SSH2",
        kind="private-key",
        triggers=(exact(_SSH2.decode()),),
        pattern=re.compile(
            _SSH2
            + rb"(?P<body>(?:"
            + _LINE_END
            + rb"{1,8}+(?:[A-Z][\w-]{0,30}: [^\n\\]{0,200}+|"
            + _PEM_LINE
            + rb"))*+)(?:"
            + _LINE_END
            + rb"{0,8}+---- END SSH2 ENCRYPTED PRIVATE KEY ----)?"
        ),
        accepts=_is_key_block,
        rank=Rank.STRUCTURE,
    ),
    Rule(
        name="private key of PuTTY",
        kind="private-key",
        triggers=(exact("Private-Lines: "),),
        pattern=re.compile(
            rb"Private-Lines: \d{1,3}" + _LINE_END + rb"{1,4}+"
            rb"(?P<secret>(?P<body>[A-Za-z0-9+/=]{16,64}(?:" + _LINE_END + rb"{1,4}+[A-Za-z0-9+/=]{4,64}(?!\S))*+))"
        ),
        accepts=_is_key_block,
        rank=Rank.STRUCTURE,
    ),
    Rule(
        name="private key block in base64",
        kind="private-key",
        triggers=(exact("LS0tLS1CRUdJTi"),),
        pattern=re.compile(rb"(?P<secret>LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,65536}+={0,2})"),
        accepts=_is_encoded_private_key,
        alone=True,
        rank=Rank.STRUCTURE,
    ),
    Rule(
        name="three parts that decode",
        kind="jwt",
        triggers=(exact("eyJ"),),
        pattern=re.compile(rb"(?P<secret>eyJ[\w-]{8,2048}+\.[\w-]{2,8192}+(?:\.[\w-]{0,2048}){1,3})"),
        accepts=_is_jwt,
        alone=True,
        rank=Rank.STRUCTURE,
    ),
    Rule(
        name="user:password@",
        kind="password",
        triggers=(exact("@"),),
        pattern=re.compile(rb"://(?P<user>[^\s/:@\"'`<>\\]{0,128}):(?P<secret>[^\s/@\"'`<>\\]{1,256})@(?=[\w\[.-])"),
        accepts=_is_url_password,
        begin=_begin_of_authority,
        judge=Judge.USER_INFO,
        rank=Rank.NAMED,
    ),
    Rule(
        name="token@",
        kind="token",
        triggers=(exact("@"),),
        pattern=re.compile(rb"://(?P<secret>[\w.~-][\w.~%-]{19,255})@(?=[\w\[.-])"),
        accepts=token,
        begin=_begin_of_authority,
        judge=Judge.USER_INFO,
        rank=Rank.LOOSE,
    ),
)

_HEADERS = (
    Rule(
        name="Basic",
        kind="password",
        triggers=(any_case("basic "),),
        pattern=re.compile(rb"(?i:basic) (?P<secret>[A-Za-z0-9+/]{6,512}={0,2})(?![\w+/=])"),
        accepts=_is_basic,
        rank=Rank.NAMED,
    ),
    Rule(
        name="Authorization",
        kind="token",
        triggers=(any_case("authorization"),),
        pattern=re.compile(
            rb"(?i:authorization)" + ASSIGNED + OPENED + rb"(?i:bearer|token|apikey|bot|digest) "
            rb"(?P<secret>[\w.~+/-]{16,4096}={0,2})"
        ),
        accepts=genuine,
        rank=Rank.NAMED,
    ),
    Rule(
        name="Authorization, of another scheme",
        kind="token",
        triggers=(any_case("authorization"),),
        pattern=re.compile(
            rb"(?i:authorization)" + ASSIGNED + OPENED + rb"(?!(?i:basic) )(?:[A-Za-z][\w-]{0,20} )?(?:token=|key=)?"
            rb"(?P<secret>[\w.~+/:%=-]{16,4096})"
        ),
        accepts=token_or_uuid,
        rank=Rank.LOOSE,
    ),
    Rule(
        name="Authorization: Digest",
        kind="token",
        triggers=(exact('response="'),),
        pattern=re.compile(rb'response="(?P<secret>[a-f0-9]{32,128})"'),
        accepts=after(rb"Digest ", within=800, check=genuine),
        rank=Rank.NAMED,
    ),
    Rule(
        name="auth",
        kind="password",
        triggers=(any_case("auth="), any_case('auth"'), any_case("auth'"), any_case("auth:"), any_case("auth ")),
        pattern=re.compile(rb"(?i:auth)" + ASSIGNED + OPENED + rb"(?P<secret>[A-Za-z0-9+/]{8,512}={0,2})(?![\w+/=])"),
        accepts=_is_basic,
        rank=Rank.NAMED,
    ),
    Rule(
        name="Bearer",
        kind="token",
        triggers=(exact("Bearer "),),
        pattern=re.compile(rb"Bearer (?P<secret>[\w.~+/-]{20,2048}={0,2})"),
        accepts=token,
        rank=Rank.NAMED,
    ),
    Rule(
        name="Cookie",
        kind="cookie",
        triggers=tuple(map(any_case, ("cookie: ", "cookie '", 'cookie "', "cookie'", 'cookie"'))),
        pattern=re.compile(
            rb"(?i:cookie)(?:: |\s['\"]|[\"'][:,] ?[\"'])(?P<secret>" + _COOKIE + rb"(?:; ?" + _COOKIE + rb"){0,64})"
        ),
        accepts=_is_cookie,
        rank=Rank.NAMED,
    ),
    Rule(
        name="session",
        kind="cookie",
        triggers=(
            *map(any_case, ("sessionid", "session_id", "sessid", "session'", 'session"', "session=")),
            exact("connect.sid"),
        ),
        pattern=re.compile(_SESSION + ASSIGNED + OPENED + rb"(?P<secret>[\w%.~+/=-]{24,4096})"),
        accepts=token,
        begin=back_over(NAME_CHARACTERS, 24),
        judge=Judge.ASSIGNMENT,
        rank=Rank.LOOSE,
    ),
    Rule(
        name="cookies.txt",
        kind="cookie",
        triggers=(exact("\tTRUE\t"), exact("\tFALSE\t")),
        pattern=re.compile(rb"\t(?:TRUE|FALSE)\t\d{1,12}\t[\w.-]{1,64}\t(?P<secret>\S{16,4096})"),
        accepts=token_or_uuid,
        rank=Rank.NAMED,
    ),
)

CREDENTIAL_RULES = (*_STRUCTURES, *_HEADERS)
