"""Benchmarks as items of text, from what they are published as: rows, text files, folders of tasks.

The name of the file or folder is the benchmark's *source*. A JSONL, CSV, TSV or Parquet file, and a JSON file that is
a list, have an item a row; any other file is one item. A folder is walked in the order of its names: a folder that
holds a file of `TASK_FILES` is one item, with the texts of all files below it; left out are hidden files, and links and
what is no text in UTF-8, which `unread_files` names. Rows that have the same id are one item: AgentWorldBench repeats a
trajectory in every row of it, and others have a row a turn. Compressed files are read as what they hold.

Every string of a row is a text of its own: a short task is found although the row has much else. A list of strings is
one as well, for they may be the lines of a text. What has no blank in it is none: a URL, a path, the name of a program.
"""

from __future__ import annotations

import codecs
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from curation.contamination.benchmark_rows import (
    ID_KEYS,
    contents,
    delimited_rows,
    json_lines,
    opened,
    parquet_rows,
    parsed,
    refused_encoding,
)
from trajectories.errors import InputError
from trajectories.importers.encodings import conversion, wide_encoding
from trajectories.importers.packing import unpacked_name
from trajectories.model import JsonValue

TASK_FILES: Final = frozenset({"task.yaml", "task.yml", "task.toml", "task.json", "task.md", "instruction.md"})
"""A folder with one of these is a task."""

_LINES: Final = (".jsonl", ".ndjson")
_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_BINARY_PROBE: Final = 8192
_READ_AT_ONCE: Final = 2**20


class BenchmarkItem(NamedTuple):
    """A text of an item; several may belong to one."""

    source: str
    item: str
    text: str


def read_benchmark(path: Path) -> Iterator[BenchmarkItem]:
    """The texts of a benchmark, always in the same order.

    Raises:
        InputError: there is no such file, it is not what its ending says, or not in UTF-8.
        DamagedFileError: a Parquet file or a compressed one cannot be read.
    """
    source = benchmark_name(path)
    if path.is_dir():
        yield from (BenchmarkItem(source, _writable(item), text) for item, text in _folder(path))
        return
    require_benchmark(path)
    _check_begins_as_text(path)
    for item, text in _file(path):
        yield BenchmarkItem(source, _writable(item or path.name), text)


def benchmark_name(path: Path) -> str:
    """What a benchmark is called, and its items' source: the name of its file or folder, wherever that is seen from."""
    return _writable(path.resolve().name)


def _writable(name: str) -> str:
    """A name as a table can hold it: files and rows may have names that are no Unicode text."""
    return name.encode(errors="replace").decode()


def require_benchmark(path: Path) -> None:
    """Raise ``InputError`` where there is neither a file nor a folder."""
    if not path.is_file() and not path.is_dir():
        what = "a benchmark is a file or folder, and this is neither" if path.exists() else "there is no such benchmark"
        raise InputError(what, where=str(path), mend="give a file or a folder")


def unread_files(path: Path) -> list[str]:
    """The files below a folder of which nothing is read, as paths below it, in order: they are links, no text, or not
    in UTF-8.

    None where it is a file. Hidden files and folders are not told: they are not a benchmark's contents.

    Raises:
        DamagedFileError: a compressed file cannot be read.
    """
    files = _walked(path) if path.is_dir() else ()
    return [file.path.relative_to(path).as_posix() for file in files if not file.is_read]


class _File(NamedTuple):
    """What is no folder below one."""

    path: Path
    task: Path | None
    """The folder of the task that it belongs to, if it belongs to one."""
    is_read: bool


