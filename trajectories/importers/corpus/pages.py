"""Pages of HTML: their main content as Markdown, without what stands around it on every page of a site.

Code keeps its lines, and nothing is escaped: text that only looks like Markdown stands as the page shows it.
"""

from __future__ import annotations

import codecs
import logging
import re
from typing import Any, Final, NamedTuple

from trajectories.errors import MissingExtraError
from trajectories.importers.corpus.code_blocks import take_blocks, unescaped, with_blocks
from trajectories.importers.problems import UnreadableError

AS_MAIN_TEXT: Final = "corpus-html@1"
"""The renderer of a page's main content."""
MAX_PAGE_BYTES: Final = 8 * 2**20
"""The tree of a page takes some twenty times its size."""

_DECLARED: Final = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_DECLARED_WITHIN: Final = 1024
_OF_PAGES: Final = re.compile(
    r"utf-8|utf-16.*|ascii|iso8859-\d+|cp125\d|cp866|cp874|cp932|cp949|koi8-[ru]|mac-(roman|cyrillic)|gb.*|hz|big5.*"
    r"|euc_(jp|kr)|iso2022_jp|shift_jis"
)
"""Python has other codecs too, and some take for ever."""
_CALLED_LATIN: Final = frozenset({"iso8859-1", "ascii"})
"""What browsers read as windows-1252."""
_LATEST: Final = "2100-01-01"


class Page(NamedTuple):
    """The main content of a page, and what the page says of itself; empty is what it does not say."""

    text: str
    title: str
    date: str
    licence: str
    url: str
    extractor: str
    """The version of what found it."""


def main_content(content: bytes) -> Page:
    """Raises ``UnreadableError`` where the bytes are not what the page says, or the page cannot be taken apart."""
    extractor = _extractor()
    whole = decoded(content)
    try:
        tree = extractor.load_html(whole)
        blocks = {} if tree is None else take_blocks(tree)
        found = extractor.bare_extraction(
            whole if tree is None else tree,
            output_format="python",
            include_comments=False,
            include_formatting=True,
            include_tables=True,
            with_metadata=True,
            # By default it looks for dates up to today: a page would not be the same every day.
            date_extraction_params={"original_date": True, "extensive_search": False, "max_date": _LATEST},
        )
    except Exception as error:  # the tree of a hostile page meets errors of every kind in the libraries below
        raise UnreadableError(f"the page cannot be taken apart: {type(error).__name__}") from error
    text, title, date, licence, url = (
        str(getattr(found, name, None) or "") for name in ("text", "title", "date", "license", "url")
    )
    return Page(unescaped(with_blocks(text, blocks)), title, date, licence, url, extractor.__version__)


def decoded(content: bytes) -> str:
    """A page's text, by the byte order mark, what it declares, or UTF-8. Raises ``UnreadableError``."""
    encoding = "utf-8"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif not content.startswith(codecs.BOM_UTF8) and (declared := _DECLARED.search(content[:_DECLARED_WITHIN])):
        encoding = _known_encoding(declared[1].decode())
    try:
        return content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise UnreadableError(f"the page is not {encoding}: {error}") from error


def _known_encoding(name: str) -> str:
    """The encoding that a page declares, by Python's name. Raises ``UnreadableError`` where pages have none such."""
    try:
        found = codecs.lookup(name).name
    except LookupError:
        found = name
    if not _OF_PAGES.fullmatch(found):
        raise UnreadableError(f"the page says that it is {name!r}, which is no encoding of pages")
    if found.startswith("utf-16"):  # what declares it could be read, so it is not
        return "utf-8"
    return "cp1252" if found in _CALLED_LATIN else found


def _extractor() -> Any:
    try:
        import trafilatura
    except ModuleNotFoundError as error:
        raise MissingExtraError("corpora", error.name or "trafilatura") from error
    for name in ("trafilatura", "htmldate", "courlan"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return trafilatura
