"""Personal data: addresses of people and machines, phone and card numbers, bank accounts."""

from __future__ import annotations

import re

from curation.secrets.addresses import is_public_domain, is_public_ipv4, is_public_ipv6, stands_as_address
from curation.secrets.boundaries import back_over, shifted
from curation.secrets.national_phones import NATIONAL_PHONE
from curation.secrets.numbers import (
    IBAN_LENGTHS,
    TEST_CARDS,
    has_card_prefix,
    is_debit_card,
    is_iban,
    is_international_phone,
    is_luhn,
    is_north_american_phone,
)
from curation.secrets.rule import Judge, Rank, Rule
from curation.secrets.triggers import ALNUM, ANY_HEX, DIGIT, NOT_DIGIT, UPPER, Trigger, any_case, exact, one_of

LOOK_BACK = 40
LONGEST_LOCAL = 64
LINE_LOOK_AROUND = 160
"""How many bytes before, and after, are looked at: before a number, before an ``@``, and for the lines of a diff."""

_LOCAL_BACKWARDS = re.compile(r"[\w.%+'-]*[^\W_]")
_ESCAPED = re.compile(rb"\\[nrt]")
_LABEL = rb"[A-Za-z0-9\x80-\xff](?:[A-Za-z0-9\x80-\xff-]{0,61}[A-Za-z0-9\x80-\xff])?"
_DOMAIN = re.compile(rb"(?:" + _LABEL + rb"\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_-])")
_DIFF = frozenset(b"+-@")


def _begin_of_local_part(data: bytes, position: int) -> int | None:
    if _DOMAIN.match(data, position + 1) is None:
        return None
    backwards = data[max(0, position - LONGEST_LOCAL) : position].decode(errors="replace")[::-1]
    local = _LOCAL_BACKWARDS.match(backwards)
    if local is None:
        return None
    begin = position - len(local[0].encode())
    return begin + 1 if _ESCAPED.match(data, begin - 1) else begin


def _begin_of_encoded(data: bytes, position: int) -> int:
    """Where the local part begins that ends at a ``%40``; no escape is a part of it."""
    before = data[max(0, position - LONGEST_LOCAL) : position]
    local = re.search(rb"[A-Za-z0-9][\w.+'-]*\Z", before)
    return position - len(local[0]) if local else position


def _is_persons_address(match: re.Match[bytes]) -> bool:
    """Whether it is a mail address: a public domain, and no prompt, path, package or repository."""
    data, local = match.string, match["local"]
    if local == b"git" or data[max(0, match.start() - 2) : match.start()] == b"//":
        return False
    after = data[match.end() : match.end() + 2]
    return re.match(rb"[(@/]|:[~/\w.-]", after) is None and is_public_domain(match["domain"])


def _is_public_ipv4(match: re.Match[bytes]) -> bool:
    numbers = [int(number) for number in match[0].split(b".")]
    return is_public_ipv4(numbers) and stands_as_address(match[0], numbers, _before(match).rpartition(b"\n")[2])


def _is_public_in_name(match: re.Match[bytes]) -> bool:
    return is_public_ipv4([int(number) for number in match["secret"].split(b"-")])


def _is_public_ipv6(match: re.Match[bytes]) -> bool:
    return _is_free(match) and _before(match)[-1:] != b":" and is_public_ipv6(match[0].decode())


def _is_international(match: re.Match[bytes]) -> bool:
    digits = re.sub(rb"\D", b"", match[0]).decode()
    is_decimal = match[0].count(b".") == 1
    return not is_decimal and _is_free(match) and is_international_phone(digits) and not _is_added_line(match)


def _is_north_american(match: re.Match[bytes]) -> bool:
    """Whether it is a number without the ``+1``: those that have it are for the other rule."""
    if not _is_free(match) or _before(match).endswith(b"+1 "):
        return False
    return is_north_american_phone(re.sub(rb"\D", b"", match["number"]).decode())


