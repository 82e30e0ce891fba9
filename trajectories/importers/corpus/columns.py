"""Rows as documents: which column holds what, by the names that collections usually give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from trajectories.importers.corpus.documents import Document, as_date
from trajectories.importers.corpus.settings import CorpusSettings
from trajectories.importers.json_text import parse
from trajectories.importers.loss import LossReport
from trajectories.importers.problems import UnreadableError
from trajectories.importers.values import Object, as_text, plain
from trajectories.model import JsonValue

_TEXT: Final = (
    "text",
    "content",
    "contents",
    "body",
    "document",
    "article",
    "raw_content",
    "page_content",
    "full_text",
)
_TITLE: Final = ("title", "headline", "document_title", "page_title", "name", "heading")
_ID: Final = ("id", "_id", "doc_id", "docid", "document_id", "uuid", "guid", "pmid", "identifier")
_DATE: Final = (
    *("date", "published", "published_at", "date_published", "publication_date", "pub_date"),
    *("created", "created_at", "timestamp", "year"),
)
_LICENCE: Final = ("licence", "license")
_SOURCE: Final = ("source",)
_URL: Final = ("url", "uri", "source_url", "link")
_NESTED: Final = ("metadata", "meta")
_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Columns:
    """Finds in rows what makes a document.

    A name that the user gives is taken as it is; the usual ones in any case, also within ``metadata`` or ``meta``
    (but for the text), and the first that holds something counts.
    """

    settings: CorpusSettings

    def used(self, names: Iterable[str]) -> list[str]:
        """Those of the columns of a table that can be of use."""
        given = (getattr(self.settings, f"{role}_key") for role in ("text", "title", "id", "date", "licence", "source"))
        wanted = {key.partition(".")[0] for key in given if key} | {key for key in given if key}
        usual = {*_TEXT, *_TITLE, *_ID, *_DATE, *_LICENCE, *_SOURCE, *_URL, *_NESTED}
        return [name for name in names if name in wanted or name.lower() in usual]

    def check(self, names: Sequence[str]) -> None:
        """Raises ``UnreadableError`` where a table of these columns has none of a text."""
        key = self.settings.text_key
        found = key in names or key.partition(".")[0] in names if key else any(name.lower() in _TEXT for name in names)
        if not found:
            raise _without_text(names)

    def document(self, row: Object, file: str, number: int | None, collection: str) -> Document:
        """Raises ``UnreadableError`` where the row contradicts itself or has no column of a text."""
        fields = _Fields(row, "row")
        text = self._text(fields)
        document = self._described(fields, text, file, number)
        origin = self.settings.source or document.source or collection
        return replace(
            document,
            title=document.title or _first_heading(text),
            fallback_title=document.document_id or document.url or f"{origin}, document {number}",
        )

    def described(self, front_matter: Object, text: str, file: str) -> Document:
        """A text of which front matter says the rest. Raises ``UnreadableError`` where that contradicts itself."""
        return self._described(_Fields(front_matter, "front matter"), text, file, None)

    def _described(self, fields: _Fields, text: str, file: str, number: int | None) -> Document:
        settings = self.settings
        document = Document(
            file=file,
            number=number,
            text=text,
            fallback_title="",
            title=_scalar(fields, settings.title_key, _TITLE),
            document_id=_scalar(fields, settings.id_key, _ID),
            date=_date(fields, settings.date_key),
            licence=_licence(fields, settings.licence_key),
            source=_scalar(fields, settings.source_key, _SOURCE),
            url=_scalar(fields, None, _URL),
            loss=fields.loss,
        )
        fields.drop_others()
        return document

    def _text(self, fields: _Fields) -> str:
        key = self.settings.text_key
        if key is not None:
            return as_text(fields.named(key, is_needed=True), f"the text in '{key}'")
        value, name = fields.usual(_TEXT, nested=False)
        if name is None and not any(name in fields.columns for name in _TEXT):
            raise _without_text(fields.columns)
        return as_text(value, f"the text in '{name}'")


class _Fields:
    """The columns of a row and of its metadata, and which of them have been used."""

    def __init__(self, row: Object, what: str) -> None:
        self.loss = LossReport()
        self._row, self._what = row, what
        self.columns: dict[str, str] = {}
        for name in row:
            self.columns.setdefault(name.lower(), name)
        self._nested: dict[str, Object] = {}
        for name in filter(None, map(self.columns.get, _NESTED)):
            inner = _object(row[name])
            if inner is not None:
                self._nested[name] = inner
        self._used: set[str] = set()

    def named(self, key: str, *, is_needed: bool = False) -> JsonValue:
        """What is in the column of that very name, or, where it has a dot, in the column of a column."""
        if key in self._row:
            self._used.add(key)
            return self._row[key]
        outer, _, inner = key.partition(".")
        found = self._nested.get(outer) or _object(self._row.get(outer))
        if inner and found is not None and inner in found:
            self._nested[outer] = found
            self._used.add(key)
            return found[inner]
        if is_needed:
            shown = ", ".join(sorted(self._row)[:_SHOWN]) or "none at all"
            raise UnreadableError(f"the row has no column '{key}', but {shown}")
        return None

    def usual(self, names: Sequence[str], *, nested: bool = True) -> tuple[JsonValue, str | None]:
        """The first that holds something, and its name."""
        for usual in names:
            name = self.columns.get(usual)
            if name is not None and self._row[name] not in (None, ""):
                self._used.add(name)
                return self._row[name], name
        for outer, fields in self._nested.items() if nested else ():
            for name in names:
                if fields.get(name) not in (None, ""):
                    self._used.add(f"{outer}.{name}")
                    return fields[name], f"{outer}.{name}"
        return None, None

    def drop(self, kind: str) -> None:
        self.loss.drop(f"{self._what}.{kind}")

    def drop_others(self) -> None:
        """Note what had no place."""
        for name, fields in self._nested.items():
            inner = {key.removeprefix(f"{name}.") for key in self._used}
            self.loss.drop_fields(f"{self._what}.{name}", fields, inner)
        self.loss.drop_fields(self._what, self._row, self._used | self._nested.keys())


def _without_text(names: Iterable[str]) -> UnreadableError:
    shown = ", ".join(sorted(names)[:_SHOWN]) or "none at all"
    return UnreadableError(f"there is no column of a text, but {shown}", mend="name it with --text-key")


def _object(value: JsonValue) -> Object | None:
    """Metadata: an object, or one as JSON in a string, as tables hold it."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = parse(value)
        except ValueError:
            return None
    return value if isinstance(value, Mapping) else None


def _value(fields: _Fields, key: str | None, names: Sequence[str]) -> tuple[JsonValue, str | None]:
    return (fields.named(key), key) if key is not None else fields.usual(names)


def _scalar(fields: _Fields, key: str | None, names: Sequence[str]) -> str:
    """A name or a number as a string; what is neither is noted."""
    value, name = _value(fields, key, names)
    text = plain(value).strip()
    if not text and value not in (None, ""):
        fields.drop(f"{name} that is no name")
    return text


def _date(fields: _Fields, key: str | None) -> datetime | None:
    value, name = _value(fields, key, _DATE)
    date = as_date(value)
    if date is None and value not in (None, ""):
        fields.drop(f"{name} that is no date")
    return date


def _licence(fields: _Fields, key: str | None) -> str:
    """A licence, or several. Raises ``UnreadableError`` for what is no text."""
    value, name = _value(fields, key, _LICENCE)
    if isinstance(value, list):
        return ", ".join(as_text(item, f"a licence in '{name}'") for item in value)
    return as_text(value, f"the licence in '{name}'")


def _first_heading(text: str) -> str:
    """What a text in Markdown begins with."""
    line = text.lstrip()[:1000].partition("\n")[0]
    return line[2:].strip() if line.startswith("# ") else ""
