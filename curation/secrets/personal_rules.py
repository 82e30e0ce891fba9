"""Personal data: addresses of people and machines, phone and card numbers, bank accounts."""

from __future__ import annotations

import re

from curation.secrets.addresses import is_public_domain, is_public_ipv4, is_public_ipv6
from curation.secrets.boundaries import back_over, shifted
from curation.secrets.numbers import (
    IBAN_LENGTHS,
    has_card_prefix,
    is_iban,
    is_international_phone,
    is_luhn,
    is_north_american_phone,
)
from curation.secrets.rule import Rank, Rule
from curation.secrets.triggers import ALNUM, ANY_HEX, DIGIT, NOT_DIGIT, UPPER, Trigger, exact, one_of

_LOCAL_BACKWARDS = re.compile(r"[\w.%+'-]*[^\W_]")
_ESCAPED = re.compile(rb"\\[nrt]")
_DOMAIN = re.compile(
    rb"(?:[A-Za-z0-9\x80-\xff](?:[A-Za-z0-9\x80-\xff-]{0,61}[A-Za-z0-9\x80-\xff])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_-])"
)
_LONGEST_LOCAL = 64
_LOOK_BACK = 40
_VERSION_BEFORE = re.compile(
    rb"""(?i:(?<![a-z0-9])v
    | (?:version|release)\w{0,4}[\s:="'(]{0,4} | build[ ]
    | [\w)][-_] | [\w.]/ | \.so\.              # of a package, a user agent, a library
    | [=<>~!^]=\s? | /[\w.-]{1,30}:             # of a requirement, an image
    )\Z""",
    re.VERBOSE,
)
_VERSION_WORD = re.compile(
    rb"(?i:version|release|section|chapter|rfc|\xc2\xa7|upgrad|update|patch|since|package|unpacking|setting up|driver"
    rb"|firmware|\b(?:deb|pip|deps|v8)\b)"
)
_ADDRESS_WORD = re.compile(
    rb"(?i:addr|host|server|\b(?:ip|dns|ping|from|ssh|curl|inet|via|client|peer|remote|dig)\b|@|//)"
)
_SMALL = 20
"""Four numbers up to this are hardly ever an address, and often a version."""
_RESOLVERS = frozenset({b"1.1.1.1", b"1.0.0.1", b"8.8.8.8", b"8.8.4.4", b"9.9.9.9"})
_DIFF = frozenset(b"+-@")


def _begin_of_local_part(data: bytes, position: int) -> int | None:
    """Back from the ``@`` over letters of any script, digits and the usual signs; it begins with no sign."""
    if _DOMAIN.match(data, position + 1) is None:
        return None
    backwards = data[max(0, position - _LONGEST_LOCAL) : position].decode(errors="replace")[::-1]
    local = _LOCAL_BACKWARDS.match(backwards)
    if local is None:
        return None
    begin = position - len(local[0].encode())
    return begin + 1 if _ESCAPED.match(data, begin - 1) else begin


def _is_persons_address(match: re.Match[bytes]) -> bool:
    """Whether it is a mail address: a public domain, and no prompt, path, package or repository."""
    data, local = match.string, match["local"]
    if local == b"git" or data[max(0, match.start() - 2) : match.start()] == b"//":
        return False
    after = data[match.end() : match.end() + 2]
    return re.match(rb"[(@/]|:[~/\w.-]", after) is None and is_public_domain(match["domain"])


def _is_public_ipv4(match: re.Match[bytes]) -> bool:
    numbers = [int(number) for number in match[0].split(b".")]
    if not is_public_ipv4(numbers):
        return False
    before = _before(match)
    line = before.rpartition(b"\n")[2]
    if before[-1:] == b"." or _VERSION_BEFORE.search(before) or _VERSION_WORD.search(line):
        return False
    return max(numbers) > _SMALL or match[0] in _RESOLVERS or _ADDRESS_WORD.search(line) is not None


def _is_public_ipv6(match: re.Match[bytes]) -> bool:
    return _is_free(match) and _before(match)[-1:] != b":" and is_public_ipv6(match[0].decode())


def _is_international(match: re.Match[bytes]) -> bool:
    digits = re.sub(rb"\D", b"", match[0]).decode()
    return _is_free(match) and is_international_phone(digits) and not _is_added_line(match)


def _is_north_american(match: re.Match[bytes]) -> bool:
    return _is_free(match) and is_north_american_phone(re.sub(rb"\D", b"", match[0]).decode())


def _is_added_line(match: re.Match[bytes]) -> bool:
    """Whether the ``+`` is that of a diff: it begins its line, and so does a mark of the kind in the next to it."""
    before, _, same_line = match.string[max(0, match.start() - 4 * _LOOK_BACK) : match.start()].rpartition(b"\n")
    after = match.string[match.end() : match.end() + 4 * _LOOK_BACK].partition(b"\n")[2]
    lines = (before.rpartition(b"\n")[2], after)
    return not same_line and any(line[:1] and line[0] in _DIFF for line in lines)


