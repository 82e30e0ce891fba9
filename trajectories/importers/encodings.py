"""Which encoding a file is in that is not UTF-8, and what makes UTF-8 of it."""

from __future__ import annotations

import codecs
from typing import Final

_MARKS: Final = {  # UTF-32 first: its mark begins with that of UTF-16
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def wide_encoding(head: bytes) -> str | None:
    """The UTF-16 or UTF-32 that a file begins in, as iconv calls it; None where it is neither.

    It is told by its byte order mark or, without one, by where the zero bytes of Latin letters and signs stand.
    """
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    whole = len(head) // 4
    first, second, third, fourth = (head[place : 4 * whole : 4].count(0) for place in range(4))
    if first == second == whole and fourth < whole:
        return "UTF-32BE"
    if third == fourth == whole and first < whole:
        return "UTF-32LE"
    if first + third > whole and not second + fourth:
        return "UTF-16BE"
    return "UTF-16LE" if second + fourth > whole and not first + third else None


def conversion(encoding: str) -> str:
    """How to mend a file in another encoding."""
    return f"convert it: iconv -f {encoding} -t UTF-8 FILE > NEW_FILE"


def not_utf8(error: UnicodeDecodeError) -> tuple[str, str]:
    """What is wrong with bytes that are not UTF-8, and how to mend them."""
    what = f"not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start}"
    return what, f"if all of it is Latin-1, {conversion('ISO-8859-1')}"
