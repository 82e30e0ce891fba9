"""Files that are a document each: plain text, Markdown with or without front matter, HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

import yaml

from trajectories.importers.base import NoTrajectory
from trajectories.importers.corpus.columns import Columns
from trajectories.importers.corpus.documents import Document, as_date
from trajectories.importers.corpus.pages import AS_MAIN_TEXT, MAX_PAGE_BYTES, main_content
from trajectories.importers.corpus.settings import MAX_DOCUMENT_BYTES
from trajectories.importers.encodings import not_utf8
from trajectories.importers.file_names import unpacked_stem
from trajectories.importers.loss import LossReport
from trajectories.importers.packing import unpacked_name
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.sources import EmptyFileError, opened
from trajectories.importers.values import Object
from trajectories.model import JsonValue

_FRONT_MATTER: Final = re.compile(r"\A---[ \t]*\r?\n(.{0,65536}?\r?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every value is a string, a list or a mapping: a bad date costs the date, and nothing is constructed."""
_HEADING: Final = re.compile(r"^#[ \t]+(\S[^\n]*)$|^(\S[^\n]*)\n=+[ \t]*$", re.MULTILINE)
_FENCED: Final = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_HEADING_WITHIN: Final = 20_000

Built: TypeAlias = Document | NoTrajectory
Build: TypeAlias = Callable[[bytes, Path, Columns], Built]


def text_document(path: Path, columns: Columns) -> Built | Problem:
    """A file as one document, by the end of its name, which is one of ``TEXT_KINDS``."""
    build, limit = TEXT_KINDS[Path(unpacked_name(path.name)).suffix.lower()]
    limit = min(limit, columns.settings.max_document_bytes)
    try:
        with opened(path, in_any_encoding=build is _page) as file:
            content = file.read(limit + 1)
        if len(content) > limit:
            raise UnreadableError(f"the file is longer than {limit / 2**20:g} MiB; divide it")
        built = build(content, path, columns)
    except EmptyFileError:
        return NoTrajectory("document without a text")
    except UnreadableError as error:
        return Problem(str(path), None, error.what, error.mend)
    return replace(built, fallback_title=unpacked_stem(path.name)) if isinstance(built, Document) else built


def _plain_text(content: bytes, path: Path, _: Columns) -> Built:
    return Document(file=str(path), number=None, text=_utf8(content), fallback_title="")


def _markdown(content: bytes, path: Path, columns: Columns) -> Built:
    whole = _utf8(content)
    said, text = _divided(whole)
    document = columns.described(said, text, str(path))
    if text is whole and _FRONT_MATTER.match(whole):
        document.loss.infer("block between dashes that is no front matter left in the text")
    return replace(document, title=document.title or _heading(text))


def _page(content: bytes, path: Path, _: Columns) -> Built:
    page = main_content(content)
    if not page.text.strip():
        return NoTrajectory("page of which no main content can be told")
    loss = LossReport()
    loss.infer("licence read from the page", int(bool(page.licence)))
    loss.infer("date read from the page", int(bool(page.date)))
    return Document(
        file=str(path),
        number=None,
        text=page.text,
        fallback_title="",
        title=page.title,
        date=as_date(page.date),
        licence=page.licence,
        url=page.url,
        renderer=AS_MAIN_TEXT,
        versions={"trafilatura": page.extractor},
        loss=loss,
    )


TEXT_KINDS: Final[Mapping[str, tuple[Build, int]]] = {
    **dict.fromkeys((".txt", ".text"), (_plain_text, MAX_DOCUMENT_BYTES)),
    **dict.fromkeys((".md", ".markdown"), (_markdown, MAX_DOCUMENT_BYTES)),
    **dict.fromkeys((".html", ".htm", ".xhtml"), (_page, MAX_PAGE_BYTES)),
}
"""How a file's name ends → what makes a document of it, and the most bytes it takes."""


def _utf8(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what, mend = not_utf8(error)
        raise UnreadableError(what, mend=mend) from error


def _divided(text: str) -> tuple[Object, str]:
    """What a YAML block at the beginning says, and the text after it.

    A block that is no YAML mapping is part of the text: a line of dashes is also a rule.
    """
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    try:
        block = yaml.load(found[1] or "", Loader=_LOADER)
    except (yaml.YAMLError, RecursionError):
        return {}, text
    if not isinstance(block, dict):
        return {}, text
    return {str(key): _shallow(value) for key, value in block.items()}, text[found.end() :].lstrip("\r\n")


def _shallow(value: object) -> JsonValue:
    """What lies deeper is not looked at: with references, a few lines of YAML can hold any amount of it."""
    if isinstance(value, dict):
        return {str(key): inner if isinstance(inner, str) else "..." for key, inner in value.items()}
    if isinstance(value, list):
        return [item if isinstance(item, str) else "..." for item in value]
    return None if value in ("null", "~") else str(value)


def _heading(text: str) -> str:
    """The first heading of the first level, outside of code."""
    found = _HEADING.search(_FENCED.sub("", text[:_HEADING_WITHIN]))
    return (found[1] or found[2]).rstrip(" \t#") if found else ""
