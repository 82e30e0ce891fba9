"""The judges of numbers that have a plan or check digits: of telephones, cards and bank accounts."""

from __future__ import annotations

import numpy as np

from curation.secrets.lookup_tables import ALNUM, CARDS, CODES, DIFF, DIGIT, GAP, LENGTHS, SEPARATOR, UPPER, WORD
from curation.secrets.numbers import SPECIMEN_IBANS, TEST_CARDS
from curation.secrets.personal_rules import LINE_LOOK_AROUND
from curation.secrets.places import (
    REFUSED,
    UNSURE,
    Facts,
    Place,
    Sorts,
    Span,
    Text,
    byte_at,
    has_digits,
    inner,
    is_hex,
    is_joined,
    number_of,
    past,
    sort_at,
    stands_alone_in,
)

_OF_FILMS = 555
_TEST_CARDS = tuple(sorted(map(int, TEST_CARDS)))
_SPECIMENS = tuple(sorted(specimen[:4].encode() for specimen in SPECIMEN_IBANS))
_LF, _SPACE, _OPEN, _CLOSE, _PLUS, _MINUS, _DOT, _ZERO, _ONE, _COLON, _BIG_A = b"\n ()+-.01:A"


@inner
def international(text: Text, plus: Place, sorts: Sorts, facts: Facts) -> Span:
    if is_joined(text, plus, sorts) or not stands_alone_in(text, plus, sorts):
        return REFUSED
    place = past(text, plus + 1, 15, DIGIT, sorts)
    num_digits, num_dots = place - plus - 1, 0
    number = number_of(text, plus + 1, place, 0, sorts)
    for _ in range(7):
        start = _past_gap(text, place, sorts)
        if start == place:
            break
        num_dots += text[place] == _DOT
        place = past(text, start, 14, DIGIT, sorts)
        num_digits += place - start
        if num_digits > 15:
            return REFUSED
        number = number_of(text, start, place, number, sorts)
    goes_on = byte_at(text, place) in (_DOT, _COLON) and sort_at(text, place + 1, sorts) & DIGIT
    if num_digits < 9 or num_dots == 1 or goes_on or sort_at(text, place, sorts) & WORD:
        return REFUSED
    code = number // 10 ** (num_digits - 3)
    if not facts[CODES + code] or (code // 100 == 1 and not (num_digits == 11 and _is_nanp(number - 10**10))):
        return REFUSED
    return REFUSED if _is_added_line(text, plus, place, sorts) else (plus, place)


@inner
def _past_gap(text: Text, place: Place, sorts: Sorts) -> Place:
    """Where the next digits of a phone number begin; ``place`` where none do."""
    start = place
    byte = byte_at(text, place)
    if byte == _OPEN or (byte == _SPACE and byte_at(text, place + 1) == _OPEN):
        start = place + 1 + (byte == _SPACE)
    elif byte == _CLOSE:
        start = place + 1 + bool(sort_at(text, place + 1, sorts) & GAP)
    elif sort_at(text, place, sorts) & SEPARATOR:
        start = place + 1
    return start if sort_at(text, start, sorts) & DIGIT else place


@inner
def _is_nanp(number: int) -> bool:
    """`curation.secrets.numbers.is_north_american_phone`, of a number of ten digits at most."""
    area, exchange = number // 10**7, number // 10**4 % 1000
    return area >= 200 and area % 100 != 11 and area != _OF_FILMS and exchange >= 200 and exchange % 100 != 11


@inner
def _is_added_line(text: Text, plus: Place, end: Place, sorts: Sorts) -> bool:
    """Whether the ``+`` is that of a diff: it begins its line, and so does a mark of the kind in the next to it."""
    if plus > 0 and text[plus - 1] != _LF:
        return False
    lowest = max(0, plus - LINE_LOOK_AROUND)
    place = plus - 1
    while place > lowest and text[place - 1] != _LF:
        place -= 1
    if 0 <= place < plus - 1 and sorts[text[place]] & DIFF:
        return True
    highest = min(text.size, end + LINE_LOOK_AROUND)
    place = end
    while place < highest and text[place] != _LF:
        place += 1
    return place + 1 < highest and bool(sorts[text[place + 1]] & DIFF)


@inner
def north_american(text: Text, place: Place, sorts: Sorts) -> Span:
    """Three digits, three, and four, ``place`` being that of the third."""
    first = place - 2
    if first < 0 or not has_digits(text, first, 3, sorts):
        return REFUSED
    start = first
    if first >= 2 and text[first - 2] == _ONE and text[first - 1] in (_MINUS, _DOT):
        start = first - 2
    return _as_nanp(text, start, first, first + 4, first + 8, sorts)


@inner
def bracketed(text: Text, place: Place, sorts: Sorts) -> Span:
    """Three digits in brackets, three, and four."""
    exchange = place + 5 + (byte_at(text, place + 5) == _SPACE)
    if byte_at(text, exchange + 3) not in (_MINUS, _DOT, _SPACE):
        return REFUSED
    return _as_nanp(text, place, place + 1, exchange, exchange + 4, sorts)


@inner
def _as_nanp(text: Text, start: Place, area: Place, exchange: Place, line: Place, sorts: Sorts) -> Span:
    """The span from ``start`` if the digits at the three places are a number, and it is no part of another."""
    if not (has_digits(text, exchange, 3, sorts) and has_digits(text, line, 4, sorts)):
        return REFUSED
    end = line + 4
    after = sort_at(text, end, sorts)
    if (
        after & WORD
        or byte_at(text, end) == _MINUS
        or (byte_at(text, end) == _DOT and sort_at(text, end + 1, sorts) & DIGIT)
    ):
        return REFUSED
    if is_joined(text, start, sorts) or not stands_alone_in(text, start, sorts):
        return REFUSED
    if byte_at(text, start - 1) == _SPACE and byte_at(text, start - 2) == _ONE and byte_at(text, start - 3) == _PLUS:
        return REFUSED
    return (start, end) if _is_nanp(number_of(text, area, end, 0, sorts)) else REFUSED


@inner
def card(text: Text, place: Place, sorts: Sorts, facts: Facts) -> Span:
    """Digits without a gap."""
    end = past(text, place, 20, DIGIT, sorts)
    return (place, end) if _is_card(text, place, end, sorts, facts) else REFUSED


@inner
def card_in_groups(text: Text, place: Place, sorts: Sorts, facts: Facts) -> Span:
    """Groups of 4, 4, 4 and 4 digits, or of 4, 6, and 4 or 5."""
    if place < 0 or not has_digits(text, place, 4, sorts):
        return REFUSED
    gap = text[place + 4]
    second = past(text, place + 5, 6, DIGIT, sorts) - place - 5
    end = place + 5 + second
    for _ in range(2 if second == 4 else 1):
        start = end + 1
        if byte_at(text, end) != gap:
            return REFUSED
        end = past(text, start, 5 if second == 6 else 4, DIGIT, sorts)
        if end - start < 4:
            return REFUSED
    return (place, end) if second in (4, 6) and _is_card(text, place, end, sorts, facts) else REFUSED


@inner
def _is_card(text: Text, place: Place, end: Place, sorts: Sorts, facts: Facts) -> bool:
    """Whether so many digits that begin so are a card's, the last is their check digit, and they stand alone."""
    total, length = 0, 0
    for at in range(end - 1, place - 1, -1):
        if sorts[text[at]] & DIGIT:
            digit = int(byte_at(text, at)) - _ZERO
            doubled = digit << (length & 1)
            total += doubled - 9 * (doubled > 9)
            length += 1
    prefix = number_of(text, place, place + 4, 0, sorts)
    if total % 10 or not facts[CARDS + prefix] >> length & 1:
        return False
    if is_joined(text, place, sorts) or not stands_alone_in(text, place, sorts):
        return False
    after = sort_at(text, end, sorts)
    if (
        after & WORD
        or byte_at(text, end) == _MINUS
        or (byte_at(text, end) == _DOT and sort_at(text, end + 1, sorts) & DIGIT)
    ):
        return False
    return not _is_in_table(text, place, end, sorts) and number_of(text, place, end, 0, sorts) not in _TEST_CARDS


@inner
def _is_in_table(text: Text, place: Place, end: Place, sorts: Sorts) -> bool:
    """Whether four hexadecimal digits, and a gap, stand before or after it."""
    if place >= 5 and sorts[text[place - 1]] & GAP and is_hex(text, place - 5, place - 1, sorts):
        return True
    has_more = byte_at(text, end) == _SPACE and end + 5 <= text.size and is_hex(text, end + 1, end + 5, sorts)
    return bool(has_more) and not sort_at(text, end + 5, sorts) & WORD


@inner
def iban(text: Text, place: Place, sorts: Sorts, facts: Facts) -> Span:
    if place < 0 or not sort_at(text, place, sorts) & UPPER:
        return REFUSED
    length = facts[LENGTHS + (byte_at(text, place) - _BIG_A) * 26 + byte_at(text, place + 1) - _BIG_A]
    if not length or not stands_alone_in(text, place, sorts):
        return REFUSED
    end, remainder = place + 4, 0
    for _ in range(length - 4):
        end += bool(sort_at(text, end, sorts) & GAP)
        sort = sort_at(text, end, sorts)
        if not sort & (DIGIT | UPPER):
            return REFUSED
        remainder = _remainder(remainder, text[end], sort)
        end += 1
    for moved in range(place, place + 4):
        remainder = _remainder(remainder, text[moved], sort_at(text, moved, sorts))
    if remainder != 1 or sort_at(text, end, sorts) & ALNUM:
        return REFUSED
    return UNSURE if _may_be_specimen(text, place) else (place, end)


@inner
def _may_be_specimen(text: Text, place: Place) -> bool:
    """Whether the country and the check digits are those of a specimen."""
    for specimen in _SPECIMENS:
        if (
            text[place] == specimen[0]
            and text[place + 1] == specimen[1]
            and text[place + 2] == specimen[2]
            and text[place + 3] == specimen[3]
        ):
            return True
    return False


@inner
def _remainder(remainder: int, byte: int, sort: int | np.int64) -> int:
    """Of an account's number modulo 97, with one more character."""
    if sort & DIGIT:
        return (remainder * 10 + byte - _ZERO) % 97
    return (remainder * 100 + byte - _BIG_A + 10) % 97
