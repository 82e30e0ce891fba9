"""The texts of an Arrow column as compiled code reads them: where they lie, without a string being made."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Text: TypeAlias = NDArray[np.uint8]
Ends: TypeAlias = NDArray[np.int64]


class Texts(NamedTuple):
    """Texts one after the other: their UTF-8 bytes, and Arrow offsets, one more than texts.

    Text i is ``text[ends[i] : ends[i + 1]]``.
    """

    text: Text
    ends: Ends


def buffers_of(array: pa.Array) -> Texts:
    """The texts of a ``string`` or ``large_string`` array as they are, not copied; a null is whatever lies there."""
    _, offsets, data = array.buffers()
    offset_type = np.int32 if array.type == pa.string() else np.int64
    ends = np.frombuffer(offsets, dtype=offset_type)[array.offset : array.offset + len(array) + 1]
    return Texts(np.frombuffer(data if data is not None else b"", dtype=np.uint8), ends.astype(np.int64))


def in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    """The column as one array; copied only where it has several chunks, or none."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
