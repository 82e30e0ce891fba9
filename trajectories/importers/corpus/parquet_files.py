"""Collections as Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trajectories.importers.corpus.columns import Columns
from trajectories.importers.corpus.documents import Document
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.tables import column_names, table_rows


def parquet_documents(path: Path, columns: Columns, collection: str) -> Iterator[Document | Problem]:
    """A document a row; a row that is none is a problem. Columns that are of no use are not even read.

    Raises ``UnreadableError`` where the file is no Parquet, or has no column of a text.
    """
    names = column_names(path)
    columns.check(names)
    used = columns.used(names)
    dropped = [f"row.{name}" for name in names if name not in used]
    for row in table_rows(path, used):
        if isinstance(row, Problem):
            yield row
            continue
        number, value = row
        try:
            document = columns.document(value, str(path), number, collection)
        except UnreadableError as error:
            yield Problem(str(path), number, error.what)
            continue
        for name in dropped:
            document.loss.drop(name)
        yield document
