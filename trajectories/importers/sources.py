"""Reading JSON that others wrote: lines, arrays, tables and single documents, one row in memory at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from trajectories.importers.base import Imported, NoTrajectory, Result
from trajectories.importers.encodings import conversion, wide_encoding
from trajectories.importers.json_arrays import array_elements
from trajectories.importers.json_text import RepeatedKeyError, parse, why_unreadable
from trajectories.importers.packing import DAMAGE, open_packed
from trajectories.importers.problems import ContradictionError, Problem, UnreadableError
from trajectories.importers.tables import TABLE, table_rows
from trajectories.importers.values import Object, as_object
from trajectories.model import JsonValue, canonical_json

MAX_ROW_BYTES: Final = 256 * 2**20
"""A row, or a document that is one trajectory, is read whole; beyond this size it is refused."""
_SNIFFED_BYTES: Final = 4096
_SNIFFED_LINE_BYTES: Final = 2**20
_BEFORE_JSON: Final = b"\xef\xbb\xbf \t\r\n"
_POINTERS: Final = {b"version https://git-lfs": "git lfs pull", b"/annex/objects/": "git annex get"}


class Layout(StrEnum):
    """How a JSON file holds its rows."""

    LINES = "lines"
    ARRAY = "array"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON value of a source; ``number`` counts lines or elements from 1, and is None for a whole document."""

    file: str
    number: int | None
    layout: Layout
    value: JsonValue
    digest: str

    @property
    def place(self) -> str:
        return self.file if self.number is None else f"{self.file}:{self.number}"

    def problem(self, reason: str) -> Problem:
        return Problem(self.file, self.number, reason)


def read_rows(path: Path, max_bytes: int | None = None) -> Iterator[Row | Problem]:
    """The JSON values of a file, in order: of its lines, of the array or table it is, or the one document it is.

    Compressed files are read as what they hold. The digest covers the value and its number, so equal rows of a file
    differ in it. A row of more than ``max_bytes`` (by default ``MAX_ROW_BYTES``) is a problem.

    Raises ``UnreadableError`` where nothing can be read.
    """
    max_bytes = max_bytes or MAX_ROW_BYTES
    if path.suffix.lower() == TABLE:
        yield from _table(path)
        return
    with opened(path) as file:
        layout = _layout(file)
    with opened(path) as file:  # again and not rewound: a zstd stream cannot go back
        if layout is Layout.LINES:
            yield from _lines(path, file, max_bytes)
        elif layout is Layout.ARRAY:
            yield from _elements(path, file, max_bytes)
        else:
            yield _document(path, file, max_bytes)


def each_row(path: Path, build: Callable[[Row], Imported | NoTrajectory]) -> Iterator[Result]:
    """What ``build`` makes of each row of a file; a row that it refuses is a problem, and the rest goes on."""
    for row in read_rows(path):
        yield row if isinstance(row, Problem) else built(row, build)


def built(row: Row, build: Callable[[Row], Imported | NoTrajectory]) -> Result:
    """What ``build`` makes of a row, or why it makes nothing of it."""
    try:
        return build(row)
    except UnreadableError as error:
        return row.problem(str(error))
    except RecursionError:
        return row.problem("it is nested too deep")


class Session(Protocol):
    """A trajectory that is put together line by line."""

    num_read: int
    """What has been read that makes it a trajectory at all."""

    def add(self, line: Object, /) -> None:
        """Raises ``UnreadableError`` for what is no line of such a session."""
        ...

    def imported(self, source: Path, digest: str) -> Imported: ...


def one_session(source: Path, rows: Iterable[Row | Problem], session: Session, *, line: str) -> Iterator[Result]:
    """The one trajectory that a source is, if it is any. Rows that cannot be read are problems, and the rest counts,
    unless the source contradicts itself.

    ``line`` is what one of its rows is called: ``a line``, ``an event``.
    """
    digest = hashlib.sha256()
    for row in rows:
        if isinstance(row, Problem):
            yield row
            continue
        digest.update(row.digest.encode())
        try:
            session.add(as_object(row.value, line))
        except ContradictionError as error:
            yield row.problem(str(error))
            return
        except UnreadableError as error:
            yield row.problem(str(error))
    if session.num_read:
        yield session.imported(source, digest.hexdigest())


def read_document(path: Path) -> Row:
    """The one JSON value that a file is."""
    with opened(path) as file:
        return _document(path, file, MAX_ROW_BYTES)


class EmptyFileError(UnreadableError):
    """There is nothing in a file."""