def _begin_of_north_american(data: bytes, position: int) -> int:
    """Two digits before the last of the area code, or where a ``1-`` stands before it."""
    begin = max(0, position - 2)
    return begin - 2 if data[max(0, begin - 2) : begin] in (b"1-", b"1.") else begin


def _is_added_line(match: re.Match[bytes]) -> bool:
    """Whether the ``+`` is that of a diff: it begins its line, and so does a mark of the kind in the next to it."""
    before, _, same_line = match.string[max(0, match.start() - LINE_LOOK_AROUND) : match.start()].rpartition(b"\n")
    after = match.string[match.end() : match.end() + LINE_LOOK_AROUND].partition(b"\n")[2]
    lines = (before.rpartition(b"\n")[2], after)
    return not same_line and any(line[:1] and line[0] in _DIFF for line in lines)


def _is_card(match: re.Match[bytes]) -> bool:
    digits = re.sub(rb"[ -]", b"", match[0]).decode()
    in_a_table = re.search(rb"[0-9A-Fa-f]{4}[ -]\Z", _before(match)) is not None
    is_card = digits not in TEST_CARDS and has_card_prefix(digits) and is_luhn(digits)
    return not in_a_table and _is_free(match) and is_card


def _is_named_card(match: re.Match[bytes]) -> bool:
    return is_debit_card(re.sub(rb"[ -]", b"", match["secret"]).decode())


def _is_account(match: re.Match[bytes]) -> bool:
    return is_iban(re.sub(rb"[ -]", b"", match[0]).decode())


def _is_free(match: re.Match[bytes]) -> bool:
    """Whether it is no part of a longer number or name."""
    return _before(match)[-1:] not in {b".", b"-", b"_", b"+", b")", b"]"}


def _before(match: re.Match[bytes]) -> bytes:
    return match.string[max(0, match.start() - LOOK_BACK) : match.start()]


def _quads() -> tuple[Trigger, ...]:
    """A number of one to three digits between dots, after a digit and before one."""
    return tuple(DIGIT + _DOT + DIGIT * length + _DOT + DIGIT for length in (1, 2, 3))


def _ibans() -> bytes:
    return b"|".join(
        f"(?:{countries.replace(' ', '|')})[0-9]{{2}}(?:[ -]?[A-Z0-9]){{{length - 4}}}(?![A-Za-z0-9])".encode()
        for length, countries in IBAN_LENGTHS.items()
    )


_DOT, _GAP = exact("."), one_of(" -")
_AFTER_CARD = rb"(?![\w-]|\.\d|[ ][0-9A-Fa-f]{4}\b)"

