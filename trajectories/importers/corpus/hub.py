"""Collections by name, as the ``datasets`` library knows them: ``datasets:NAME[/CONFIG][:SPLIT]``, row by row.

NAME is ``ORGANISATION/NAME`` on the Hub, or a local folder.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from trajectories.errors import InputError, MissingExtraError
from trajectories.importers.corpus.columns import Columns
from trajectories.importers.corpus.documents import Document
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.tables import plain_row

SCHEME: Final = "datasets:"
_USUAL_SPLIT: Final = "train"


class HubName(NamedTuple):
    """What is named; ``config`` and ``split`` are None where they are not."""

    path: str
    config: str | None
    split: str | None

    @classmethod
    def parse(cls, text: str) -> HubName:
        """Raises ``InputError`` where nothing is named."""
        rest = text.removeprefix(SCHEME)
        name, colon, split = rest.rpartition(":")
        if not colon or "/" in split:
            name, split = rest, ""
        path, config = _divided(name)
        if not path:
            raise InputError("no data set is named", where=text, mend="datasets:NAME[/CONFIG][:SPLIT]")
        return cls(path, config or None, split or None)


def _divided(name: str) -> tuple[str, str]:
    """Name and configuration: of a folder that is here, or ORGANISATION/NAME of the Hub."""
    if Path(name).is_dir():
        return name, ""
    if Path(name).parent.is_dir() and name.startswith((".", "/")):
        return str(Path(name).parent), Path(name).name
    parts = name.split("/", 2)
    return "/".join(parts[:2]), "".join(parts[2:])


def hub_documents(text: str, columns: Columns, collection: str) -> Iterator[Document | Problem]:
    """A document a row; a row that is none is a problem.

    Raises:
        MissingExtraError: the library is not installed.
        UnreadableError: there is no such data set, configuration or split, or it cannot be read.
    """
    number = 0
    try:
        for row in _rows(HubName.parse(text), columns, text):
            number += 1
            yield _document(row, number, columns, text, collection)
    except (InputError, MissingExtraError):
        raise
    except Exception as error:  # it reads any kind of file through any library, and raises what they do
        reason = f"the data set cannot be read: {str(error).partition(chr(10))[0] or type(error).__name__}"
        if number == 0:
            raise UnreadableError(reason, where=text, mend="check its name and the connection") from error
        yield Problem(text, number + 1, reason)


def _document(
    row: Mapping[str, object], number: int, columns: Columns, text: str, collection: str
) -> Document | Problem:
    try:
        return columns.document(plain_row(row), text, number, collection)
    except UnreadableError as error:
        return Problem(text, number, error.what)


def _rows(name: HubName, columns: Columns, text: str) -> Iterator[Mapping[str, object]]:
    library = _library()
    splits = library.load_dataset(name.path, name.config, streaming=True)
    split = name.split or (_USUAL_SPLIT if _USUAL_SPLIT in splits else None) or min(splits, default="")
    if split not in splits or (name.split is None and split != _USUAL_SPLIT and len(splits) > 1):
        what = f"there is no split '{split}'" if name.split else "which split is not said"
        raise InputError(what, where=text, mend=f"there are: {', '.join(map(str, splits))}; name one as …:SPLIT")
    rows = splits[split]
    if rows.column_names:
        rows = rows.select_columns(columns.used(rows.column_names))
    return iter(rows)


def _library() -> Any:
    try:
        import datasets  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise MissingExtraError("corpora", error.name or "datasets") from error
    datasets.disable_progress_bars()
    logging.getLogger("datasets").setLevel(logging.ERROR)
    return datasets
