"""The compiled pass over UTF-8 text: counts the words two texts have and share, without making a string.

A text is first lower-cased into a scratch array in which every byte that belongs to no word is 0. Words are then found
there eight bytes at a time. One of up to eight bytes is its own key; a longer one is keyed by a hash and compared block
by block with the copy in ``spelling``, so that no two words are ever taken for one. What costs time here are branches
that the processor guesses wrong, so there are few: where words end is found by arithmetic on bits.

Functions here are compiled by Numba, which types them; ``uint64`` meets only ``uint64`` (with a signed integer it would
become a float).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from curation.bits import trailing_zeros
from curation.compiled import compiled, inlined
from curation.words import CONTEXTUAL

Text: TypeAlias = NDArray[np.uint8]
Letters: TypeAlias = NDArray[np.uint32]
Counts: TypeAlias = NDArray[np.int64]
Blocks: TypeAlias = NDArray[np.uint64]
Place: TypeAlias = int | np.int64

COUNTED, CONTEXTUAL_TEXT, NOT_UTF8 = range(3)
"""What came of a turn: counted; holds a character whose lower case depends on its neighbours; is not UTF-8."""

WORDS_ACTION, WORDS_OBSERVATION, WORDS_SHARED, LEN_ACTION, LEN_OBSERVATION = range(5)
"""The columns of the counts: distinct words of the action, of the observation, of both; lengths in code points."""

_FIRST_SLOTS = 1024
_STRETCH = 64
"""Bytes that are looked at together: lower-cased where all of them are ASCII, their gaps the bits of a number."""
_PADDING = 136
"""Zeros after a text: blocks are read, and gaps looked for, beyond its end."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_BYTE = np.uint64(8)
_LOW = np.uint64(0xFF)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_DEPENDS = np.uint64(CONTEXTUAL)

_TOP_BITS = np.uint64(0x8080808080808080)
_OTHER_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
_TOP_TO_LOWEST = np.uint64(7)
_GATHER = np.uint64(0x0102040810204080)
"""Eight bytes that are 0 or 1, times this, have their lowest bits side by side in the highest byte."""
_TO_HIGHEST = np.uint64(56)
_EIGHTFOLD = np.uint64(3)
"""How far a number is shifted to make bits of bytes."""
_BITS, _LAST_BIT = np.uint64(64), np.uint64(63)

_TOP, _USED, _SEEN, _SHARED, _CONTINUATION = range(5)
"""The running state of a turn: end of ``spelling``; slots in use; distinct words of the text in hand; those that the
other text had too; bytes of the text in hand that continue a code point."""

# The table is an open-addressing hash table in one array, two entries a slot: the word's key, and its note:
# mark << 32 | where its spelling starts (0 for a word of up to eight bytes). A slot is free unless its mark is of the
# turn in hand, so nothing is cleared between turns. The mark is 2·turn, and one more once the observation had the word.


@inlined
def _slot_of(key: np.uint64, size: int) -> np.int64:
    mixed = (key ^ (key >> _HALF)) * _MIX
    return np.int64((mixed ^ (mixed >> _HALF)) & np.uint64(size - 1))


@compiled
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


@compiled
def _same(spelling: Blocks, one: Place, other: Place, blocks: Place) -> bool:
    """Whether two spellings are equal; the first block is the length, so both have as many blocks or differ there."""
    for index in range(blocks):  # noqa: SIM110 (Numba compiles no generator)
        if spelling[one + index] != spelling[other + index]:
            return False
    return True


@inlined
def _short_slot(table: Blocks, key: np.uint64, turn_mark: np.uint64) -> np.int64:
    """Where a word of up to eight bytes stands, or may stand. Its branch is nearly always the same, so it is cheap."""
    size = table.size >> 1
    slot = _slot_of(key, size)
    while (table[2 * slot + 1] >> _HALF >= turn_mark) & (
        (table[2 * slot] != key) | (table[2 * slot + 1] & _LOW_HALF != _NOTHING)
    ):
        slot = (slot + 1) & (size - 1)
    return slot