def _walked(folder: Path, task: Path | None = None) -> Iterator[_File]:
    """All below a folder that is not hidden, in order."""
    entries = [entry for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    if task is None and any(entry.name in TASK_FILES and _is_plain(entry) for entry in entries):
        task = folder
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            yield from _walked(entry, task)
        else:
            yield _File(entry, task, _is_plain(entry) and _is_readable(entry, in_task=task is not None))


def _is_plain(entry: Path) -> bool:
    """Whether it is a file and no link; what else may lie in a folder (a pipe) may have no end."""
    return entry.is_file() and not entry.is_symlink()


def _folder(top: Path) -> Iterator[tuple[str, str]]:
    """The items of a folder and their texts; those of a task's files are all of one item."""
    for file in _walked(top):
        if not file.is_read:
            continue
        if file.task is not None:
            name = file.task.relative_to(top).as_posix() if file.task != top else top.name
            yield from ((name, text) for text in _texts_of_file(file.path))
        else:
            name = file.path.relative_to(top).as_posix()
            yield from ((f"{name}#{item}" if item else name, text) for item, text in _file(file.path))


def _texts_of_file(path: Path) -> Iterator[str]:
    """The whole of a file, and each string in it where its ending says how to read it: a task may be one of them."""
    try:
        text = contents(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise refused_encoding(error, str(path)) from error
    yield text
    yield from filter(_is_text, _strings_of_file(text, _ending(path)))


def _strings_of_file(text: str, ending: str) -> list[str]:
    """The strings in a file; none where it is not what its ending says."""
    try:
        match ending:
            case ".json":
                return list(_strings(json.loads(text)))
            case ".toml":
                return list(_strings(tomllib.loads(text)))
            case ".yaml" | ".yml":
                # Tokens and not values: aliases may stand for more than memory holds.
                return [token.value for token in yaml.scan(text) if isinstance(token, yaml.ScalarToken)]
    except (ValueError, RecursionError, yaml.YAMLError):
        pass
    return []


def _is_readable(path: Path, *, in_task: bool = False) -> bool:
    """Whether a file is read: a text or, where it is no part of a task, rows. Those of JSON and of tables tell
    themselves where they are not in UTF-8.
    """
    if not in_task and _is_parquet(path):
        return True
    head = _head(path)
    if b"\0" in head or wide_encoding(head):
        return False
    return (not in_task and _ending(path) in (*_LINES, *_DELIMITERS, ".json")) or _is_utf8(path)


def _check_begins_as_text(path: Path) -> None:
    """Raises ``InputError`` for a file that is none of those that are read."""
    if _is_parquet(path):
        return
    head = _head(path)
    if encoding := wide_encoding(head):
        raise InputError(f"a benchmark is not UTF-8, but {encoding}", where=str(path), mend=conversion(encoding))
    if b"\0" in head:
        raise InputError(
            "this is no text",
            where=str(path),
            mend="give JSONL, JSON, CSV, Parquet, text, any but Parquet compressed, or a folder",
        )


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _head(path: Path) -> bytes:
    with opened(path) as file:
        return file.read(_BINARY_PROBE)


def _is_utf8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with opened(path) as file:
            while some := file.read(_READ_AT_ONCE):
                decoder.decode(some)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _ending(path: Path) -> str:
    """What says how to read it, in small letters: of a compressed file, that of what it holds."""
    return Path(unpacked_name(path.name)).suffix.lower()


def _file(path: Path) -> Iterator[tuple[str, str]]:
    """The items of a file; the only one has no name."""
    match _ending(path):
        case ending if ending in _LINES:
            yield from _items(json_lines(path))
        case ending if ending in _DELIMITERS:
            yield from _items(delimited_rows(path, _DELIMITERS[ending]))
        case ".parquet" if _is_parquet(path):
            yield from _items(parquet_rows(path))
        case ".json":
            value = parsed(contents(path), str(path))
            if isinstance(value, list):
                yield from _items(enumerate(value, start=1))
            else:
                yield from (("", text) for text in _texts_of(value))
        case _:
            yield from (("", text) for text in _texts_of_file(path))


def _items(rows: Iterator[tuple[int, JsonValue]]) -> Iterator[tuple[str, str]]:
    for number, row in rows:
        name = _name_of(row) or f"row {number}"
        yield from ((name, text) for text in _texts_of(row))


def _name_of(row: JsonValue) -> str | None:
    if not isinstance(row, dict):
        return None
    named = (row[key] for key in ID_KEYS if row.get(key) not in (None, ""))
    return next((str(value) for value in named if isinstance(value, str | int)), None)


def _texts_of(row: JsonValue) -> list[str]:
    """The texts of a row, but for its id; its names where it has no text, and never none, so that it is an item."""
    if isinstance(row, dict):
        row = {key: inner for key, inner in row.items() if key not in ID_KEYS}
    strings = list(_strings(row))
    return list(filter(_is_text, strings)) or strings or [""]


def _strings(value: object) -> Iterator[str]:
    """Every string in a value, but for the names of its fields; those of a list also as the lines of one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        lines = [inner for inner in value if isinstance(inner, str)]
        if len(lines) > 1 and any(map(_is_text, lines)):
            yield "\n".join(lines)
        for inner in value:
            yield from _strings(inner)


def _is_text(text: str) -> bool:
    """Whether it is more than a name; scripts that are written without blanks are not ASCII."""
    return not text.isascii() or len(text.split(maxsplit=1)) > 1
