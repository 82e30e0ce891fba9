"""Check digits and numbering plans: cards, bank accounts, telephones."""

from __future__ import annotations

import re

IBAN_LENGTHS: dict[int, str] = {
    15: "NO",
    16: "BE",
    18: "DK FI FO GL NL",
    19: "MK SI",
    20: "AT BA EE KZ LT LU XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
"""How long the accounts of each country are (ISO 13616 registry)."""

_MAESTRO = r"5018|5020|5038|5893|6304|6759|676[1-3]"
_CARD_PREFIXES = (
    (15, r"3[47]"),
    (14, r"30[0-5]|3[689]"),
    *((length, _MAESTRO) for length in (16, 18, 19)),
    (16, r"4|5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720|6011|65|64[4-9]|352[89]|35[3-8]|62"),
    (19, r"62"),
)
"""Digits, and how they begin: American Express, Diners Club, Maestro, Visa, Mastercard, Discover, JCB, UnionPay."""
CARD_LENGTHS = tuple(sorted({length for length, _ in _CARD_PREFIXES}))
_CARDS = re.compile("|".join(rf"(?=.{{{length}}}\Z)(?:{prefix})" for length, prefix in _CARD_PREFIXES))

_DEBIT_CARDS = re.compile(r"(?=\d{12,19}\Z)(?:50|5[6-9]|6)")

COUNTRY_CODE = re.compile(
    r"1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|2[1-689]\d|3[578]\d|42[013]|50\d|59\d|6[789]\d|80[08]|85[02356]|87[0-9]|88[0-368]|96\d|97\d|99[2-68]"
)
"""Of the international numbering plan (ITU-T E.164)."""
_NORTH_AMERICAN = re.compile(r"(?!.11|555)[2-9]\d{2}(?!.11)[2-9]\d{6}\Z")
"""Area code and exchange begin with 2 to 9 and are no service codes such as 911; the area 555 is one of films."""
TEST_CARDS = frozenset(
    {
        *("4111111111111111", "4242424242424242", "4012888888881881", "5555555555554444", "5105105105105100"),
        *("378282246310005", "371449635398431", "6011111111111117", "6011000990139424", "30569309025904"),
        *("38520000023237", "3530111333300000", "3566002020360505"),
    }
)
"""Numbers that the issuers and their agents publish for tests."""
SPECIMEN_IBANS = frozenset({"DE89370400440532013000", "GB82WEST12345698765432"})
"""Of the handbooks."""


def is_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1, annex B)."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def has_card_prefix(digits: str) -> bool:
    """Whether it begins, and is as long, as the cards of an issuer do."""
    return _CARDS.match(digits) is not None


def is_debit_card(digits: str) -> bool:
    """Whether it could be a card of Maestro's wide ranges, of which any tenth number has the right check digit: it is
    one only beside a word that says so."""
    return _DEBIT_CARDS.match(digits) is not None and digits not in TEST_CARDS and is_luhn(digits)


def is_iban(account: str) -> bool:
    """Whether the check digits are right: the account, its first four moved to the end and letters taken as 10 to 35,
    leaves 1 when divided by 97 (ISO 7064). Not of a specimen."""
    return (
        account not in SPECIMEN_IBANS
        and int("".join(str(int(char, 36)) for char in account[4:] + account[:4])) % 97 == 1
    )


def is_international_phone(digits: str) -> bool:
    """Whether the digits after a ``+`` are a country's code and as many more as a number has."""
    code = COUNTRY_CODE.match(digits)
    if code is None or not 9 <= len(digits) <= 15:
        return False
    return is_north_american_phone(digits[1:]) if code[0] == "1" else True


def is_north_american_phone(digits: str) -> bool:
    return _NORTH_AMERICAN.match(digits) is not None