@contextmanager
def opened(path: Path, *, in_any_encoding: bool = False) -> Iterator[BinaryIO]:
    """A file to read, unpacked.

    Raises ``UnreadableError`` where it is missing, empty, a pointer, or damaged, and, unless it may be
    ``in_any_encoding``, where it is UTF-16 or UTF-32.
    """
    try:
        with open_packed(path) as file:
            head = file.read(_SNIFFED_BYTES)
        _refuse_pointer(path, head)
        if not head.strip() and len(head) < _SNIFFED_BYTES:
            raise EmptyFileError("the file is empty", where=str(path))
        if not in_any_encoding and (encoding := wide_encoding(head)):
            raise UnreadableError(f"not UTF-8, but {encoding}", where=str(path), mend=conversion(encoding))
        with open_packed(path) as file:
            yield file
    except FileNotFoundError as error:
        raise UnreadableError("there is no such file", where=str(path), mend="check the path") from error
    except DAMAGE as error:
        raise UnreadableError(f"the file cannot be read: {error}", where=str(path)) from error


def _refuse_pointer(path: Path, head: bytes) -> None:
    for beginning, command in _POINTERS.items():
        if head.startswith(beginning):
            raise UnreadableError(
                "a Git pointer stands in the place of the data", where=str(path), mend=f"run: {command}"
            )


def _layout(file: BinaryIO) -> Layout:
    """Lines where the first line that is not blank is a JSON value and something follows it."""
    line = _line_with_something(file)
    begins_array = line.lstrip(_BEFORE_JSON).startswith(b"[")
    whole = Layout.ARRAY if begins_array else Layout.DOCUMENT
    if len(line) == _SNIFFED_LINE_BYTES and not line.endswith(b"\n"):
        # Too long to be parsed for this alone.
        return Layout.LINES if _next_line_begins_alike(file, line) else whole
    if _parsed(line) is None:
        return Layout.LINES if not begins_array and _looks_like_lines(file) else whole
    return Layout.LINES if _line_with_something(file) else whole


def _line_with_something(file: BinaryIO) -> bytes:
    """The next line that is not blank, or its beginning; empty at the end of the file."""
    while (line := file.readline(_SNIFFED_LINE_BYTES)) and not line.strip():
        pass
    return line


def _next_line_begins_alike(file: BinaryIO, line: bytes) -> bool:
    while (rest := file.readline(_SNIFFED_LINE_BYTES)) and not rest.endswith(b"\n"):
        pass
    following = _line_with_something(file)
    return bool(following) and following.lstrip()[:1] == line.lstrip(_BEFORE_JSON)[:1]


def _looks_like_lines(file: BinaryIO) -> bool:
    """Whether the line after a broken one is a JSON object or array of its own, as no line of one document is."""
    line = file.readline(_SNIFFED_LINE_BYTES)
    return isinstance(_parsed(line), dict | list) and len(line.strip()) > len("[]")


def _parsed(line: bytes) -> JsonValue:
    """The value of a line; None for what is no JSON. That a key is there twice does not matter here."""
    try:
        return parse(line)
    except RepeatedKeyError:
        return {}
    except ValueError:
        return None


def _lines(path: Path, file: BinaryIO, max_bytes: int) -> Iterator[Row | Problem]:
    number = 0
    while line := file.readline(max_bytes):
        number += 1
        if len(line) == max_bytes and not line.endswith(b"\n"):
            while (rest := file.readline(max_bytes)) and not rest.endswith(b"\n"):
                pass
            yield Problem(str(path), number, f"the line is longer than {max_bytes >> 20} MiB")
        elif line.strip():
            try:
                value = parse(line)
            except ValueError as error:
                yield Problem(str(path), number, *why_unreadable(error))
            else:
                digest = _digest(number, line.strip())
                del line  # it may be large, and its value is at work from here on
                yield Row(str(path), number, Layout.LINES, value, digest)


def _elements(path: Path, file: BinaryIO, max_bytes: int) -> Iterator[Row | Problem]:
    number = 0
    try:
        for number, value in enumerate(array_elements(file, max_bytes), 1):
            if isinstance(value, RepeatedKeyError):
                yield Problem(str(path), number, f"not JSON: {value}")
                continue
            text = canonical_json(value).encode(errors="surrogatepass")
            yield Row(str(path), number, Layout.ARRAY, value, _digest(number, text))
    except ValueError as error:
        what, mend = why_unreadable(error)
        if number == 0:
            raise UnreadableError(what, where=str(path), mend=mend) from error
        yield Problem(str(path), number + 1, f"from here on {what}", mend)


def _table(path: Path) -> Iterator[Row | Problem]:
    for row in table_rows(path):
        if isinstance(row, Problem):
            yield row
            continue
        number, value = row
        text = canonical_json(value).encode(errors="surrogatepass")
        yield Row(str(path), number, Layout.LINES, value, _digest(number, text))


def _document(path: Path, file: BinaryIO, max_bytes: int) -> Row:
    content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise UnreadableError(f"the document is larger than {max_bytes >> 20} MiB", where=str(path))
    try:
        value = parse(content)
    except ValueError as error:
        what, mend = why_unreadable(error)
        raise UnreadableError(what, where=str(path), mend=mend) from error
    return Row(str(path), None, Layout.DOCUMENT, value, hashlib.sha256(content).hexdigest())


def _digest(number: int, content: bytes) -> str:
    digest = hashlib.sha256(b"%d\n" % number)
    digest.update(content)
    return digest.hexdigest()
