"""The compiled single pass over UTF-8 text: counts the words two texts have and share, without making a string.

A word is kept as 64-bit blocks of its lower-cased bytes. One of up to eight bytes is its own key; a longer one is keyed
by a hash and compared block by block with the copy in ``spelling``, so that no two words are ever taken for one.

Functions here are compiled by Numba, which types them; ``uint64`` meets only ``uint64`` (with a signed integer it would
become a float).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from curation.words import CONTEXTUAL

Text: TypeAlias = NDArray[np.uint8]
Letters: TypeAlias = NDArray[np.uint32]
Counts: TypeAlias = NDArray[np.int64]
Blocks: TypeAlias = NDArray[np.uint64]
Place: TypeAlias = int | np.int64

COUNTED, CONTEXTUAL_TEXT, NOT_UTF8, _CROWDED = range(4)
"""What came of a turn: counted; holds a character whose lower case depends on its neighbours; is not UTF-8."""

WORDS_ACTION, WORDS_OBSERVATION, WORDS_SHARED, LEN_ACTION, LEN_OBSERVATION = range(5)
"""The columns of the counts: distinct words of the action, of the observation, of both; lengths in code points."""

_FIRST_SLOTS = 1024
_PACKED_BYTES = 8
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_BYTE = np.uint64(8)
_LOW = np.uint64(0xFF)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_NOTHING = np.uint64(0)
_DEPENDS = np.uint64(CONTEXTUAL)

_TOP, _USED, _SEEN, _SHARED, _CONTINUATION = range(5)
"""The running state of a turn: end of ``spelling``; slots in use; distinct words of the text in hand; those that the
other text had too; bytes of the text in hand that continue a code point."""

# The table is an open-addressing hash table in one array, two entries a slot: the word's key, and its note:
# mark << 32 | where its spelling starts (0 for a word of up to eight bytes). A slot is free unless its mark is of the
# turn in hand, so nothing is cleared between turns. The mark is 2·turn, and one more once the observation had the word.


@njit(cache=True, nogil=True, inline="always")
def _slot_of(key: np.uint64, size: int) -> np.int64:
    mixed = (key ^ (key >> _HALF)) * _MIX
    return np.int64((mixed ^ (mixed >> _HALF)) & np.uint64(size - 1))


@njit(cache=True, nogil=True)
def _grown(table: Blocks, mark: np.uint64) -> Blocks:
    """The words of the turn in hand, in a table of four times the size."""
    larger = np.zeros(table.size * 4, np.uint64)
    size = larger.size >> 1
    for old in range(0, table.size, 2):
        if table[old + 1] >> _HALF >= mark:
            slot = _slot_of(table[old], size)
            while larger[2 * slot + 1] >> _HALF >= mark:
                slot = (slot + 1) & (size - 1)
            larger[2 * slot] = table[old]
            larger[2 * slot + 1] = table[old + 1]
    return larger


@njit(cache=True, nogil=True)
def _hash(spelling: Blocks, start: Place, blocks: Place) -> np.uint64:
    mixed: np.uint64 = spelling[start]
    for index in range(start + 1, start + blocks):
        mixed = (mixed ^ (mixed >> _HALF) ^ spelling[index]) * _MIX
    return mixed


@njit(cache=True, nogil=True)
def _same(spelling: Blocks, one: Place, other: Place, blocks: Place) -> bool:
    """Whether two spellings are equal; the first block is the length, so both have as many blocks or differ there."""
    for index in range(blocks):  # noqa: SIM110 (Numba compiles no generator)
        if spelling[one + index] != spelling[other + index]:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _add(table: Blocks, spelling: Blocks, state: Counts, key: np.uint64, length: int, mark: np.uint64) -> None:
    """Note a word of ``length`` bytes whose spelling stands at the top: its length, then its blocks.

    The last block holds the last eight bytes, whatever the length: with the length, still one spelling a word.
    """
    start = 0
    blocks = 0
    if length > _PACKED_BYTES:
        start = state[_TOP]
        blocks = 1 + ((length + 7) >> 3)
        spelling[start] = np.uint64(length)
        key = _hash(spelling, start, blocks)
    size = table.size >> 1
    slot = _slot_of(key, size)
    turn_mark = mark & ~np.uint64(1)
    while table[2 * slot + 1] >> _HALF >= turn_mark:
        note = table[2 * slot + 1]
        known = np.int64(note & _LOW_HALF)
        if table[2 * slot] == key and (known == start or (known and start and _same(spelling, known, start, blocks))):
            if note >> _HALF < mark:
                table[2 * slot + 1] = mark << _HALF | np.uint64(known)
                state[_SEEN] += 1
                state[_SHARED] += 1
            return
        slot = (slot + 1) & (size - 1)
    table[2 * slot] = key
    table[2 * slot + 1] = mark << _HALF | np.uint64(start)
    state[_SEEN] += 1
    state[_USED] += 1
    if start:
        state[_TOP] = start + blocks


@njit(cache=True, nogil=True)
def decode(text: Text, at: int, end: int) -> tuple[np.int64, int]:
    """The code point at ``at``, of more than one byte, and how many bytes; -1 where it is not UTF-8."""
    lead = np.int64(text[at])
    width = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if lead < 0xC2 or lead > 0xF4 or at + width > end:
        return np.int64(-1), width
    code = lead & (0x7F >> width)
    for index in range(at + 1, at + width):
        byte = np.int64(text[index])
        if byte & 0xC0 != 0x80:
            return np.int64(-1), width
        code = code << 6 | (byte & 0x3F)
    overlong = (width == 3 and code < 0x800) or (width == 4 and code < 0x10000)
    if overlong or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return np.int64(-1), width
    return code, width


@njit(cache=True, nogil=True)
def _scan(
    text: Text, at: int, end: int, table: Blocks, spelling: Blocks, state: Counts, lower: Letters, mark: np.uint64
) -> tuple[int, int]:
    """Note every word of ``text[at:end]``; returns what came of it, and where it stopped (early in a crowded table)."""
    key = _NOTHING
    length = 0
    first_block = state[_TOP] + 1
    room = table.size >> 2
    while at < end:
        width = 1
        if text[at] < 0x80:
            letter = np.uint64(lower[text[at]])
        else:
            code, width = decode(text, at, end)
            if code < 0:
                return NOT_UTF8, at
            state[_CONTINUATION] += width - 1
            letter = np.uint64(lower[code]) if code < lower.size else _NOTHING
            if letter == _DEPENDS:
                return CONTEXTUAL_TEXT, at
        at += width
        if letter:
            while letter:
                key = key << _BYTE | (letter & _LOW)
                spelling[first_block + (length >> 3)] = key
                length += 1
                letter >>= _BYTE
        elif length:
            _add(table, spelling, state, key, length, mark)
            first_block = state[_TOP] + 1
            key = _NOTHING
            length = 0
            if state[_USED] > room:
                return _CROWDED, at
    if length:
        _add(table, spelling, state, key, length, mark)
    return COUNTED, at


@njit(cache=True, nogil=True)
def _note(
    text: Text, at: int, end: int, table: Blocks, spelling: Blocks, state: Counts, lower: Letters, mark: np.uint64
) -> tuple[int, Blocks]:
    """Note every word of ``text[at:end]``; returns what came of it, and the table, which may have grown."""
    outcome, at = _scan(text, at, end, table, spelling, state, lower, mark)
    while outcome == _CROWDED:
        table = _grown(table, mark & ~np.uint64(1))
        outcome, at = _scan(text, at, end, table, spelling, state, lower, mark)
    return outcome, table


@njit(cache=True, nogil=True)
def count_words(
    actions: Text,
    action_ends: Counts,
    observations: Text,
    observation_ends: Counts,
    lower: Letters,
    counts: Counts,
    outcomes: Text,
) -> None:
    """Fill ``counts`` (turns × 5, int64) and ``outcomes`` (turns, uint8), turn by turn.

    Args:
        actions, observations: UTF-8 bytes of all turns, one after the other (uint8).
        action_ends, observation_ends: Arrow offsets, one more than turns (int64): turn i is ``[ends[i], ends[i + 1])``.
        lower: `curation.words.lower_table()`.
    """
    table = np.zeros(2 * _FIRST_SLOTS, np.uint64)
    spelling = np.empty(0, np.uint64)
    state = np.zeros(5, np.int64)
    for turn in range(outcomes.size):
        a, a_end = action_ends[turn], action_ends[turn + 1]
        o, o_end = observation_ends[turn], observation_ends[turn + 1]
        # A long word has at least nine bytes lower-cased, so six as written, with a gap after it, for three blocks.
        room = (a_end - a + o_end - o) // 2 + 8
        if spelling.size < room:
            spelling = np.empty(room, np.uint64)
        mark = np.uint64(2 * (turn + 1))
        state[:] = 0
        state[_TOP] = 1
        outcomes[turn], table = _note(actions, a, a_end, table, spelling, state, lower, mark)
        counts[turn, WORDS_ACTION] = state[_SEEN]
        counts[turn, LEN_ACTION] = a_end - a - state[_CONTINUATION]
        state[_SEEN] = 0
        state[_CONTINUATION] = 0
        if outcomes[turn] == COUNTED:
            outcomes[turn], table = _note(observations, o, o_end, table, spelling, state, lower, mark | np.uint64(1))
        counts[turn, WORDS_OBSERVATION] = state[_SEEN]
        counts[turn, WORDS_SHARED] = state[_SHARED]
        counts[turn, LEN_OBSERVATION] = o_end - o - state[_CONTINUATION]
