"""Phone numbers as they are written within a country: only the word before them tells them from other numbers."""

from __future__ import annotations

import re

from curation.secrets.numbers import is_international_phone
from curation.secrets.rule import Rank, Rule
from curation.secrets.triggers import any_case, exact, one_of

_LATIN = (
    *("tel", "telefon", "telefono", "telefone", "telephone", "phone", "phone no", "phone number", "phone_number"),
    *("phonenumber", "ph", "mobil", "mobile", "mobile number", "mobile_number", "mobilenumber", "mobile phone"),
    *("handy", "fax", "telefax", "celular", "cellulare", "gsm", "tlf", "whatsapp", "sms to", "sms an"),
)
_OTHER = (
    *("tél", "Tél", "TÉL", "téléphone", "Téléphone", "teléfono", "Teléfono", "móvil", "Móvil", "тел", "Тел", "ТЕЛ"),
    *("телефон", "Телефон", "電話", "電話番号", "携帯", "携帯電話", "手機", "手机", "手机号", "电话", "전화", "휴대폰"),
)
_MARKS = ":.=,|>\t \"'(：+"
"""What may stand at once after the word."""
_GAP = rb"(?P<gap>[\"'\\]{0,4}\.?[ \t]{0,3}(?:[:=,|>]|=>|\xef\xbc\x9a)?[ \t]{0,3}[\"'\\]{0,4})"
_NUMBER = rb"(?P<secret>\+?\(?\d(?:(?: ?[-/.()] ?| )?\d){7,15}+)(?!\w|[-.,:]\d)"
_DATE = re.compile(rb"\d{4}([-./])\d\d\1\d\d\Z|\d\d([-./])\d\d\2\d{4}\Z")
_ADDRESS = re.compile(rb"\d{1,3}(?:\.\d{1,3}){3}\Z")
_SEQUENCES = "0123456789012345", "9876543210987654"
_FEWEST, _MOST, _MOST_SEPARATORS, _FEWEST_DISTINCT = 8, 13, 6, 4


def _is_phone(match: re.Match[bytes]) -> bool:
    """Whether it has as many digits as a number has, in as few groups, and is no date, address or filler."""
    return is_national_phone(match["secret"], is_marked=bool(match["gap"].strip()))


def is_national_phone(written: bytes, *, is_marked: bool) -> bool:
    """The same of a number by itself; one that no mark or head of a column announces needs separators or a zero."""
    digits = re.sub(rb"\(0\)|\D", b"", written).decode()
    if len(set(digits)) < _FEWEST_DISTINCT or any(digits in sequence for sequence in _SEQUENCES):
        return False
    if written.startswith((b"+", b"00")):
        return is_international_phone(digits.removeprefix("00"))
    separators = re.findall(rb"[^\d()]+", written)
    if _DATE.match(written) or _ADDRESS.match(written) or separators == [b"."] or len(separators) > _MOST_SEPARATORS:
        return False
    return (is_marked or bool(separators) or written[:1] in {b"0", b"("}) and _FEWEST <= len(digits) <= _MOST


def _pattern() -> re.Pattern[bytes]:
    latin, other = ("|".join(sorted(labels, key=len, reverse=True)).encode() for labels in (_LATIN, _OTHER))
    return re.compile(rb"(?:(?i:" + latin + rb")|" + other + rb")" + _GAP + _NUMBER)


NATIONAL_PHONE = Rule(
    name="after a word for phone",
    kind="phone",
    triggers=tuple(label + one_of(_MARKS) for label in (*map(any_case, _LATIN), *map(exact, _OTHER))),
    pattern=_pattern(),
    accepts=_is_phone,
    alone=True,
    rank=Rank.PERSONAL,
)