@compiled
def _long_slot(
    table: Blocks, key: np.uint64, turn_mark: np.uint64, spelling: Blocks, start: Place, blocks: Place
) -> np.int64:
    """Where a longer word stands, or may stand, whose spelling are so many blocks from ``start`` on."""
    size = table.size >> 1
    slot = _slot_of(key, size)
    while table[2 * slot + 1] >> _HALF >= turn_mark:
        known = np.int64(table[2 * slot + 1] & _LOW_HALF)
        if table[2 * slot] == key and known and _same(spelling, known, start, blocks):
            break
        slot = (slot + 1) & (size - 1)
    return slot


@inlined
def _put(table: Blocks, slot: Place, key: np.uint64, start: Place, mark: np.uint64, state: Counts) -> bool:
    """Note the word whose slot this is, in the text in hand; returns whether it is new to the turn.

    Without a branch: which words were there before is anybody's guess, the processor's too.
    """
    note = table[2 * slot + 1]
    is_free: bool = note >> _HALF < mark & ~_ONE
    is_new = note >> _HALF < mark
    table[2 * slot] = key
    table[2 * slot + 1] = mark << _HALF | (np.uint64(start) if is_free else note & _LOW_HALF)
    state[_USED] += is_free
    state[_SEEN] += is_new
    state[_SHARED] += is_new ^ is_free
    return is_free


@compiled
def decode(text: Text, at: Place, end: Place) -> tuple[np.int64, int]:
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


@compiled
def _lower(text: Text, at: Place, end: Place, lower: Letters, lowered: Text, state: Counts) -> tuple[int, Place]:
    """Lower-case ``text[at:end]`` with gaps of zeros; returns what came of it, and how many bytes it is now."""
    size: Place = 0
    while at < end:
        stop = min(at + _STRETCH, end)
        any_of = np.uint8(0)
        stretch, target = text[at:stop], lowered[size : size + stop - at]
        for place in range(stop - at):
            any_of |= stretch[place]
            target[place] = np.uint8(lower[stretch[place]])
        if any_of < 0x80:
            size += stop - at
            at = stop
            continue
        while at < stop:
            width = 1
            if text[at] < 0x80:
                letter = np.uint64(lower[text[at]])
            else:
                code, width = decode(text, at, end)
                if code < 0:
                    return NOT_UTF8, size
                state[_CONTINUATION] += width - 1
                letter = np.uint64(lower[code]) if code < lower.size else _NOTHING
                if letter == _DEPENDS:
                    return CONTEXTUAL_TEXT, size
            at += width
            lowered[size] = np.uint8(letter & _LOW)
            size += 1
            letter >>= _BYTE
            while letter:
                lowered[size] = np.uint8(letter & _LOW)
                size += 1
                letter >>= _BYTE
    return COUNTED, size


@inlined
def _block(lowered: Blocks, at: Place) -> np.uint64:
    """The eight bytes from any place on, the first one lowest."""
    index = at >> 3
    shift = np.uint64(at & 7) << _EIGHTFOLD
    block: np.uint64 = lowered[index] >> shift | (lowered[index + 1] << _ONE) << (_LAST_BIT - shift)
    return block


@inlined
def _gaps(block: np.uint64) -> np.uint64:
    """The highest bit of every byte that is 0."""
    return ~((block & _OTHER_BITS) + _OTHER_BITS | block) & _TOP_BITS


@inlined
def _gap_bits(lowered: Blocks, at: Place) -> np.uint64:
    """A bit for every one of the 64 bytes from a multiple of 8 on, set where it is 0."""
    bits = _NOTHING
    for block in range(8):
        of_block = (_gaps(lowered[(at >> 3) + block]) >> _TOP_TO_LOWEST) * _GATHER
        bits |= (of_block >> _TO_HIGHEST) << np.uint64(8 * block)
    return bits


