"""The compiled judges: they settle most candidates of the rules that numbers, addresses and names set off everywhere.

A judge gives the bytes that the rule takes, ``REFUSED``, or ``UNSURE`` where only the rule can tell. What a judge says
is what the rule says, which the tests hold them to; a judge may be as simple as it likes, and unsure.

Functions here are compiled by Numba. ``text`` is bytes and ``place`` the place of a trigger in them; each function
reads a bounded stretch around it.
"""

from __future__ import annotations

import numpy as np

from curation.secrets.address_judges import email, ipv4, ipv6
from curation.secrets.lookup_tables import (
    ALNUM,
    BARE_END,
    BEFORE_OPERATOR,
    BLANK,
    DIFF,
    DIGIT,
    LETTER,
    LOWER,
    NAME,
    OPERATOR,
    PLAIN,
    QUOTE,
    QUOTE_OR_BACKSLASH,
    SIGN,
    SPACE,
    TYPE,
    UPPER,
    USER_INFO_END,
    Lore,
)
from curation.secrets.number_judges import bracketed, card, card_in_groups, iban, international, north_american
from curation.secrets.places import REFUSED, UNSURE, Place, Sorts, Span, Text, byte_at, inner, past, sort_at
from curation.secrets.rule import Judge

_ASSIGNMENT, _THEN_VALUE, _USER_INFO = (int(judge) for judge in (Judge.ASSIGNMENT, Judge.THEN_VALUE, Judge.USER_INFO))
_ASSIGNMENT_OF_WORDS = int(Judge.ASSIGNMENT_OF_WORDS)
_EMAIL, _IPV4, _IPV6 = (int(judge) for judge in (Judge.EMAIL, Judge.IPV4, Judge.IPV6))
_INTERNATIONAL, _NORTH_AMERICAN, _BRACKETED = (
    int(judge) for judge in (Judge.INTERNATIONAL, Judge.NORTH_AMERICAN, Judge.BRACKETED)
)
_CARD, _CARD_IN_GROUPS, _IBAN = (int(judge) for judge in (Judge.CARD, Judge.CARD_IN_GROUPS, Judge.IBAN))

_AMPERSAND, _SLASH, _COLON, _EQUALS, _GREATER, _D, _S, _T, _V, _BRACE = b"&/:=>dstv}"
_LF, _CR, _BACKSLASH, _COMMA, _SEMICOLON, _CLOSE, _ESCAPE, _STAR, _UNDERSCORE = b"\n\r\\,;)\x1b*_"
_WIDE_COLON = "：".encode()[0]
_TO_LOWER_CASE = 0x20
_VALUE, _DEFAULT, _TEXT = tuple(b"value"), tuple(b"default"), tuple(b"text")
_LONGEST_NAME, _LONGEST_GAP, _LONGEST_TYPE, _LONGEST_BETWEEN, _LONGEST_USER_INFO = 96, 8, 32, 108, 400
_SHORTEST_USER_INFO, _SHORTEST_VALUE, _SHORTEST_WORDS, _LONG_VALUE, _MOST_BACKSLASHES = 20, 6, 8, 64, 3


@inner
def judge(kind: int, text: Text, place: Place, end: Place, lore: Lore) -> Span:
    """What the judge of a kind says of a trigger at ``text[place:end]``."""
    if kind == _ASSIGNMENT:
        return _assignment(text, place, end, lore.sorts, False)
    if kind == _ASSIGNMENT_OF_WORDS:
        return _assignment(text, place, end, lore.sorts, True)
    if kind == _THEN_VALUE:
        return _then_value(text, place, end, lore.sorts)
    if kind == _USER_INFO:
        return _user_info(text, place, lore.sorts)
    if kind in (_EMAIL, _IPV4, _IPV6):
        return _judge_address(kind, text, place, lore)
    return _judge_number(kind, text, place, lore)


@inner
def _judge_address(kind: int, text: Text, place: Place, lore: Lore) -> Span:
    if kind == _EMAIL:
        return email(text, place, lore.sorts, lore.domains)
    if kind == _IPV4:
        return ipv4(text, place, lore.sorts, lore.words, lore.facts)
    return ipv6(text, place - 3, lore.sorts)