_ADDRESSES = (
    Rule(
        name="local@domain",
        kind="email",
        triggers=(exact("@") + ALNUM,),
        pattern=re.compile(rb"(?P<local>[^\s@]{1,256})@(?P<domain>" + _DOMAIN.pattern + rb")"),
        accepts=_is_persons_address,
        begin=_begin_of_local_part,
        judge=Judge.EMAIL,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="local%40domain",
        kind="email",
        triggers=(exact("%40") + ALNUM,),
        pattern=re.compile(rb"(?P<local>[\w.+'-]{1,64})%40(?P<domain>" + _DOMAIN.pattern + rb")"),
        accepts=_is_persons_address,
        begin=_begin_of_encoded,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="IPv4",
        kind="ip",
        triggers=_quads(),
        pattern=re.compile(rb"(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})(?!\w|\.\w|-\w)"),
        accepts=_is_public_ipv4,
        begin=back_over(b"0123456789", 4),
        judge=Judge.IPV4,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="IPv4 in a host's name",
        kind="ip",
        triggers=(exact("ec2-") + DIGIT,),
        pattern=re.compile(rb"ec2-(?P<secret>(?:\d{1,3}-){3}\d{1,3})(?=\.[\w.-]{0,40}compute)"),
        accepts=_is_public_in_name,
        alone=True,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="IPv6",
        kind="ip",
        triggers=(ANY_HEX + exact(":") + one_of("0123456789abcdefABCDEF:"),),
        pattern=re.compile(
            rb"(?=[0-9A-Fa-f:]{0,34}::|(?:[0-9A-Fa-f]{1,4}:){7})[23][0-9A-Fa-f]{3}:(?:[0-9A-Fa-f]{0,4}:){1,6}"
            rb"[0-9A-Fa-f]{0,4}(?![\w:])"
        ),
        accepts=_is_public_ipv6,
        begin=shifted(3),
        alone=True,
        judge=Judge.IPV6,
        rank=Rank.PERSONAL,
    ),
)
_PHONES = (
    Rule(
        name="E.164",
        kind="phone",
        triggers=(exact("+") + one_of("123456789"),),
        pattern=re.compile(rb"\+\d{1,15}+(?:(?: ?\(|\)[ -]?|[ ./-])\d{1,14}+){0,7}+(?!\w|[.:]\d)"),
        accepts=_is_international,
        alone=True,
        judge=Judge.INTERNATIONAL,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="North American, with brackets",
        kind="phone",
        triggers=(exact("(") + one_of("23456789") + DIGIT * 2 + exact(")"),),
        pattern=re.compile(rb"(?P<number>\(\d{3}\) ?\d{3}[-. ]\d{4})(?![\w-]|\.\d)"),
        accepts=_is_north_american,
        alone=True,
        judge=Judge.BRACKETED,
        rank=Rank.PERSONAL,
    ),
    Rule(
        name="North American",
        kind="phone",
        triggers=tuple(DIGIT + joint + DIGIT * 3 + joint + DIGIT for joint in (exact("-"), _DOT)),
        pattern=re.compile(rb"(?:1[-.])?(?P<number>\d{3}([-.])\d{3}\2\d{4})(?![\w-]|\.\d)"),
        accepts=_is_north_american,
        begin=_begin_of_north_american,
        alone=True,
        judge=Judge.NORTH_AMERICAN,
        rank=Rank.PERSONAL,
    ),
)
_ACCOUNTS = (
    Rule(
        name="card number",
        kind="card",
        triggers=(NOT_DIGIT + one_of("23456") + DIGIT * 4,),
        pattern=re.compile(rb"\d{13,19}" + _AFTER_CARD),
        accepts=_is_card,
        begin=shifted(-1),
        alone=True,
        judge=Judge.CARD,
        rank=Rank.NAMED,
    ),
    Rule(
        name="card number, in groups",
        kind="card",
        triggers=tuple(DIGIT + _GAP + DIGIT * second + _GAP + DIGIT for second in (4, 6)),
        pattern=re.compile(
            rb"(?:\d{4}(?P<of_four>[ -])\d{4}(?P=of_four)\d{4}(?P=of_four)\d{4}"
            rb"|\d{4}(?P<of_six>[ -])\d{6}(?P=of_six)\d{4,5})" + _AFTER_CARD
        ),
        accepts=_is_card,
        begin=shifted(3),
        alone=True,
        judge=Judge.CARD_IN_GROUPS,
        rank=Rank.NAMED,
    ),
    Rule(
        name="card number, after a word for it",
        kind="card",
        triggers=tuple(any_case(word) for word in ("maestro", "card number", "card no", "card_number", "cardnumber")),
        pattern=re.compile(
            rb"(?i:maestro|card[ _]?n(?:umber|o))[^\d\n]{1,24}"
            rb"(?P<secret>\d{4}(?:[ -]?\d{4}){2,3}(?:[ -]?\d{1,3})?|\d{12,19})" + _AFTER_CARD
        ),
        accepts=_is_named_card,
        rank=Rank.NAMED,
    ),
    Rule(
        name="IBAN",
        kind="iban",
        triggers=(UPPER + DIGIT * 2,),
        pattern=re.compile(_ibans()),
        accepts=_is_account,
        begin=shifted(1),
        alone=True,
        judge=Judge.IBAN,
        rank=Rank.NAMED,
    ),
)

PERSONAL_RULES = (*_ADDRESSES, *_PHONES, NATIONAL_PHONE, *_ACCOUNTS)
