"""What a screen says and how prominently, whichever way it is written down.

Read are accessibility trees (``[7] heading 'Orders'``), aria snapshots (``- heading "Orders" [level=1]``), tables of
desktops (``heading<TAB>Orders``), Android's hierarchies (``| text="Orders" desc=""``, ``3. TextView: "id", "Orders"``,
``<node text="Orders" />``), HTML, Markdown and plain lines, each with the lines that may stand above it
(``Page Title: Orders``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from typing import Final, NamedTuple

_TITLES: Final = frozenset({"rootwebarea", "document-web", "title"})
_KINDS: Final = (
    ("headings", re.compile(r"heading|h1|h2")),
    ("checkboxes", re.compile(r".*check-?box.*")),
    ("pictures", re.compile(r"img|image|imageview|icon|graphic")),
    ("buttons", re.compile(r".*button")),
    ("links", re.compile(r"link")),
    ("inputs", re.compile(r"textbox|searchbox|combobox|edittext|entry|textarea")),
    ("entries", re.compile(r".*(?:cell|row|header)|list-?item|option|term|code|terminal")),
)
_CONTROL: Final = re.compile(r".*(?:item|box|menu|tab)|frame|url|switch|key|script|style|value")
"""What else people act on, or do not see: it does not say what the screen is."""

_QUOTED: Final = r"""'(?:[^'\\]|\\.|(?<=\w)'(?=\w))*'|"(?:[^"\\]|\\.)*\""""
_SNAPSHOT: Final = re.compile(rf"- ([A-Za-z][\w-]*)(?: ({_QUOTED}))?(?: \[[^\]]*\])*(?::(?: (.*))?)?$")
_TREE: Final = re.compile(rf"(?:\[\w+\] )?([A-Za-z]\w*) ({_QUOTED})(?:,? |,|$)")
_HIERARCHY: Final = re.compile(r"\[\s*\d+\] \| (?:\w+\.)*(\w+) \|")
_HIERARCHY_TEXT: Final = re.compile(r'\b(?:text|desc|hint)="((?:[^"\\]|\\.)*)"')
_NUMBERED: Final = re.compile(r'\d+\. (\w+): "[^"]*", "(.*)" - \(')
_NODE: Final = re.compile(r"<([\w.$]+)\s([^<>]*)>")
_NODE_TEXT: Final = re.compile(r'\b(?:text|content-desc|hint)="([^"]*)"')
_NODE_CLASS: Final = re.compile(r'\bclass="([^"]*)"')
_TAGGED: Final = re.compile(r"<(\w+)[^<>]*>([^<]+)")
_ELEMENT: Final = re.compile(r"<(?!(?:html|head|body|hierarchy)\b)\w")
"""Where an element begins that may be seen."""
_TAGS: Final = re.compile(r"(?:<[^<>]*>\s*)+")
_CLASS: Final = re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Layout|View|ViewGroup|Frame)")
"""A line of a tree of classes that says nothing."""
_LINK: Final = re.compile(r"(!?)\[([^\[\]]*)\]\([^()]*\)")
_BULLET: Final = re.compile(r"(?:[-*+•○●◦▪]|\d{1,2}[.)]) +(.+)")
_BROWSER: Final = re.compile(
    r"(.+?)\s+[-–—]\s+(?:Google Chrome|Chromium|Mozilla Firefox|Firefox|Microsoft.? Edge|Brave)"
)
_SYSTEM_UI: Final = "com.android.systemui"
_CLOCK: Final = re.compile(r"(?:[^\W\d]+\.? \d+,?\s+)?\d{1,2}:\d\d(?: ?[AaPp][Mm])?")

_TITLE_ABOVE: Final = re.compile(r"(?:[-*] )?\**(?:(?:page )?title|tab \d+ \(current\))\**:\**\s*(.*)", re.IGNORECASE)
_ABOVE: Final = re.compile(
    r"(?:[-*] )?\**(?:(?:current |page |active )?(?:url|app|package|activity|snapshot|window)|keyboard|state(?: id)?"
    r"|phone state|(?:clickable )?ui elements|tab \d+)\**:.*|https?://\S+|```\w*"
    r"|this xml file does not appear to have any style information.*",
    re.IGNORECASE,
)
"""What stands above a screen, written by what recorded it and not shown."""

_EAST_ASIAN: Final = re.compile(r"[぀-ヿ㐀-鿿]")
"""Letters of scripts that put no spaces between words, of which a word has two."""


class Label(NamedTuple):
    """A text on a screen."""

    role: str
    """In small letters; empty where the notation has none."""
    text: str


@dataclass(slots=True)
class Screen:
    """What a screen says."""

    titles: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """What is said in other places, the labels of controls, tables and pictures left out."""
    buttons: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    checkboxes: list[str] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    """What stands in lists, tables and editors."""
    pictures: list[str] = field(default_factory=list)
    num_words: int = 0
    """Of everything but the titles."""
    num_nodes: int = 0


def read_screen(written: str, most_words: int) -> Screen:
    """What a screen says, in order, as far as its first ``most_words`` words."""
    screen = Screen()
    for line in written.splitlines():
        bare = line.strip()
        if not bare:
            continue
        if not screen.num_words and (title := _TITLE_ABOVE.fullmatch(bare)):
            _add(screen, Label("title", title[1]))
        elif screen.num_words or not _ABOVE.fullmatch(bare):
            screen.num_nodes += len(_ELEMENT.findall(bare)) if bare.startswith("<") else 1
            for label in _labels(bare):
                _add(screen, label)
        if screen.num_words > most_words:
            break
    return screen


def num_words(text: str) -> int:
    """Words between spaces, and of scripts without spaces two letters for one."""
    return len(text.split()) + (0 if text.isascii() else len(_EAST_ASIAN.findall(text)) // 2)


def _add(screen: Screen, label: Label) -> None:
    role, text = label.role, label.text.strip()
    window = _BROWSER.fullmatch(text) if role == "frame" else None
    if window or role in _TITLES:
        title = window[1] if window else text
        if title not in screen.titles:
            screen.titles.append(title)
        return
    screen.num_words += num_words(text)
    kind = _kind(role)
    if text and kind and not (kind == "texts" and _CLOCK.fullmatch(text)):
        getattr(screen, kind).append(text)


@lru_cache(maxsize=1024)
def _kind(role: str) -> str | None:
    """The field of a screen for labels of a role; none for menus and the like."""
    return next(
        (kind for kind, roles in _KINDS if roles.fullmatch(role)), None if _CONTROL.fullmatch(role) else "texts"
    )


def _labels(bare: str) -> Iterator[Label]:
    if "\t" in bare:
        yield from _cells(bare)
    elif found := _HIERARCHY.match(bare):
        if _SYSTEM_UI not in bare:
            yield from (Label(found[1].lower(), text) for text in dict.fromkeys(_HIERARCHY_TEXT.findall(bare)))
    elif found := _NUMBERED.match(bare):
        yield Label(found[1].lower(), found[2])
    elif found := _SNAPSHOT.match(bare):
        yield from (Label(found[1].lower(), text) for text in (_unquoted(found[2]), found[3]) if text)
    elif found := _TREE.match(bare):
        yield Label(found[1].lower(), _unquoted(found[2]))
    elif bare.startswith("<"):
        yield from _elements(bare)
    else:
        yield from _prose(bare)


def _cells(line: str) -> Iterator[Label]:
    """The name and the text of a row of a desktop's table, once where they are the same."""
    tag, *cells = line.split("\t")
    said = [cell for cell in cells[:2] if cell not in ("", '""') and not cell.startswith("(")]
    if tag != "tag":
        for place, text in enumerate(dict.fromkeys(said)):
            yield Label("value" if place and tag == "entry" else tag.lower(), text)


