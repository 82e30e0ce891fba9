"""What a user says of a text collection."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MAX_DOCUMENT_BYTES: Final = 16 * 2**20
"""A document is one observation; a larger one is a problem, for the user to divide."""


class Field(StrEnum):
    """What a collection is about; its documents' domain is ``corpus-FIELD``."""

    INDUSTRIAL_CONTROL = "industrial-control"
    CYBERSECURITY = "cybersecurity"
    LAW = "law"
    MEDICINE = "medicine"
    FINANCE = "finance"
    ENCYCLOPAEDIA = "encyclopaedia"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSettings:
    """The settings of an import of texts; ``corpus.Corpus(settings)`` is the importer.

    The keys name columns where the usual names are not what a collection has; ``meta.key`` is the column ``key`` of
    the column ``meta``.
    """

    field: Field = Field.OTHER
    source: str = ""
    """The collection's name; by default what its documents say, else the name of the file or folder."""
    text_key: str | None = None
    title_key: str | None = None
    id_key: str | None = None
    date_key: str | None = None
    licence_key: str | None = None
    source_key: str | None = None
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    """Of a document's text, in UTF-8."""

    @property
    def domain(self) -> str:
        return f"corpus-{self.field}"
