"""The judges of addresses: of mail, and of the internet protocol."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from curation.secrets.addresses import LARGEST_SECTION, PLACEHOLDER_DOMAINS, RESOLVERS, SMALL
from curation.secrets.lookup_tables import (
    ADDRESS,
    AFTER_ADDRESS,
    ALNUM,
    COMPARED,
    DIGIT,
    ESCAPED,
    HEX_OR_COLON,
    HIGH,
    LETTER,
    LOCAL,
    LONGEST_PACKED,
    NETWORKS,
    PATH,
    SPACE,
    VERSION,
    WORD,
    pack,
)
from curation.secrets.personal_rules import LONGEST_LOCAL, LOOK_BACK
from curation.secrets.places import (
    REFUSED,
    UNSURE,
    Facts,
    Place,
    Sorts,
    Span,
    Text,
    byte_at,
    inner,
    is_hex,
    is_joined,
    past,
    sort_at,
    stands_alone_in,
)

(
    _LF,
    _CLOSE,
    _MINUS,
    _DOT,
    _SLASH,
    _ZERO,
    _TWO,
    _THREE,
    _NINE,
    _COLON,
    _EQUALS,
    _BACKSLASH,
    _UNDERSCORE,
    _G,
    _I,
    _T,
    _X,
) = b"\n)-./0239:=\\_gitx"
_STAR = ord("*")
_TO_LOWER_CASE = 0x20
_PLACEHOLDERS = np.array(sorted(map(pack, PLACEHOLDER_DOMAINS)), np.uint64)
_RESOLVERS = tuple(int.from_bytes(map(int, address.split(b".")), "big") for address in sorted(RESOLVERS))


@inner
def email(text: Text, at: Place, sorts: Sorts, domains: NDArray[np.uint64]) -> Span:
    end, top, second = _domain(text, at + 1, sorts)
    if end < 0:
        return -1, end + 1  # refused or unsure
    begin, lowest = -1, max(0, at - LONGEST_LOCAL)
    place = at - 1
    while place >= lowest and sorts[text[place]] & LOCAL:
        if sorts[text[place]] & ALNUM:
            begin = place
        place -= 1
    if place >= lowest and sorts[text[place]] & HIGH:
        return UNSURE
    if begin > 0 and text[begin - 1] == _BACKSLASH and sorts[text[begin]] & ESCAPED:
        begin += 1
    if begin < 0 or begin == at or _is_of_software(text, begin, at, end, sorts):
        return REFUSED
    if end - top > LONGEST_PACKED:
        return UNSURE
    if not _is_known(_packed(text, top, end), domains) or _is_scaled_image(text, at + 1, sorts):
        return REFUSED
    if top - 1 - second <= LONGEST_PACKED and _is_known(_packed(text, second, top - 1), _PLACEHOLDERS):
        return REFUSED
    return begin, end


@inner
def _domain(text: Text, place: Place, sorts: Sorts) -> tuple[int, int, int]:
    """Where a domain ends that begins here, and where its top and its second level begin.

    The end is -2 where there is none, and -1 where a letter that is not ASCII has to be understood.
    """
    end, top, second = -2, 0, 0
    previous = place
    for level in range(9):
        start, only_letters = place, True
        while place < text.size and place - start <= 63 and (sorts[text[place]] & ALNUM or text[place] == _MINUS):
            only_letters &= bool(sorts[text[place]] & LETTER)
            place += 1
        if sort_at(text, place, sorts) & HIGH:
            return -1, 0, 0
        length = place - start
        if level and only_letters and 2 <= length <= 24 and byte_at(text, place) != _UNDERSCORE:
            end, top, second = place, start, previous
        if not 0 < length <= 63 or text[start] == _MINUS or text[place - 1] == _MINUS or byte_at(text, place) != _DOT:
            break
        previous = start
        place += 1
    return end, top, second


@inner
def _is_of_software(text: Text, begin: Place, at: Place, end: Place, sorts: Sorts) -> bool:
    """Whether it is that of a repository, a prompt, a path or a package."""
    if at - begin == 3 and text[begin] == _G and text[begin + 1] == _I and text[begin + 2] == _T:
        return True
    if begin >= 2 and text[begin - 1] == _SLASH and text[begin - 2] == _SLASH:
        return True
    if sort_at(text, end, sorts) & AFTER_ADDRESS:
        return True
    return byte_at(text, end) == _COLON and bool(sort_at(text, end + 1, sorts) & PATH)


@inner
def _packed(text: Text, place: Place, end: Place) -> np.uint64:
    """Letters in lower case as a number: `curation.secrets.lookup_tables.pack`."""
    packed = np.uint64(0)
    while place < end:
        packed = packed << np.uint64(8) | np.uint64(text[place] | _TO_LOWER_CASE)
        place += 1
    return packed


@inner
def _is_known(packed: np.uint64, known: NDArray[np.uint64]) -> bool:
    low, high = 0, known.size
    while low < high:
        middle = (low + high) >> 1
        if known[middle] < packed:
            low = middle + 1
        else:
            high = middle
    return low < known.size and known[low] == packed


@inner
def _is_scaled_image(text: Text, place: Place, sorts: Sorts) -> bool:
    digits = past(text, place, 64, DIGIT, sorts)
    if digits == place:
        return False
    return byte_at(text, digits + (byte_at(text, digits) == _X)) == _DOT


@inner
def ipv4(text: Text, place: Place, sorts: Sorts, words: NDArray[np.int32], facts: Facts) -> Span:
    start = place + 1
    while start > 0 and place + 1 - start <= 3 and sorts[text[start - 1]] & DIGIT:
        start -= 1
    end, value, largest = start, 0, 0
    for octet in range(4):
        first, number = end, 0
        while end < text.size and end - first < 3 and sorts[text[end]] & DIGIT:
            number = number * 10 + int(byte_at(text, end)) - _ZERO
            end += 1
        if end == first or number > 255 or (end - first > 1 and text[first] == _ZERO):
            return REFUSED
        if octet < 3:
            if byte_at(text, end) != _DOT:
                return REFUSED
            end += 1
        value, largest = value << 8 | number, max(largest, number)
    following = sort_at(text, end, sorts)
    is_joined = byte_at(text, end) in (_DOT, _MINUS) and sort_at(text, end + 1, sorts) & WORD
    if following & WORD or is_joined or not _is_public(value, facts):
        return REFUSED
    verdict = _after_words(text, start, largest, value, sorts, words)
    return (start, end) if verdict == 1 else (-1, verdict)


@inner
def _is_public(address: int, facts: Facts) -> bool:
    is_public = True
    for network in range(NETWORKS, facts.size, 2):
        is_public &= address & facts[network + 1] != facts[network]
    return is_public


@inner
def _after_words(text: Text, start: Place, largest: int, value: int, sorts: Sorts, words: NDArray[np.int32]) -> int:
    """What stands before four numbers in the line says: 1 that they are an address, -1 that not, 0 neither."""
    lowest = max(0, start - LOOK_BACK)
    place = start
    while place > lowest and text[place - 1] != _LF:
        place -= 1
    verdict = _by_mark(text, place, start, sorts)
    if largest <= LARGEST_SECTION and _begins_comment(text, place, start, sorts):
        return -1
    if verdict < 1:
        return verdict
    state, said = words[0], 0
    while place < start:
        state = words[(state >> 2) + words[1 + text[place]]]
        said |= state & (VERSION | ADDRESS)
        place += 1
    if said & VERSION:
        return 0
    if largest > SMALL or value in _RESOLVERS:
        return 1
    return 0 if said & ADDRESS else -1


@inner
def _begins_comment(text: Text, lowest: Place, start: Place, sorts: Sorts) -> bool:
    if start - 3 < lowest or not sorts[text[start - 1]] & SPACE:
        return False
    return text[start - 3] == _SLASH and text[start - 2] in (_SLASH, _STAR)


@inner
def _by_mark(text: Text, lowest: Place, start: Place, sorts: Sorts) -> int:
    """The same, of what stands just before them."""
    if start == lowest:
        return 1
    mark = text[start - 1]
    before = sort_at(text, start - 2, sorts) if start - 2 >= lowest else 0
    sign = byte_at(text, start - 2) if start - 2 >= lowest else _LF
    if mark == _DOT:
        return -1
    if mark in (_MINUS, _UNDERSCORE):
        return -1 if before & WORD or sign == _CLOSE else 1
    if mark == _SLASH:
        return -1 if before & WORD or sign == _DOT else 1
    if sorts[mark] & COMPARED:
        return -1 if mark == _EQUALS and before & COMPARED else 1
    if mark == _COLON or sorts[mark] & (WORD | HIGH) or (sorts[mark] & SPACE and sign == _EQUALS):
        return 0
    return 1


@inner
def ipv6(text: Text, start: Place, sorts: Sorts) -> Span:
    if start < 0 or text[start] not in (_TWO, _THREE) or not is_hex(text, start, start + 4, sorts):
        return REFUSED
    place, num_colons, num_shortened, last_colon = start, 0, 0, start
    first, second, group = 0, 0, 0
    while place < text.size and place - start < 48 and sorts[text[place]] & HEX_OR_COLON:
        if text[place] == _COLON:
            num_shortened += last_colon == place - 1
            num_colons += 1
            first, second = (group if num_colons == 1 else first), (group if num_colons == 2 else second)
            last_colon, group = place, 0
        else:
            group = group << 4 | _hex_value(text[place])
            if place - last_colon > 4 and num_colons:
                return REFUSED
        place += 1
    if num_shortened > 1 or num_colons < 2 or num_colons > 7 or (not num_shortened and num_colons < 7):
        return REFUSED
    if last_colon == place - 1 and text[place - 2] != _COLON:
        return REFUSED
    if sort_at(text, place, sorts) & WORD or is_joined(text, start, sorts) or byte_at(text, start - 1) == _COLON:
        return REFUSED
    if not stands_alone_in(text, start, sorts) or _is_nobodys(first, second):
        return REFUSED
    return start, place


@inner
def _hex_value(byte: int) -> int:
    return (byte & 15) + 9 * (byte > _NINE)


@inner
def _is_nobodys(first: int, second: int) -> bool:
    """Of an IPv6 address by its first groups: `curation.secrets.addresses.is_public_ipv6` denies it."""
    if first == 0x2001:
        return second < 0x200 or second == 0xDB8
    return first == 0x2002 or (first == 0x3FFF and second < 0x1000)
