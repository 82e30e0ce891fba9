"""The elements of a JSON array of any size, one at a time, by the standard library's fast decoder."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import BinaryIO, Final

from trajectories.importers.json_text import DECODER, TOLERANT_DECODER, RepeatedKeyError
from trajectories.model import JsonValue

_CHUNK_BYTES: Final = 2**20
_LONGEST_TOKEN: Final = 16
"""An error further than this from the end of what was read is no token that was cut off."""
_BLANK: Final = " \t\r\n"


def array_elements(file: BinaryIO, max_bytes: int) -> Iterator[JsonValue | RepeatedKeyError]:
    """The elements of the array that ``file`` is; of one that has a key twice, the error.

    Raises ``ValueError`` where it is no array, or an element is not JSON or longer than ``max_bytes``: what follows
    cannot be found then.
    """
    window = _Window(file, max_bytes)
    if window.next_character() != "[":
        raise ValueError("it is not an array")
    window.skip(1)
    if window.next_character() == "]":
        return
    while True:
        yield window.value()
        separator = window.next_character()
        window.skip(1)
        if separator == "]":
            break
        if separator != ",":
            raise ValueError(f"',' or ']' expected, not {separator!r}" if separator else "the array has no end")
    if window.next_character():
        raise ValueError("something follows the array")


class _Window:
    """The part of a file's text that has been read and not been used."""

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self._file, self._max_bytes = file, max_bytes
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text = ""
        self._at = 0
        self._ended = False

    def next_character(self) -> str:
        """The next character that is not blank, not used up; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._read(_CHUNK_BYTES)

    def skip(self, count: int) -> None:
        self._at += count

    def value(self) -> JsonValue | RepeatedKeyError:
        """The JSON value that begins here. More is read, each time as much again, while it may have been cut off."""
        self.next_character()
        while (found := self._decoded()) is None:
            size = len(self._text) - self._at
            if size > self._max_bytes:
                raise ValueError(f"an element is longer than {self._max_bytes >> 20} MiB")
            self._read(max(_CHUNK_BYTES, size))
        value, self._at = found
        return value

    def _decoded(self) -> tuple[JsonValue | RepeatedKeyError, int] | None:
        """The value that begins here, and where it ends; None where it may go on beyond what has been read."""
        try:
            value, end = _decoded_at(self._text, self._at)
        except json.JSONDecodeError as error:
            if self._ended or not self._may_be_cut(error):
                raise
            return None
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        # A number that ends where the text ends may go on.
        return (value, end) if end < len(self._text) or self._ended else None

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos > len(self._text) - _LONGEST_TOKEN

    def _read(self, num_bytes: int) -> None:
        chunk = self._file.read(num_bytes)
        self._ended = not chunk
        self._text = self._text[self._at :] + self._decode(chunk, final=self._ended)
        self._at = 0


def _decoded_at(text: str, at: int) -> tuple[JsonValue | RepeatedKeyError, int]:
    """A value, or the error that it has a key twice, and where it ends."""
    try:
        return DECODER.raw_decode(text, at)
    except RepeatedKeyError as error:
        _, end = TOLERANT_DECODER.raw_decode(text, at)
        return error, end
