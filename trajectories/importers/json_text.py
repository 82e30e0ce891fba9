"""JSON as others write it, into values that our own JSON can hold again; one error, ``ValueError``, for all else."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final, cast

from trajectories.importers.encodings import not_utf8
from trajectories.model import JsonValue


class NumberAsWritten(str):
    """A number that JSON cannot hold, as the string it was written as: loss reports tell it from other strings."""

    __slots__ = ()


class BrokenJson(str):
    """Arguments that should be JSON and are none, as the string they were written as."""

    __slots__ = ()


class RepeatedKeyError(ValueError):
    """An object has a key twice: which value is meant is not sure."""


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise RepeatedKeyError(f"an object has the key {twice!r} twice")
    return value


def _number(text: str) -> float | str:
    """A number too large for a float stays what it was written as: JSON has no infinity."""
    value = float(text)
    return value if math.isfinite(value) else NumberAsWritten(text)


def _integer(text: str) -> int | str:
    """A whole number of more digits than Python reads stays what it was written as."""
    try:
        return int(text)
    except ValueError:
        return NumberAsWritten(text)


_DECODER_OF_LONG_NUMBERS: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_number, parse_int=_integer, parse_constant=NumberAsWritten
)


class _Decoder(json.JSONDecoder):
    def raw_decode(self, s: str, idx: int = 0) -> tuple[JsonValue, int]:
        """As it is, but for whole numbers of too many digits: a function for every number takes thrice the time."""
        try:
            return super().raw_decode(s, idx)
        except (json.JSONDecodeError, RepeatedKeyError):
            raise
        except ValueError:
            return _DECODER_OF_LONG_NUMBERS.raw_decode(s, idx)


DECODER: Final = _Decoder(object_pairs_hook=_object, parse_float=_number, parse_constant=NumberAsWritten)
"""``NaN`` and ``Infinity``, which are no JSON, and numbers that are too long become strings."""
TOLERANT_DECODER: Final = json.JSONDecoder(parse_int=str)
"""Takes the last value of a key that is there twice, and any number: it tells where the object ends."""


def parse(content: bytes | str) -> JsonValue:
    """A JSON value. Raises ``ValueError`` for what is none or is nested too deep, and for what is not UTF-8 its
    ``UnicodeDecodeError``; ``why_unreadable`` says them to a person.
    """
    text = content if isinstance(content, str) else content.decode("utf-8-sig")
    try:
        return cast("JsonValue", DECODER.decode(text))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def why_unreadable(error: ValueError) -> tuple[str, str | None]:
    """Why ``parse`` refused something, and how to mend it, if that is known."""
    return not_utf8(error) if isinstance(error, UnicodeDecodeError) else (f"not JSON: {error}", None)


def count_numbers_as_written(value: JsonValue) -> int:
    """How many numbers in a value have become strings; however deep it is nested."""
    count, inside = 0, [value]
    while inside:
        value = inside.pop()
        if isinstance(value, Mapping):
            inside += value.values()
        elif isinstance(value, list | tuple):
            inside += value
        else:
            count += isinstance(value, NumberAsWritten)
    return count
