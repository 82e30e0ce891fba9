"""Collections as JSON: lines, arrays, single documents, compressed or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from trajectories.importers.corpus.columns import Columns
from trajectories.importers.corpus.documents import Document
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.sources import read_rows
from trajectories.importers.values import as_object

_ROW_PER_TEXT: Final = 4
"""A row may be so much larger than the longest text: escapes take room, and other columns do."""


def json_documents(path: Path, columns: Columns, collection: str) -> Iterator[Document | Problem]:
    """A document a row; a row that is none is a problem."""
    for row in read_rows(path, _ROW_PER_TEXT * columns.settings.max_document_bytes):
        if isinstance(row, Problem):
            yield row
            continue
        try:
            yield columns.document(as_object(row.value, "the row"), row.file, row.number or 1, collection)
        except UnreadableError as error:
            yield row.problem(str(error))
