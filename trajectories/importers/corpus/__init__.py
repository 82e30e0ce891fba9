"""Texts that people wrote for their profession, as trajectories of one turn under the same loss.

The action asks for a document by its title, the observation is its text. A collection is JSON, Parquet, a folder of
text, Markdown and HTML files, or a name that the ``datasets`` library knows (``datasets:NAME[/CONFIG][:SPLIT]``).
Every row names a licence and a source, and its ``split_group`` is the collection, so that pools can be kept apart.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from trajectories.importers.archives import archive_stem
from trajectories.importers.base import NoTrajectory, Result
from trajectories.importers.corpus.columns import Columns
from trajectories.importers.corpus.documents import Document, as_result
from trajectories.importers.corpus.hub import SCHEME, HubName, hub_documents
from trajectories.importers.corpus.json_files import json_documents
from trajectories.importers.corpus.parquet_files import parquet_documents
from trajectories.importers.corpus.settings import CorpusSettings, Field
from trajectories.importers.corpus.text_files import TEXT_KINDS, text_document
from trajectories.importers.file_names import unpacked_stem
from trajectories.importers.known import KnownKeys
from trajectories.importers.packing import unpacked_name
from trajectories.importers.problems import Problem
from trajectories.importers.tables import TABLE

__all__ = ["SCHEME", "Corpus", "CorpusSettings", "Field", "read", "sources", "within"]

_JSON = (".jsonl", ".ndjson", ".json")


class Corpus:
    """The importer of one collection, with its settings."""

    SCHEME = SCHEME

    def __init__(self, settings: CorpusSettings, folder: Path | None = None) -> None:
        self.settings = settings
        self._columns = Columns(settings)
        self._folder = folder

    def within(self, folder: Path) -> Corpus:
        """The importer of what lies in a folder: together that is one collection."""
        return Corpus(self.settings, folder)

    def sources(self, folder: Path) -> Iterator[Path]:
        """Every file in order, but for archives. Those that are no text, or hidden, are counted when they are read."""
        return _files(folder)

    def read(self, source: Path) -> Iterator[Result]:
        """A trajectory a document. Raises ``UnreadableError`` where nothing of the source can be read."""
        collection = self._collection(source)
        with ExitStack() as stack:
            ids: KnownKeys | None = None
            for document in self._documents(source, collection):
                if not isinstance(document, Document):
                    yield document
                    continue
                if document.document_id and ids is None:
                    ids = stack.enter_context(KnownKeys())
                if document.document_id and ids is not None and _contradicts(document, ids):
                    yield document.problem(f"the id {document.document_id[:100]!r} is there twice, with other texts")
                else:
                    yield as_result(document, self.settings, collection)

    def _documents(self, source: Path, collection: str) -> Iterator[Document | Problem | NoTrajectory]:
        if str(source).startswith(SCHEME):
            return hub_documents(str(source), self._columns, collection)
        if self._folder is not None and source.name.startswith("."):
            return iter([NoTrajectory("hidden folder" if source.is_dir() else "hidden file")])
        name = unpacked_name(source.name).lower()
        if name.endswith(_JSON):
            return json_documents(source, self._columns, collection)
        if name.endswith(TABLE):
            return parquet_documents(source, self._columns, collection)
        if Path(name).suffix in TEXT_KINDS:
            return iter([text_document(source, self._columns)])
        kind = Path(name).suffix[:20]
        return iter([NoTrajectory(f"file that is no text: {f'*{kind}' if kind else 'a name without an ending'}")])

    def _collection(self, source: Path) -> str:
        """What the documents of a source belong to, where neither they nor the user say so."""
        if str(source).startswith(SCHEME):
            return HubName.parse(str(source)).path
        if self._folder is not None:
            return self._folder.absolute().name
        return unpacked_stem(source.name)


def _contradicts(document: Document, ids: KnownKeys) -> bool:
    """Whether another document of the source has the same id."""
    digest = bytes.fromhex(document.digest)
    key = hashlib.sha256(document.document_id.encode(errors="surrogatepass")).digest()[:16]
    return ids.add(key, digest) not in (None, digest)


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder, but for archives: a folder after the other, each in order; a hidden one as it is."""
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if entry.name.startswith("."):
            yield Path(entry.path)
        elif entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path))
        elif entry.is_file() and archive_stem(entry.name) is None:
            yield Path(entry.path)


_default = Corpus(CorpusSettings())
within = _default.within
sources = _default.sources
read = _default.read