@compiled
def _note_long(lowered: Blocks, at: Place, table: Blocks, spelling: Blocks, state: Counts, mark: np.uint64) -> None:
    """Note the word of nine bytes at least that begins at ``at``.

    Its spelling is its length in bytes, then its blocks.
    """
    start = state[_TOP]
    hashed = _NOTHING
    blocks = 1
    length = np.int64(0)
    letters = _BYTE
    while letters == _BYTE:
        block = _block(lowered, at + length)
        letters = trailing_zeros(_gaps(block)) >> _EIGHTFOLD
        if letters:
            block &= _ONES >> (_BITS - (letters << _EIGHTFOLD))
            hashed = (hashed ^ (hashed >> _HALF) ^ block) * _MIX
            spelling[start + blocks] = block
            blocks += 1
            length += np.int64(letters)
    spelling[start] = np.uint64(length)
    slot = _long_slot(table, hashed, mark & ~_ONE, spelling, start, blocks)
    if _put(table, slot, hashed, start, mark, state):
        state[_TOP] = start + blocks


@compiled
def _scan(lowered: Blocks, size: Place, table: Blocks, spelling: Blocks, state: Counts, mark: np.uint64) -> Blocks:
    """Note every word of the first ``size`` bytes; returns the table, which may have grown."""
    before = _ONE
    after = _gap_bits(lowered, 0)
    for first in range(0, size, _STRETCH):
        if 2 * (state[_USED] + _STRETCH // 2) > table.size >> 1:
            table = _grown(table, mark & ~_ONE)
        gaps = after
        after = _gap_bits(lowered, first + _STRETCH)
        starts = ~gaps & (gaps << _ONE | before)
        before = gaps >> _LAST_BIT
        while starts:
            place = trailing_zeros(starts)
            starts &= starts - _ONE
            length = trailing_zeros(gaps >> place | (after << _ONE) << (_LAST_BIT - place))
            at = first + np.int64(place)
            if length <= 8:
                key = _block(lowered, at) & (_ONES >> (_BITS - (length << _EIGHTFOLD)))
                _put(table, _short_slot(table, key, mark & ~_ONE), key, 0, mark, state)
            else:
                _note_long(lowered, at, table, spelling, state, mark)
    return table


@compiled
def _note(
    text: Text,
    at: Place,
    end: Place,
    lowered: Blocks,
    table: Blocks,
    spelling: Blocks,
    state: Counts,
    lower: Letters,
    mark: np.uint64,
) -> tuple[int, Blocks]:
    """Note every word of ``text[at:end]``; returns what came of it, and the table, which may have grown."""
    outcome, size = _lower(text, at, end, lower, lowered.view(np.uint8), state)
    if outcome != COUNTED:
        return outcome, table
    lowered.view(np.uint8)[size : size + _PADDING] = 0
    return COUNTED, _scan(lowered, size, table, spelling, state, mark)


@compiled
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
    lowered = np.empty(0, np.uint64)
    state = np.zeros(5, np.int64)
    for turn in range(outcomes.size):
        a, a_end = action_ends[turn], action_ends[turn + 1]
        o, o_end = observation_ends[turn], observation_ends[turn + 1]
        # A long word has at least nine bytes lower-cased, so six as written, with a gap after it, for three blocks.
        room = (a_end - a + o_end - o) // 2 + 8
        if spelling.size < room:
            spelling = np.empty(room, np.uint64)
        # Lower-cased, two bytes may be three.
        room = (max(a_end - a, o_end - o) * 3 // 2 + _PADDING + _STRETCH) // 8 + 1
        if lowered.size < room:
            lowered = np.empty(room, np.uint64)
        mark = np.uint64(2 * (turn + 1))
        state[:] = 0
        state[_TOP] = 1
        outcomes[turn], table = _note(actions, a, a_end, lowered, table, spelling, state, lower, mark)
        counts[turn, WORDS_ACTION] = state[_SEEN]
        counts[turn, LEN_ACTION] = a_end - a - state[_CONTINUATION]
        state[_SEEN] = 0
        state[_CONTINUATION] = 0
        if outcomes[turn] == COUNTED:
            outcomes[turn], table = _note(observations, o, o_end, lowered, table, spelling, state, lower, mark | _ONE)
        counts[turn, WORDS_OBSERVATION] = state[_SEEN]
        counts[turn, WORDS_SHARED] = state[_SHARED]
        counts[turn, LEN_OBSERVATION] = o_end - o - state[_CONTINUATION]
