"""What the compiled judges know, as arrays, gathered from the modules that the rules use."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.secrets.addresses import (
    ADDRESS_ABBREVIATIONS,
    ADDRESS_WORDS,
    NOT_PUBLIC,
    PUBLIC_DOMAINS,
    VERSION_ABBREVIATIONS,
    VERSION_WORDS,
)
from curation.secrets.numbers import CARD_LENGTHS, COUNTRY_CODE, IBAN_LENGTHS, has_card_prefix
from curation.secrets.triggers import any_case, build_automaton

LONGEST_PACKED = 8
"""Letters of a top-level domain that is kept as a number."""
FIRST_ROW = 1 + 256
"""Where the moves begin in ``Lore.words``."""
VERSION, ADDRESS = 1, 2
"""What a word says about the number after it."""

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"
_ALNUM = _LETTERS + _DIGITS
_SPACE = b" \t\n\r\f\v"
_SORTS = {
    "digit": _DIGITS,
    "letter": _LETTERS,
    "underscore": b"_",
    "high": bytes(range(0x80, 0x100)),
    "hex": _DIGITS + b"ABCDEFabcdef",
    "hex or colon": _DIGITS + b"ABCDEFabcdef:",
    "upper": _LETTERS[:26],
    "lower": _LETTERS[26:],
    "space": _SPACE,
    "blank": b" \t",
    "quote": b"\"'`",
    "quote or backslash": b"\"'`\\",
    "local": _ALNUM + b"_.%+'-",
    "name": _ALNUM + b"_.-",
    "type": _ALNUM + b"_.[]<>?",
    "joined": b"._-+)]",
    "notation": b"nrtbfv0",
    "escaped": b"nrt",
    "gap": b" -",
    "separator": b" ./-",
    "before operator": b"\"'`\\] \t",
    "operator": b"=:>",
    "bare end": b",;&<>|(){}[]",
    "plain": _ALNUM + b"_.:/-",
    "user info end": _SPACE + b"/@\"'`<>\\",
    "after address": b"(@/",
    "path": _ALNUM + b"_~/.-",
    "diff": b"+-@",
    "compared": b"=<>~!^",
}
"""Sorts of bytes, by what the judges ask about them."""

_BITS = {name: 1 << place for place, name in enumerate(_SORTS)}
DIGIT, LETTER, UPPER, LOWER, HIGH, HEX = (_BITS[name] for name in ("digit", "letter", "upper", "lower", "high", "hex"))
SPACE, BLANK, QUOTE, GAP, SEPARATOR = (_BITS[name] for name in ("space", "blank", "quote", "gap", "separator"))
LOCAL, NAME, TYPE, JOINED, NOTATION = (_BITS[name] for name in ("local", "name", "type", "joined", "notation"))
ESCAPED, OPERATOR, PLAIN, PATH, DIFF = (_BITS[name] for name in ("escaped", "operator", "plain", "path", "diff"))
COMPARED, BARE_END, AFTER_ADDRESS = (_BITS[name] for name in ("compared", "bare end", "after address"))
BEFORE_OPERATOR, USER_INFO_END = (_BITS[name] for name in ("before operator", "user info end"))
QUOTE_OR_BACKSLASH, HEX_OR_COLON = (_BITS[name] for name in ("quote or backslash", "hex or colon"))
ALNUM = DIGIT | LETTER
WORD = ALNUM | _BITS["underscore"]
SIGN = 1 << len(_SORTS)
"""A bit that no sort has."""


CODES, LENGTHS, CARDS = 0, 1000, 1000 + 26 * 26
NETWORKS = CARDS + 10_000
"""Where the parts of ``Lore.facts`` begin."""


class Lore(NamedTuple):
    """Everything a judge looks up, in few arrays, for each costs something whenever it is handed on."""

    sorts: NDArray[np.uint32]
    """(256,): of what sorts a byte is, as bits."""
    words: NDArray[np.int32]
    """The automaton of the words before a number. First the start, then the class of each of 256 bytes, then the moves.
    States are their row's place in the array times four, and what the word says that ends in them."""
    domains: NDArray[np.uint64]
    """The top-level domains of up to ``LONGEST_PACKED`` letters, packed, in order."""
    facts: NDArray[np.int64]
    """From ``CODES``, how many of three digits are a country's code in the telephone network, 0 for none; from
    ``LENGTHS``, how long the accounts of a country are by its two letters, 0 where it has none; from ``CARDS``, how
    long the cards are whose number begins with four digits, each length as a bit; from ``NETWORKS``, the IPv4 networks
    that are not public, each before its mask."""


@cache
def lore() -> Lore:
    """The arrays, made once a process."""
    packed = sorted(pack(domain) for domain in PUBLIC_DOMAINS if len(domain) <= LONGEST_PACKED)
    networks = [number for network in NOT_PUBLIC for number in (int(network.network_address), int(network.netmask))]
    facts = np.array([*_country_codes(), *_iban_lengths(), *_card_lengths(), *networks], np.int64)
    return Lore(_sorts(), _words(), np.array(packed, np.uint64), facts)


def _words() -> NDArray[np.int32]:
    says = [
        *((word, VERSION) for word in (*VERSION_WORDS, *VERSION_ABBREVIATIONS)),
        *((word, ADDRESS) for word in (*ADDRESS_WORDS, *ADDRESS_ABBREVIATIONS)),
    ]
    automaton = build_automaton([any_case(word) for word, _ in says])
    said = np.zeros(automaton.moves.size, np.int32)
    for place, ended in enumerate(automaton.ended):
        said[automaton.first_final + place * automaton.num_classes] = np.bitwise_or.reduce([says[w][1] for w in ended])
    moves = (automaton.moves + FIRST_ROW) * 4 + said[automaton.moves]
    start = (automaton.start + FIRST_ROW) * 4
    return np.concatenate([[start], automaton.classes, moves]).astype(np.int32)


def pack(domain: bytes) -> int:
    """Up to eight letters as a number."""
    return int.from_bytes(domain.lower(), "big")


def _sorts() -> NDArray[np.uint32]:
    sorts = np.zeros(256, np.uint32)
    for place, members in enumerate(_SORTS.values()):
        sorts[list(members)] |= np.uint32(1 << place)
    return sorts


def _country_codes() -> list[int]:
    codes = (COUNTRY_CODE.match(f"{number:03d}") for number in range(1000))
    return [len(code[0]) if code else 0 for code in codes]


def _iban_lengths() -> list[int]:
    lengths = [0] * 26 * 26
    for length, countries in IBAN_LENGTHS.items():
        for first, second in map(str.encode, countries.split()):
            lengths[(first - ord("A")) * 26 + second - ord("A")] = length
    return lengths


def _card_lengths() -> list[int]:
    return [
        sum(1 << length for length in CARD_LENGTHS if has_card_prefix(f"{prefix:04d}".ljust(length, "0")))
        for prefix in range(10_000)
    ]
