r"""The words of a text in their order, and its word n-grams, as 64-bit hashes: a compiled pass over UTF-8 text.

A word is what `curation.words` says it is, so that case, punctuation and line breaks make no difference. Two things
are added. The text may be quoted as JSON: a backslash with the n, r, t or backslash after it is a gap between words,
and ``\uXXXX``, or two of them that are surrogates, the letter that it stands for. And each character of a script that
is written without blanks (Chinese, Japanese) is a word, for a whole sentence would be one. Korean has blanks; Thai,
Lao, Khmer and Burmese are left as they are: what ends a word there is anybody's guess. Bytes that are not UTF-8 are
gaps.

The hash of a word of up to eight bytes is its own; longer words, and n-grams, share theirs by chance only: with m
n-grams held against k others, the expected number of false matches is m·k / 2^64.

Functions here are compiled by Numba, which types them; ``uint64`` meets only ``uint64`` (with a signed integer it would
become a float).
"""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.compiled import compiled, inlined
from curation.kernel import Place, decode
from curation.reasons import Booleans
from curation.text_buffers import Text, Texts, buffers_of, in_one_piece
from curation.words import CONTEXTUAL_TEXT

Hashes: TypeAlias = NDArray[np.uint64]
Letters: TypeAlias = NDArray[np.uint32]


_NOTHING = np.uint64(0)
_BYTE = np.uint64(8)
_LOW = np.uint64(0xFF)
_BASE = np.uint64(0xD6E8FEB86659FD95)
"""Odd, and 5 modulo 8: words that change places then keep nearly all bits of the difference of their n-grams."""
_BACKSLASH = ord("\\")
_ESCAPED = tuple(b"nrt\\")
_U, _ZERO, _NINE, _LETTER_A, _LETTER_F = (ord(character) for character in "u09af")
_CONTEXTUAL_CODES = tuple(map(ord, CONTEXTUAL_TEXT))
_LOWER_CASE = 0x20
"""The bit that makes an ASCII letter a small one."""
_HIGH, _LOW_HALF, _UNIT = "[dD][89abAB][0-9a-fA-F]{2}", "[dD][c-fC-F][0-9a-fA-F]{2}", "[0-9a-fA-F]{4}"
_QUOTED = re.compile(rf"\\u({_HIGH})\\u({_LOW_HALF})|\\u({_UNIT})|\\[nrt\\]")