def _is_card(match: re.Match[bytes]) -> bool:
    digits = re.sub(rb"[ -]", b"", match[0]).decode()
    in_a_table = re.search(rb"[0-9A-Fa-f]{4}[ -]\Z", _before(match)) is not None
    return not in_a_table and _is_free(match) and has_card_prefix(digits) and is_luhn(digits)


def _is_account(match: re.Match[bytes]) -> bool:
    return is_iban(match[0].replace(b" ", b"").decode())


def _is_free(match: re.Match[bytes]) -> bool:
    """Whether it is no part of a longer number or name."""
    return _before(match)[-1:] not in {b".", b"-", b"_", b"+", b")", b"]"}


def _before(match: re.Match[bytes]) -> bytes:
    return match.string[max(0, match.start() - _LOOK_BACK) : match.start()]


def _quads() -> tuple[Trigger, ...]:
    """Two numbers of one to three digits between dots, after a digit and before one."""
    lengths = (1, 2, 3)
    return tuple(
        DIGIT + _DOT + DIGIT * first + _DOT + DIGIT * second + _DOT + DIGIT for first in lengths for second in lengths
    )


def _ibans() -> bytes:
    return b"|".join(
        f"(?:{countries.replace(' ', '|')})[0-9]{{2}}(?: ?[A-Z0-9]){{{length - 4}}}(?![A-Za-z0-9])".encode()
        for length, countries in IBAN_LENGTHS.items()
    )


_DOT, _GAP = exact("."), one_of(" -")
_FOUR = DIGIT * 4
_FREE = (NOT_DIGIT[0] - frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmopqsuvwxyz._+)]-"),)
"""What may stand before a number: not what makes it a part of a longer one; n, r and t may end an escape."""
_after_what_stands_before = shifted(-1)

PERSONAL_RULES = (
    Rule(
        name="local@domain",
        kind="email",
        triggers=(exact("@") + ALNUM,),
        pattern=re.compile(rb"(?P<local>[^\s@]{1,256})@(?P<domain>" + _DOMAIN.pattern + rb")"),
        accepts=_is_persons_address,
        begin=_begin_of_local_part,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="IPv4",
        kind="ip",
        triggers=_quads(),
        pattern=re.compile(rb"(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})(?!\w|\.\w|-\w)"),
        accepts=_is_public_ipv4,
        begin=back_over(b"0123456789", 4),
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="IPv6",
        kind="ip",
        triggers=(one_of("23") + ANY_HEX * 3 + exact(":"),),
        pattern=re.compile(
            rb"(?=[0-9A-Fa-f:]{0,34}::|(?:[0-9A-Fa-f]{1,4}:){7})[23][0-9A-Fa-f]{3}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}(?![\w:])"
        ),
        accepts=_is_public_ipv6,
        alone=True,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="E.164",
        kind="phone",
        triggers=(exact("+") + one_of("123456789"),),
        pattern=re.compile(rb"\+\d{1,4}(?:(?: |-|/| \(|\(|\) ?)?\d{1,5}|\.\d{2,5}){2,7}+(?![\w]|[.:,]\d)"),
        accepts=_is_international,
        alone=True,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="North American, with brackets",
        kind="phone",
        triggers=(exact("(") + one_of("23456789") + DIGIT * 2 + exact(")"),),
        pattern=re.compile(rb"\(\d{3}\) ?\d{3}[-. ]\d{4}(?![\w-])"),
        accepts=_is_north_american,
        alone=True,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="North American",
        kind="phone",
        triggers=tuple(_FREE + DIGIT * 3 + gap + DIGIT * 3 + gap + _FOUR for gap in (exact("-"), _DOT)),
        pattern=re.compile(rb"\d{3}([-.])\d{3}\1\d{4}(?![\w-]|\.\d)"),
        accepts=_is_north_american,
        begin=_after_what_stands_before,
        alone=True,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="card number",
        kind="card",
        triggers=(
            _FREE + one_of("23456") + DIGIT * 12,
            _FREE + _FOUR + _GAP + _FOUR + _GAP + _FOUR,
            _FREE + _FOUR + _GAP + DIGIT * 6 + _GAP + DIGIT * 4,
        ),
        pattern=re.compile(
            rb"(?:\d{13,19}|\d{4}(?P<of_four>[ -])\d{4}(?P=of_four)\d{4}(?P=of_four)\d{4}"
            rb"|\d{4}(?P<of_six>[ -])\d{6}(?P=of_six)\d{4,5})(?![\w-]|\.\d|[ ][0-9A-Fa-f]{4}\b)"
        ),
        accepts=_is_card,
        begin=_after_what_stands_before,
        alone=True,
        rank=Rank.NAMED,
    ),
    Rule(
        name="IBAN",
        kind="iban",
        triggers=(UPPER * 2 + DIGIT * 2 + one_of(" ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),),
        pattern=re.compile(_ibans()),
        accepts=_is_account,
        alone=True,
        rank=Rank.NAMED,
    ),
)
