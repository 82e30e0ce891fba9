r"""The words of a text in their order, and its word n-grams, as 64-bit hashes: a compiled pass over UTF-8 text.

A word is what `curation.words` says it is, so that case, punctuation and line breaks make no difference. One thing is
added: a backslash with the n, r, t or backslash after it is a gap between words, for the text may be quoted as JSON.
Bytes that are not UTF-8 are gaps too.

The hash of a word of up to eight bytes is its own; longer words, and n-grams, share theirs by chance only: with m
n-grams held against k others, the expected number of false matches is m·k / 2^64.

Functions here are compiled by Numba, which types them; ``uint64`` meets only ``uint64`` (with a signed integer it would
become a float).
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit
from numpy.typing import NDArray

from curation.kernel import decode

Text: TypeAlias = NDArray[np.uint8]
Ends: TypeAlias = NDArray[np.int64]
Hashes: TypeAlias = NDArray[np.uint64]
Letters: TypeAlias = NDArray[np.uint32]


class Texts(NamedTuple):
    """Texts one after the other: their UTF-8 bytes, and Arrow offsets, one more than texts.

    Text i is ``text[ends[i] : ends[i + 1]]``.
    """

    text: Text
    ends: Ends


_NOTHING = np.uint64(0)
_BYTE = np.uint64(8)
_LOW = np.uint64(0xFF)
_BASE = np.uint64(0xD6E8FEB86659FD95)
"""Odd, and 5 modulo 8: words that change places then keep nearly all bits of the difference of their n-grams."""
_BACKSLASH = ord("\\")
_ESCAPED = tuple(b"nrt\\")
_QUOTED_GAP = re.compile(r"\\[nrt\\]")
_WORD = re.compile(r"\w+")
_CONTEXTUAL = ("\u0130", "\u03a3")
"""No table can lower these (see `curation.words`): a text that holds one is lowered by Python first."""


@njit(cache=True, nogil=True, inline="always")
def mix(value: np.uint64) -> np.uint64:
    """A bijection of 64 bits that leaves no pattern (the finaliser of SplitMix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True, nogil=True)
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
        width = 1
        byte = text[at]
        if byte < 0x80:
            letter = np.uint64(lower[byte])
            if byte == _BACKSLASH and at + 1 < end and text[at + 1] in _ESCAPED:
                width = 2
        else:
            code, width = decode(text, at, end)
            if code < 0:
                code, width = np.int64(0), 1
            letter = np.uint64(lower[code]) if code < lower.size else _NOTHING
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


@njit(cache=True, nogil=True)
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
    return _WORD.findall(_QUOTED_GAP.sub(" ", text).lower())


def texts_of(column: pa.ChunkedArray) -> Texts:
    """The texts of a ``string`` or ``large_string`` column, to hash; a null is an empty one.

    The bytes are those of the column, not copied, unless it has several chunks, or a character that needs Python.
    """
    array = column.combine_chunks()
    if array.null_count:
        array = pc.fill_null(array, "")
    texts = buffers_of(array)
    if _may_hold_contextual(texts.text):
        contextual = pc.or_(*(pc.match_substring(array, character) for character in _CONTEXTUAL))
        texts = buffers_of(pc.replace_with_mask(array, contextual, _lowered(array.filter(contextual))))
    return texts


def buffers_of(array: pa.Array) -> Texts:
    """The texts of a ``string`` or ``large_string`` array as they are, not copied; a null is whatever lies there."""
    _, offsets, data = array.buffers()
    offset_type = np.int32 if array.type == pa.string() else np.int64
    ends = np.frombuffer(offsets, dtype=offset_type)[array.offset : array.offset + len(array) + 1]
    return Texts(np.frombuffer(data if data is not None else b"", dtype=np.uint8), ends.astype(np.int64))


@njit(cache=True, nogil=True)
def _may_hold_contextual(text: Text) -> bool:
    """Whether a character of `_CONTEXTUAL` is anywhere in the bytes; without a branch, many bytes at once."""
    found = np.uint8(0)
    for place in range(text.size - 1):
        first, second = text[place], text[place + 1]
        found |= ((first == 0xC4) & (second == 0xB0)) | ((first == 0xCE) & (second == 0xA3))
    return bool(found)


def _lowered(array: pa.Array) -> pa.Array:
    """The words alone of each text, lowered by Python, with a blank between them."""
    binary = pa.binary() if array.type == pa.string() else pa.large_binary()
    texts = (text.decode(errors="replace") for text in array.view(binary).to_pylist())
    return pa.array([" ".join(ordered_words(text)) for text in texts], array.type)
