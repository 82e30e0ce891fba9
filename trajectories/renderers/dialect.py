"""What the terminal emulator does not speak, said in what it does: cursor save and restore, and line drawing.

The emulator (the vt100 crate) knows neither ``CSI s`` / ``CSI u`` nor the DEC line-drawing character set, and may lose
what follows a character that comes in two pieces. Any cutting of the byte stream into chunks gives the same picture:
what a chunk leaves unfinished is remembered.

Not supported: saving the character sets with ESC 7, single shifts, and national sets (they show as ASCII).
"""

from __future__ import annotations

import re
from typing import Final

_UNFINISHED: Final = re.compile(
    rb"(?:\x1b(?:\[!?|[\x20-\x2f]{0,8})|[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
_LONGEST_UNFINISHED: Final = 9
_CHARSET_SWITCH: Final = re.compile(rb"[\x0e\x0f]|\x1b[()]|\x1bc|\x1b\[!p")
_PIECE: Final = re.compile(
    rb"(?P<shift>[\x0e\x0f])"
    rb"|\x1b(?P<slot>[()])(?P<charset>[\x20-\x7e])"
    rb"|(?P<reset>\x1bc|\x1b\[!p)"
    rb"|(?P<csi>\x1b\[[\x20-\x3f]*)(?P<csi_end>[\x40-\x7e])?"
    rb"|\x1b[\x20-\x2f]{0,8}[\x30-\x7e]?"
    rb"|(?P<text>[^\x0e\x0f\x1b]+)"
)
_REST_OF_CSI: Final = re.compile(rb"[\x20-\x3f]*([\x40-\x7e])?")
_DRAWABLE: Final = re.compile(rb"[_-~]")
# The DEC Special Graphics set, from 0x5F to 0x7E (VT220 Programmer Reference Manual, table 2-4).
_LINE_DRAWING: Final = dict(zip(range(0x5F, 0x7F), " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))


class Dialect:
    """A stream filter between a program's output and the emulator."""

    def __init__(self) -> None:
        self._held = b""
        self._inside_csi = False
        self._drawing = {b"(": False, b")": False}
        self._slot = b"("

    def translate(self, data: bytes) -> bytes:
        """The bytes to feed next; an unfinished sequence at the end waits for the next call."""
        data = self._held + data
        unfinished = _UNFINISHED.search(data, max(0, len(data) - _LONGEST_UNFINISHED))
        cut = unfinished.start() if unfinished else len(data)
        data, self._held = data[:cut], data[cut:]
        if self._drawing[self._slot] or _CHARSET_SWITCH.search(data):
            data = self._translate_charsets(data)
        return data.replace(b"\x1b[s", b"\x1b7").replace(b"\x1b[u", b"\x1b8")

    def _translate_charsets(self, data: bytes) -> bytes:
        pieces = []
        start = 0
        if self._inside_csi:
            rest = _REST_OF_CSI.match(data)
            assert rest is not None, "the pattern matches the empty string"
            self._inside_csi = rest.end() == len(data) and rest[1] is None
            pieces.append(rest[0])
            start = rest.end()
        pieces.extend(self._translate_piece(piece) for piece in _PIECE.finditer(data, start))
        return b"".join(pieces)

    def _translate_piece(self, piece: re.Match[bytes]) -> bytes:
        if piece["text"]:
            return _DRAWABLE.sub(_drawn, piece[0]) if self._drawing[self._slot] else piece[0]
        if piece["shift"]:
            self._slot = b")" if piece["shift"] == b"\x0e" else b"("
        elif piece["slot"]:
            self._drawing[piece["slot"]] = piece["charset"] == b"0"
        elif piece["reset"]:
            self._drawing = dict.fromkeys(self._drawing, False)
            self._slot = b"("
        elif piece["csi"] and not piece["csi_end"] and piece.end() == len(piece.string):
            self._inside_csi = self._drawing[self._slot]
        return piece[0]


def _drawn(character: re.Match[bytes]) -> bytes:
    return _LINE_DRAWING[character[0][0]].encode()