def _elements(line: str) -> Iterator[Label]:
    """What the elements of XML or HTML on a line say: in attributes where it is a hierarchy, between tags elsewhere."""
    if "content-desc=" in line or line.startswith("<hierarchy"):
        for element, attributes in _NODE.findall(line):
            named = _NODE_CLASS.search(attributes)
            role = (named[1] if named else element).rpartition(".")[2].lower()
            if _SYSTEM_UI not in attributes:
                texts = dict.fromkeys(filter(None, _NODE_TEXT.findall(attributes)))
                yield from (Label(role, unescape(text)) for text in texts)
    elif tagged := _TAGGED.findall(line):
        yield from (Label(tag.lower(), unescape(text)) for tag, text in tagged)
    elif not _TAGS.fullmatch(line):
        yield Label("", line)


def _prose(line: str) -> Iterator[Label]:
    """A line of Markdown, or of plain text."""
    if link := _LINK.fullmatch(line):
        yield Label("img" if link[1] else "link", link[2])
    elif line.startswith("#"):
        yield Label("heading", line.lstrip("# "))
    elif bullet := _BULLET.fullmatch(line):
        yield Label("listitem", bullet[1])
    elif not _CLASS.fullmatch(line):
        yield Label("", line.strip("*"))


def _unquoted(quoted: str | None) -> str:
    bare = quoted[1:-1] if quoted else ""
    return re.sub(r"\\(.)", r"\1", bare) if "\\" in bare else bare
