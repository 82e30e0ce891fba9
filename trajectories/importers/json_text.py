"""JSON as others write it, into values that our own JSON can hold again; one error, ``ValueError``, for all else."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final, cast

from trajectories.model import JsonValue


class NumberAsWritten(str):
    """A number that JSON cannot hold, as the string it was written as: loss reports tell it from other strings."""

    __slots__ = ()


def _number(text: str) -> float | str:
    """A number too large for a float stays what it was written as: JSON has no infinity."""
    value = float(text)
    return value if math.isfinite(value) else NumberAsWritten(text)


DECODER: Final = json.JSONDecoder(parse_float=_number, parse_constant=NumberAsWritten)
"""``NaN`` and ``Infinity``, which are no JSON, become strings."""


def parse(content: bytes | str) -> JsonValue:
    """A JSON value. Raises ``ValueError`` for what is none, is not UTF-8, or is nested too deep."""
    text = content if isinstance(content, str) else content.decode("utf-8-sig")
    try:
        return cast("JsonValue", DECODER.decode(text))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


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