@inner
def _judge_number(kind: int, text: Text, place: Place, lore: Lore) -> Span:
    if kind == _INTERNATIONAL:
        return international(text, place, lore.sorts, lore.facts)
    if kind == _NORTH_AMERICAN:
        return north_american(text, place, lore.sorts)
    if kind == _BRACKETED:
        return bracketed(text, place, lore.sorts)
    if kind == _CARD:
        return card(text, place + 1, lore.sorts, lore.facts)
    if kind == _CARD_IN_GROUPS:
        return card_in_groups(text, place - 3, lore.sorts, lore.facts)
    return iban(text, place - 1, lore.sorts, lore.facts)


@inner
def _assignment(text: Text, place: Place, end: Place, sorts: Sorts, of_words: bool) -> Span:
    """Refuses where nothing is assigned to the name, or nothing that could be a secret, which words may be too."""
    if _goes_on(text, end, sorts):
        return REFUSED
    if not _is_assigned(text, past(text, place, _LONGEST_NAME, NAME, sorts), sorts, of_words):
        return REFUSED
    return UNSURE


@inner
def _then_value(text: Text, place: Place, end: Place, sorts: Sorts) -> Span:
    """Refuses where the name has a value at once, or none after it that is called so and could be a secret."""
    if _goes_on(text, end, sorts):
        return REFUSED
    place = past(text, place, _LONGEST_NAME, NAME, sorts)
    if byte_at(text, past(text, place, 2 * _LONGEST_GAP, BEFORE_OPERATOR, sorts)) in (_COLON, _EQUALS):
        return REFUSED
    highest = min(text.size, place + _LONGEST_BETWEEN)
    while place < highest and text[place] != _BRACE:
        place += 1
        end = _past_value_word(text, place)
        if end > place and _is_assigned(text, end, sorts, False):
            return UNSURE
    return REFUSED


@inner
def _past_value_word(text: Text, place: Place) -> Place:
    """Where ``value``, ``default`` or ``text`` ends that begins here; ``place`` where none does."""
    first = byte_at(text, place) | _TO_LOWER_CASE
    if first == _V:
        return _past_word(text, place, _VALUE)
    if first == _D:
        return _past_word(text, place, _DEFAULT)
    return _past_word(text, place, _TEXT) if first == _T else place


@inner
def _past_word(text: Text, place: Place, word: tuple[int, ...]) -> Place:
    """Where a word ends that begins here, its letters large or small; ``place`` where it does not."""
    length = 0
    while length < len(word) and byte_at(text, place + length) | _TO_LOWER_CASE == word[length]:
        length += 1
    return place + length if length == len(word) else place


@inner
def _is_assigned(text: Text, place: Place, sorts: Sorts, of_words: bool) -> bool:
    """Whether a name that ends here may be given a value of six bytes or more with a letter and a digit or sign."""
    place = past(text, place, 2 * _LONGEST_GAP, BEFORE_OPERATOR, sorts)
    operator = byte_at(text, place)
    if operator in (_V, _WIDE_COLON) or _is_mark_up(text, place):
        return True  # value=, or the wide colon
    if not sort_at(text, place, sorts) & OPERATOR:
        return False
    following = byte_at(text, place + 1)
    has_two = (operator != _GREATER and following == _EQUALS) or (operator == _EQUALS and following == _GREATER)
    place = past(text, place + 1 + has_two, _LONGEST_GAP, BLANK, sorts)
    if _is_mark_up(text, place):
        return True
    if operator == _COLON and byte_at(text, place) == _AMPERSAND:
        return True  # a reference to a string, in Rust
    if operator == _COLON and sort_at(text, place, sorts) & LETTER:
        typed = past(text, past(text, place, _LONGEST_TYPE, TYPE, sorts), 1, BLANK, sorts)
        if byte_at(text, typed) == _EQUALS:
            return True
    prefixed = past(text, place, 2, LETTER, sorts)
    if sort_at(text, prefixed, sorts) & QUOTE:
        place = prefixed
    opened = place
    while opened < place + _MOST_BACKSLASHES and byte_at(text, opened) == _BACKSLASH:
        opened += 1
    if sort_at(text, opened, sorts) & QUOTE:
        return _may_be_quoted(text, opened, opened > place, sorts, of_words)
    return _may_be_bare(text, place, sorts, of_words) or _may_be_rest_of_line(text, place, sorts, of_words)


