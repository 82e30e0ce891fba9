"""The rows of the files that benchmarks are published as, each with its number, one after the other.

A row of a table is a value as one of JSON is: an object with a field a column.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from curation.search_settings import ContaminationSettings
from trajectories.errors import DamagedFileError, InputError
from trajectories.importers.encodings import not_utf8
from trajectories.importers.packing import COMPRESSED, DAMAGE, open_packed
from trajectories.model import JsonValue

ID_KEYS: Final = (
    "id",
    "instance_id",
    "task_id",
    "question_id",
    "uid",
    "trajectory_id",
    "episode_id",
    "conversation_id",
)
"""The first of these that a row has names it; without one, its place does."""

_ROWS_AT_ONCE: Final = 64
_LONGEST_FIELD: Final = 2**31 - 1
_QUOTE: Final = 'write fields with delimiters, line ends or quotation marks in them as "a, ""b"""'


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file, unpacked where it is compressed.

    Raises:
        DamagedFileError: it cannot be unpacked.
    """
    is_packed = path.name.lower().endswith(COMPRESSED)
    try:
        with open_packed(path) as file:
            yield file
    except DAMAGE as error:
        if not is_packed:
            raise
        raise DamagedFileError("a benchmark cannot be unpacked", where=str(path), mend="fetch it again") from error


def contents(path: Path) -> bytes:
    """The whole of a file, as `opened` has it."""
    with opened(path) as file:
        return file.read()


def refused_encoding(error: UnicodeDecodeError, where: str) -> InputError:
    """What is said of a file that is not in UTF-8."""
    what, mend = not_utf8(error)
    return InputError(f"a benchmark is {what}", where=where, mend=mend)


def json_lines(path: Path) -> Iterator[tuple[int, JsonValue]]:
    """The lines of a JSONL file that are not blank, by their numbers.

    Raises:
        InputError: one is not JSON in UTF-8.
    """
    with opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, parsed(line, f"{path}, line {number}")


def parsed(text: bytes, where: str) -> JsonValue:
    """A value of JSON.

    Raises:
        InputError: it is none, or not in UTF-8.
    """
    try:
        value: JsonValue = json.loads(text)
    except UnicodeDecodeError as error:
        raise refused_encoding(error, where) from error
    except (ValueError, RecursionError) as error:
        raise InputError("a benchmark is not JSON", where=where, mend=str(error)) from error
    return value


def delimited_rows(path: Path, delimiter: str) -> Iterator[tuple[int, JsonValue]]:
    """The rows of a CSV file below the first, which names their columns, as those of `ID_KEYS`.

    The first is a row like the others where a field of it is long enough to be found, as no name of a column is: some
    benchmarks (MMLU) have no names.

    Raises:
        InputError: a row has more or fewer fields than the first, its quotation marks do not match, or it is not UTF-8.
    """
    records = _records(path, delimiter)
    _, names = next(records, (0, []))
    if any(len(name.split()) >= ContaminationSettings().ngram_words for name in names):
        records = chain([(1, names)], records)
        names = [""] * len(names)
    keys = [name if name in {*ID_KEYS} - {*names[:place]} else str(place) for place, name in enumerate(names)]
    for number, (line, fields) in enumerate(records, start=1):
        if len(fields) != len(keys):
            what = f"a row of a benchmark has {len(fields)} fields, and the first row {len(keys)}"
            raise InputError(what, where=f"{path}, line {line}", mend=_QUOTE)
        yield number, dict(zip(keys, fields, strict=True))


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that have anything in them, each by the line that it begins in."""
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(_decoded_lines(path), delimiter=delimiter, strict=True)
    line = 1
    try:
        for fields in reader:
            if fields:
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"a benchmark is no table: {error}", where=f"{path}, line {line}", mend=_QUOTE) from error


def _decoded_lines(path: Path) -> Iterator[str]:
    with opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise refused_encoding(error, f"{path}, line {number}") from error
            yield from io.StringIO(text, newline="")  # lines may end as on the oldest Macs


def parquet_rows(path: Path) -> Iterator[tuple[int, JsonValue]]:
    """The rows of a Parquet file.

    Raises:
        DamagedFileError: it cannot be read.
    """
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowInvalid, OSError) as error:
        raise DamagedFileError("a benchmark cannot be read", where=str(path), mend="fetch it again") from error
