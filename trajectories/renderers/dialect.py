"""What the terminal emulator does not speak, said in what it does.

The emulator (the vt100 crate) is not xterm in all. Translated for it are: cursor save and restore (``CSI s``,
``CSI u``), the DEC line-drawing character set, going back (``CSI D``, BS) from a full row, the cursor's way home when a
scrolling region is set (``CSI r``), rows that do not wrap (``CSI ? 7 l``), index and next line (``ESC D``, ``ESC E``),
other names of cursor movements (HPA, HPR, VPR) and the repetition of a character (``CSI b``). A character that comes in
two pieces is put together. Any cutting of the byte stream into chunks gives the same picture: what a chunk leaves
unfinished is remembered.

Where it still differs from xterm: it saves no character sets with ESC 7, and knows no single shifts, no national sets
(they show as ASCII), no back tab (``CSI Z``), and no repetition of what is not directly before; a line inserted or
deleted (``CSI L``, ``CSI M``) does not take the cursor to the first column; a full row, after which the next character
wraps, stays one when the cursor moves up or down or a tab is printed, and when characters are inserted, deleted or
erased in it; a wide character that has only one column left wraps even where rows do not.
"""

from __future__ import annotations

import re
from typing import Final

_LONGEST_UNFINISHED: Final = 70
_UNFINISHED: Final = re.compile(
    rb"(?:\x1b(?:\[[\x20-\x3f]{0,64}|[\x20-\x2f]{0,8})"
    rb"|[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)

# Commands to the operating system, other strings, control sequences: as far as they have come.
_COMMAND: Final = rb"[^\x07\x18\x1a\x1b]*(?P<command_end>[\x07\x18\x1a])?"
_STRING: Final = rb"[^\x18\x1a\x1b]*(?P<string_end>[\x18\x1a])?"
_CONTROL: Final = rb"[^\x40-\x7e\x18\x1a\x1b]*(?P<control_end>[\x40-\x7e\x18\x1a])?"
_REST: Final = {b"]": re.compile(_COMMAND), b"P": re.compile(_STRING), b"[": re.compile(_CONTROL)}
_SEQUENCE: Final = re.compile(
    rb"\x1b(?:\]" + _COMMAND + rb"|[PX^_]" + _STRING + rb"|\[" + _CONTROL + rb"|[\x20-\x2f]*[\x30-\x7e]?)"
)

_NOTHING: Final = b"\x1b[~"
"""Ends whatever string it stands in."""
_OUT_OF_FULL_ROW: Final = _NOTHING + b"\b\x1b[C"
"""The cursor stays where it is (but in the first column), and a full row does not wrap the next character."""
_BACKSPACE: Final = re.compile(
    rb"(?P<sequence>\x1b(?:\]" + _COMMAND + rb"|[PX^_]" + _STRING + rb"|\[?[\x08\x20-\x3f]*))|\x08"
)
_TRANSLATED: Final = re.compile(
    rb"\x1b(?:\[(?P<first>\d{0,12})(?:;(?P<second>\d{0,12}))?(?P<end>[Daer`])|(?P<escape>[DE]))"
)
_OTHER_NAMES: Final = {b"a": b"C", b"e": b"B", b"`": b"G"}
_REPEAT: Final = re.compile(rb"\x1b\[(\d{0,12})b")
_MOST_REPEATED: Final = 1000
_KINDS: Final = {b"]": b"]", b"[": b"[", **dict.fromkeys((b"P", b"X", b"^", b"_"), b"P")}
_TEXT: Final = re.compile(rb"[^\x00-\x1f\x7f]")
_LAST_CHARACTER: Final = re.compile(rb"(?:[\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3})\Z")

_MODE_SWITCH: Final = re.compile(rb"[\x0e\x0f]|\x1b[()]|\x1bc|\x1b\[!p|\x1b\[\?(?:\d+;)*7(?:;\d+)*[hl]")
_TOKEN: Final = re.compile(
    rb"(?P<sequence>" + _SEQUENCE.pattern + rb")"
    rb"|(?P<shift>[\x0e\x0f])|(?P<control>[\x00-\x1f\x7f])|(?P<text>[^\x00-\x1f\x7f]+)"
)
_MODE: Final = re.compile(
    rb"\x1b(?P<slot>[()])(?P<charset>[\x20-\x7e]+)|(?P<reset>\x1bc|\x1b\[!p)|\x1b\[\?(?P<modes>[\d;]+)(?P<on>[hl])"
)
_LEAVES_CURSOR: Final = re.compile(
    rb"\x1b(?:\[[\x20-\x3f]*[JKXm~]|\[\?(?:1|7|12|25|2004)(?:;(?:1|7|12|25|2004))*[hl]|[\]PX^_()\\].*)", re.DOTALL
)
_MARK: Final = rb"\xcc[\x80-\xbf]|\xcd[\x80-\xaf]|\xe2\x80\x8d|\xef\xb8[\x80-\x8f]"
_BEGINS_WITH_MARK: Final = re.compile(_MARK)
_CHARACTER: Final = re.compile(rb"(?:[\xc2-\xf4][\x80-\xbf]+|[^\x00-\x1f\x7f])(?:" + _MARK + rb")*")
_DRAWABLE: Final = re.compile(rb"[_-~]")
# The DEC Special Graphics set, from 0x5F to 0x7E (VT220 Programmer Reference Manual, table 2-4).
_LINE_DRAWING: Final = dict(zip(range(0x5F, 0x7F), " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))


class Dialect:
    """A stream filter between a program's output and the emulator."""

    def __init__(self) -> None:
        self._held = b""
        self._open = b""
        """The kind of sequence that the stream so far ends inside of: a key of ``_REST``."""
        self._last = b""
        """The character that the stream so far ends with, where it does."""
        self._drawing = {b"(": False, b")": False}
        self._slot = b"("
        self._wraps = True
        self._may_be_full = False
        """The row may be full: a character was printed, and the cursor has not moved since."""

    def translate(self, data: bytes) -> bytes:
        """The bytes to feed next; an unfinished sequence at the end waits for the next call."""
        data = self._held + data
        unfinished = _UNFINISHED.search(data, max(0, len(data) - _LONGEST_UNFINISHED))
        cut = unfinished.start() if unfinished else len(data)
        data, self._held = data[:cut], data[cut:]
        rest, data = self._parted(data)
        if data:
            repeated = self._repeated(data)
            rest += self._translated(repeated).replace(b"\x1b[s", b"\x1b7").replace(b"\x1b[u", b"\x1b8")
            self._note_end(repeated)
            self._last = _character_before(data, len(data))
        return rest

    def _translated(self, data: bytes) -> bytes:
        translated = _TRANSLATED.sub(_translate, data)
        if b"\b" in data:
            translated = _BACKSPACE.sub(_back, translated)
        if not self._wraps or self._drawing[self._slot] or _MODE_SWITCH.search(data):
            translated = _TOKEN.sub(self._translate_token, translated)
        return translated

    def _parted(self, data: bytes) -> tuple[bytes, bytes]:
        """The rest of a sequence that was begun before, and what follows it."""
        if not (self._open and data):
            return b"", data
        rest = _REST[self._open].match(data)
        assert rest is not None, "the patterns match the empty string"
        if rest.end() < len(data) or rest[1]:
            self._open = b""
        return data[: rest.end()], data[rest.end() :]

    def _note_end(self, data: bytes) -> None:
        """What must be known of the stream so far once the next chunk comes."""
        begun = data.rfind(b"\x1b")
        sequence = _SEQUENCE.match(data, begun) if begun >= 0 else None
        text_from = sequence.end() if sequence else 0
        if self._wraps:
            self._may_be_full = len(data) > text_from and _TEXT.match(data, len(data) - 1) is not None
        if sequence is not None and text_from == len(data) and not sequence.lastgroup:
            self._open = _KINDS.get(data[begun + 1 : begun + 2], b"")

    def _repeated(self, data: bytes) -> bytes:
        """Each character that is to be repeated, so many times more."""

        def repeat(asked: re.Match[bytes]) -> bytes:
            character = self._last if asked.start() == 0 else _character_before(data, asked.start())
            return asked[0] + character * min(int(asked[1] or 1) or 1, _MOST_REPEATED)

        return _REPEAT.sub(repeat, data)

    def _translate_token(self, token: re.Match[bytes]) -> bytes:
        """Draw lines, and have what comes after the last character of a row that does not wrap stand in its place."""
        piece, wrapped = token[0], self._wraps
        if token["sequence"]:
            self._set_modes(piece)
        elif token["shift"]:
            self._slot = b")" if piece == b"\x0e" else b"("
        elif token["text"] and self._drawing[self._slot]:
            piece = _DRAWABLE.sub(_drawn, piece)
        if wrapped and self._wraps:
            self._may_be_full = token["text"] is not None
            return piece
        return self._without_wrap(piece, token)

    def _without_wrap(self, piece: bytes, token: re.Match[bytes]) -> bytes:
        if token["shift"] or _LEAVES_CURSOR.fullmatch(piece):
            return piece
        was_full, self._may_be_full = self._may_be_full, token["text"] is not None
        if token["text"]:
            was_full = was_full and not _BEGINS_WITH_MARK.match(piece)
            piece = _OUT_OF_FULL_ROW.join(_CHARACTER.findall(piece))
        return _OUT_OF_FULL_ROW + piece if was_full else piece

    def _set_modes(self, sequence: bytes) -> None:
        mode = _MODE.fullmatch(sequence)
        if mode is None:
            return
        if mode["slot"]:
            self._drawing[mode["slot"]] = mode["charset"] == b"0"
        elif mode["reset"]:
            self._drawing = dict.fromkeys(self._drawing, False)
            self._slot = b"("
            self._wraps = True
        elif b"7" in mode["modes"].split(b";"):
            self._wraps = mode["on"] == b"h"


def _character_before(data: bytes, end: int) -> bytes:
    """The character that stands directly before ``end``; nothing where something else does."""
    begun = data.rfind(b"\x1b", 0, end)
    sequence = _SEQUENCE.match(data, begun, end) if begun >= 0 else None
    character = _LAST_CHARACTER.search(data, max(sequence.end() if sequence else 0, end - 4), end)
    return character[0] if character else b""


def _translate(sequence: re.Match[bytes]) -> bytes:
    """One sequence in the emulator's words, which keep its ESC: that ends whatever string it stands in."""
    if sequence["escape"]:
        return sequence[0] + (b"\n" if sequence["escape"] == b"D" else b"\r\n")
    first, second, end = sequence["first"], sequence["second"], sequence["end"]
    if end == b"r":
        is_region = not second or int(second) == 0 or int(first or 1) < int(second)
        return sequence[0] + b"\x1b[H" if is_region else _NOTHING
    if second is not None:
        return sequence[0]
    return _OUT_OF_FULL_ROW + sequence[0] if end == b"D" else b"\x1b[" + first + _OTHER_NAMES[end]


def _back(found: re.Match[bytes]) -> bytes:
    return found[0] if found["sequence"] else _OUT_OF_FULL_ROW + b"\b"


def _drawn(character: re.Match[bytes]) -> bytes:
    return _LINE_DRAWING[character[0][0]].encode()