_UNSPACED = (
    (0x3400, 0x9FFF),  # ideographs, the most frequent first
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark and zero
    (0x3021, 0x3035),  # Hangzhou numerals, kana repeat marks
    (0x303B, 0x303C),
    (0x3041, 0x312F),  # kana, Bopomofo
    (0x31A0, 0x31FF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # half-width kana
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)
"""From which to which code point each character is a word. All have three UTF-8 bytes or more."""
_FIRST_UNSPACED = min(first for first, _ in _UNSPACED)
_WORD = re.compile(r"{0}|(?:(?!{0})\w)+".format("(?=\\w)[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in _UNSPACED) + "]"))


@inlined
def mix(value: np.uint64) -> np.uint64:
    """A bijection of 64 bits that leaves no pattern (the finaliser of SplitMix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled
def _hex(text: Text, at: Place, end: Place) -> np.int64:
    """The number of the four hexadecimal digits at ``at``; -1 where there are not so many."""
    if at + 4 > end:
        return np.int64(-1)
    number = np.int64(0)
    for place in range(at, at + 4):
        byte = np.int64(text[place])
        if _ZERO <= byte <= _NINE:
            number = number << 4 | (byte - _ZERO)
        elif _LETTER_A <= byte | _LOWER_CASE <= _LETTER_F:
            number = number << 4 | ((byte | _LOWER_CASE) - _LETTER_A + 10)
        else:
            return np.int64(-1)
    return number


@compiled
def _quoted_unit(text: Text, at: Place, end: Place) -> np.int64:
    r"""The number of a ``\uXXXX`` at ``at``; -1 where there is none."""
    is_one = at + 6 <= end and text[at] == _BACKSLASH and text[at + 1] == _U
    return _hex(text, at + 2, end) if is_one else np.int64(-1)


@compiled
def _quoted(text: Text, at: Place, end: Place) -> tuple[np.int64, int]:
    """The code point that the backslash at ``at`` begins, 0 for a gap, and how many bytes that is."""
    if at + 1 < end and text[at + 1] in _ESCAPED:
        return np.int64(0), 2
    unit = _quoted_unit(text, at, end)
    if unit < 0:
        return np.int64(0), 1
    if unit < 0xD800 or unit >= 0xE000:
        return unit, 6
    low = _quoted_unit(text, at + 6, end)
    if unit >= 0xDC00 or low < 0xDC00 or low >= 0xE000:
        return np.int64(0), 6
    return 0x10000 + ((unit & 0x3FF) << 10 | (low & 0x3FF)), 12


@compiled
def _is_unspaced(code: np.int64) -> bool:
    """Whether a word character is a word of its own."""
    if code >= _FIRST_UNSPACED:
        for first, last in _UNSPACED:
            if first <= code <= last:
                return True
    return False


@compiled
def _packed(letter: np.uint64) -> np.uint64:
    """The bytes of a letter as the block of a word."""
    block = _NOTHING
    while letter:
        block = block << _BYTE | (letter & _LOW)
        letter >>= _BYTE
    return block


@compiled
def hash_words(text: Text, at: int, end: int, lower: Letters, found: Hashes) -> int:
    """Fill ``found`` with the hashes of the words of ``text[at:end]``, in order; returns how many.

    Args:
        lower: `curation.words.lower_table()`.
        found: has room for one word for every two bytes, and one more.
    """
    count = 0
    length = 0
    block = _NOTHING
    hashed = _NOTHING
    while at < end:
        byte = text[at]
        if byte < 0x80 and byte != _BACKSLASH:
            width = 1
            letter = np.uint64(lower[byte])
        else:
            code, width = _quoted(text, at, end) if byte == _BACKSLASH else decode(text, at, end)
            width = width if code >= 0 else 1
            letter = np.uint64(lower[code]) if 0 <= code < lower.size else _NOTHING
            if letter and _is_unspaced(code):
                if length:
                    found[count] = mix(hashed ^ block)
                    count += 1
                    length = 0
                    block = _NOTHING
                    hashed = _NOTHING
                found[count] = mix(_packed(letter))
                count += 1
                letter = _NOTHING
        at += width
        if letter:
            while letter:
                if length == 8:
                    hashed = mix(hashed ^ block)
                    block = _NOTHING
                    length = 0
                block = block << _BYTE | (letter & _LOW)
                length += 1
                letter >>= _BYTE
        elif length:
            found[count] = mix(hashed ^ block)
            count += 1
            length = 0
            block = _NOTHING
            hashed = _NOTHING
    if length:
        found[count] = mix(hashed ^ block)
        count += 1
    return count


@compiled
def hash_ngrams(words: Hashes, count: int, n: int) -> int:
    """Turn the first ``count`` words into the hashes of their n-grams, in order and in place; returns how many.

    Fewer than ``n`` words are one n-gram, none are none.
    """
    if count == 0:
        return 0
    size = min(n, count)
    power = np.uint64(1)
    rolling = _NOTHING
    for place in range(size):
        power *= _BASE
        rolling = rolling * _BASE + words[place]
    last = count - size
    for place in range(last):
        first = words[place]
        words[place] = mix(rolling)
        rolling = rolling * _BASE + words[place + size] - first * power
    words[last] = mix(rolling)
    return last + 1


def ordered_words(text: str) -> list[str]:
    """The words of a text in their order: what `hash_words` reads, straight from the definition."""
    return _WORD.findall(_QUOTED.sub(_unquoted, text).lower())


def _unquoted(found: re.Match[str]) -> str:
    """What a text quoted as JSON has in the place of this; a blank for a gap."""
    high, low, unit = found.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10 | (int(low, 16) & 0x3FF)))
    return chr(int(unit, 16)) if unit else " "


def texts_of(column: pa.ChunkedArray) -> Texts:
    """The texts of a ``string`` or ``large_string`` column, to hash; a null is an empty one.

    The bytes are those of the column, not copied, unless it has several chunks, or a character that needs Python.
    """
    array = in_one_piece(column)
    if array.null_count:
        array = pc.fill_null(array, "")
    texts = buffers_of(array)
    if _may_hold_contextual(texts.text):
        contextual = pa.array(_holding_contextual(texts))
        texts = buffers_of(pc.replace_with_mask(array, contextual, _lowered(array.filter(contextual))))
    return texts


@compiled
def _may_hold_contextual(text: Text) -> bool:
    """Whether a character of `CONTEXTUAL_TEXT` may be anywhere in the bytes; without a branch, many bytes at once."""
    found = False
    firsts, seconds = text[:-1], text[1:]
    for place in range(firsts.size):
        first, second = firsts[place], seconds[place]
        found |= ((first == 0xC4) & (second == 0xB0)) | ((first == 0xCE) & (second == 0xA3))
        found |= (first == _BACKSLASH) & (second == _U)
    return found


@compiled
def _holding_contextual(texts: Texts) -> Booleans:
    """Which texts hold a character of `CONTEXTUAL_TEXT`, as it is or quoted."""
    holding = np.zeros(texts.ends.size - 1, np.bool_)
    for row in range(holding.size):
        at, end = texts.ends[row], texts.ends[row + 1]
        if not _may_hold_contextual(texts.text[at:end]):
            continue
        for place in range(at, end - 1):
            first = texts.text[place]
            if first == _BACKSLASH:
                unit = _quoted_unit(texts.text, place, end)
                holding[row] |= unit == _CONTEXTUAL_CODES[0] or unit == _CONTEXTUAL_CODES[1]
            elif first == 0xC4 or first == 0xCE:
                holding[row] |= texts.text[place + 1] == (0xB0 if first == 0xC4 else 0xA3)
    return holding


def _lowered(array: pa.Array) -> pa.Array:
    """The words alone of each text, lowered by Python, with a blank between them."""
    binary = pa.binary() if array.type == pa.string() else pa.large_binary()
    texts = (text.decode(errors="replace") for text in array.view(binary).to_pylist())
    return pa.array([" ".join(ordered_words(text)) for text in texts], array.type)