@inner
def _is_mark_up(text: Text, place: Place) -> bool:
    """Whether a colour begins here, or bold letters begin or end."""
    byte = byte_at(text, place)
    return byte == _ESCAPE or (byte in (_STAR, _UNDERSCORE) and byte_at(text, place + 1) == byte)


@inner
def _goes_on(text: Text, end: Place, sorts: Sorts) -> bool:
    """Whether the name ends with letters after the trigger: ``tokenizer`` is no token, but ``secretKey`` a secret."""
    last, following = sort_at(text, end - 1, sorts), sort_at(text, end, sorts)
    if not (last & LETTER and following & LETTER) or last & UPPER != following & UPPER:
        return False
    if byte_at(text, end) | _TO_LOWER_CASE == _S and not sort_at(text, end + 1, sorts) & LETTER:
        return False  # API_KEYS
    place = past(text, end, _LONGEST_NAME, UPPER if following & UPPER else LOWER, sorts)
    return not sort_at(text, place, sorts) & NAME


@inner
def _may_be_quoted(text: Text, quote: Place, is_escaped: bool, sorts: Sorts, of_words: bool) -> bool:
    """Whether what is between this quote and the next of its kind may be a secret."""
    place = quote + 1
    seen: int | np.int64 = 0
    while place < text.size and text[place] != text[quote] and text[place] != _LF:
        if place > quote + _LONG_VALUE:
            return True
        seen |= _shown_by(text[place], sorts)
        place += 1 + (text[place] == _BACKSLASH and not is_escaped)
    return place - quote > _SHORTEST_VALUE and _may_be_secret(seen, place - quote, of_words)


@inner
def _may_be_bare(text: Text, place: Place, sorts: Sorts, of_words: bool) -> bool:
    start = place
    seen: int | np.int64 = 0
    while place < text.size and not sorts[text[place]] & (SPACE | QUOTE_OR_BACKSLASH | BARE_END):
        if place == start + _LONG_VALUE:
            return True
        seen |= _shown_by(text[place], sorts)
        place += 1
    return place - start >= _SHORTEST_VALUE and _may_be_secret(seen, place - start, of_words)


@inner
def _may_be_rest_of_line(text: Text, place: Place, sorts: Sorts, of_words: bool) -> bool:
    start = place
    seen: int | np.int64 = 0
    while place < text.size and not sorts[text[place]] & (SPACE | QUOTE_OR_BACKSLASH):
        if place == start + _LONG_VALUE:
            return True
        seen |= _shown_by(text[place], sorts)
        place += 1
    if place - start < _SHORTEST_VALUE or text[place - 1] in (_COMMA, _SEMICOLON, _CLOSE):
        return False
    end = past(text, place, _LONGEST_GAP, BLANK, sorts)
    is_end = byte_at(text, end) in (_LF, _CR) or bool(sort_at(text, place, sorts) & QUOTE_OR_BACKSLASH)
    return is_end and _may_be_secret(seen, place - start, of_words)


@inner
def _shown_by(byte: int, sorts: Sorts) -> int | np.int64:
    """The sorts of a byte, or that it is a sign."""
    sort = np.int64(sorts[byte])
    return sort if sort & (ALNUM | PLAIN) else np.int64(SIGN)


@inner
def _may_be_secret(seen: int | np.int64, length: int, of_words: bool) -> bool:
    """Whether there are letters and more: a digit, a sign, or what joins words, capitals or hyphens."""
    if not seen & LETTER:
        return False
    if seen & (DIGIT | SIGN):
        return True
    has_both_cases = bool(seen & UPPER) and bool(seen & LOWER)
    return of_words and length >= _SHORTEST_WORDS and (has_both_cases or bool(seen & DIFF))


@inner
def _user_info(text: Text, at: Place, sorts: Sorts) -> Span:
    """Refuses where neither ``://user:password`` nor a long ``://token`` ends before the ``@``."""
    place = at - 1
    lowest = max(0, at - _LONGEST_USER_INFO)
    has_colon = False
    while place >= lowest and not sorts[text[place]] & USER_INFO_END:
        has_colon |= text[place] == _COLON
        place -= 1
    if (
        place < 2
        or not (has_colon or at - place > _SHORTEST_USER_INFO)
        or text[place] != _SLASH
        or text[place - 1] != _SLASH
        or text[place - 2] != _COLON
    ):
        return REFUSED
    return UNSURE
