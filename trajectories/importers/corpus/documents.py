"""A document of a collection as a trajectory of one turn: somebody asks for it, and its text is the answer."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Final
from urllib.parse import urlsplit

from trajectories.importers.base import Imported, NoTrajectory, Recorded, Result
from trajectories.importers.corpus.settings import CorpusSettings, Field
from trajectories.importers.loss import LossReport
from trajectories.importers.problems import Problem
from trajectories.importers.turn_list import TurnList
from trajectories.importers.values import instant
from trajectories.model import Action, JsonValue, Observation, SystemPrompt, canonical_json

AS_TEXT: Final = "corpus-text@1"
"""The renderer of a text that is taken as its collection has it."""

_ABOUT: Final[Mapping[Field, str]] = {
    Field.INDUSTRIAL_CONTROL: "about industrial control systems",
    Field.CYBERSECURITY: "about cybersecurity",
    Field.LAW: "about law",
    Field.MEDICINE: "about medicine",
    Field.FINANCE: "about finance",
    Field.ENCYCLOPAEDIA: "of an encyclopaedia",
    Field.OTHER: "on many subjects",
}
_TASK_DESCRIPTION: Final = """\
The environment is a library of documents {about}. It is asked for one document at a time, and answers with the whole \
text of it and nothing else."""
_ACTION_SPACE: Final = """\
An action is {"name": "read_document", "arguments": {"title": string}}: it asks for the document of that title."""
_NO_LICENCE: Final = frozenset({"", "unknown", "none", "null", "n/a", "na", "unspecified", "other", "?", "-"})
"""What stands in the place of a licence and is none."""
_YEAR: Final = re.compile(r"(\d{4})(?:-(\d{2}))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text, and what its collection says of it; empty is what it does not say."""

    file: str
    number: int | None
    """Of its row, from 1; None where the whole file is the document."""
    text: str
    fallback_title: str
    """What to call it where it has no title."""
    renderer: str = AS_TEXT
    title: str = ""
    document_id: str = ""
    date: datetime | None = None
    licence: str = ""
    source: str = ""
    """The name of what it is from, or its URL."""
    url: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    loss: LossReport = field(default_factory=LossReport)

    @property
    def place(self) -> str:
        return self.file if self.number is None else f"{self.file}:{self.number}"

    @property
    def digest(self) -> str:
        """Of what it is, wherever it lies: the same text under the same title is the same document."""
        digest = hashlib.sha256(canonical_json([self.title]).encode(errors="surrogatepass"))
        digest.update(self.text.encode(errors="surrogatepass"))
        return digest.hexdigest()

    def problem(self, reason: str) -> Problem:
        return Problem(self.file, self.number, reason)


def as_result(document: Document, settings: CorpusSettings, collection: str) -> Result:
    """The document as a trajectory; ``collection`` is what it belongs to where neither it nor the user says so."""
    if not document.text.strip():
        return NoTrajectory("document without a text")
    size = len(document.text.encode(errors="surrogatepass"))
    if size > settings.max_document_bytes:
        return document.problem(f"the text is longer than {settings.max_document_bytes / 2**20:g} MiB; divide it")
    return _imported(document, settings, collection, size)


def _imported(document: Document, settings: CorpusSettings, collection: str, size: int) -> Imported:
    loss = document.loss
    loss.infer("request for the document")
    if not document.title:
        loss.infer("title of the document")
    turns = TurnList(loss)
    title = " ".join((document.title or document.fallback_title).split())
    turns.add(
        Action.call("read_document", {"title": title}),
        Observation(text=document.text, renderer=document.renderer, bytes_total=size),
        started_at=document.date,
    )
    return Imported(
        domain=settings.domain,
        digest=document.digest,
        source_id=document.document_id,
        place=document.place,
        source=document.url or document.source or (f"{settings.source}: {document.place}" if settings.source else ""),
        licence=licence if (licence := document.licence.strip()).lower() not in _NO_LICENCE else "",
        needs_licence=True,
        split_group=settings.source or _group(document.source) or _group(document.url) or collection,
        instruction="",
        turns=turns.turns,
        loss=loss,
        prompt=SystemPrompt(
            task_description=_TASK_DESCRIPTION.format(about=_ABOUT[settings.field]), action_space=_ACTION_SPACE
        ),
        agent="importer",
        recorded=Recorded(task_sha256=document.digest),  # what is asked for is this document
        versions=document.versions,
    )


def _group(source: str) -> str:
    """What documents of one source have in common: its name, or the host of its URL."""
    return (_host(source) or "") if "://" in source else source


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def as_date(value: JsonValue | date) -> datetime | None:
    """A time, a day, a month or a year; UTC where it has no zone, the first where it is not told. None for all else."""
    if isinstance(value, date):
        value = value.isoformat()
    if isinstance(value, int) and not isinstance(value, bool) and 1000 <= value <= 9999:
        value = str(value)
    if isinstance(value, str) and (match := _YEAR.fullmatch(value.strip())):
        year, month = int(match[1]), int(match[2] or 1)
        return datetime(year, month, 1, tzinfo=UTC) if year and 1 <= month <= 12 else None
    return instant(value.strip() if isinstance(value, str) else value)
