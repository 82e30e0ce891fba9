"""What a screen says and how prominently, whichever way it is written down.

Read are accessibility trees (``[7] heading 'Orders'``), aria snapshots (``- heading "Orders" [level=1]``), tables of
desktops (``heading<TAB>Orders``), Android's hierarchies (``| text="Orders" desc=""``, ``3. TextView: "id", "Orders"``),
HTML, Markdown and plain lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_TITLES: Final = frozenset({"rootwebarea", "document-web", "title"})
_HEADINGS: Final = frozenset({"heading", "h1", "h2"})
_CONTROL: Final = re.compile(
    r".*(?:cell|row|header|item|button|box|menu|tab)|link|edittext|option|term|entry|code|frame|terminal|url|switch"
)
"""What people act on, or what stands in a list: it says what there is, not what the screen is. Checkboxes are kept."""

_QUOTED: Final = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_SNAPSHOT: Final = re.compile(rf"- ([A-Za-z][\w-]*)(?: ({_QUOTED}))?(?: \[[^\]]*\])*(?::(?: (.*))?)?$")
_TREE: Final = re.compile(rf"(?:\[\w+\] )?([A-Za-z]\w*) ({_QUOTED})(?:,? |,|$)")
_HIERARCHY: Final = re.compile(r"\[\s*\d+\] \| (?:\w+\.)*(\w+) \|")
_HIERARCHY_TEXT: Final = re.compile(r'\b(?:text|desc)="((?:[^"\\]|\\.)*)"')
_NUMBERED: Final = re.compile(r'\d+\. (\w+): "[^"]*", "(.*)" - \(')
_TAGGED: Final = re.compile(r"<(\w+)[^>]*>([^<]+)")
_BROWSER: Final = re.compile(
    r"(.+?)\s+[-–—]\s+(?:Google Chrome|Chromium|Mozilla Firefox|Firefox|Microsoft.? Edge|Brave)"
)
_SYSTEM_UI: Final = "com.android.systemui"


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
    """What is said in other places, the labels of controls and tables left out."""
    checkboxes: list[str] = field(default_factory=list)
    num_words: int = 0
    """Of everything but the titles."""
    num_nodes: int = 0


def read_screen(written: str, most_words: int) -> Screen:
    """What a screen says, in order, as far as its first ``most_words`` words."""
    screen = Screen()
    for line in written.splitlines():
        screen.num_nodes += bool(line.strip())
        for label in _labels(line):
            _add(screen, label)
        if screen.num_words > most_words:
            break
    return screen


def _add(screen: Screen, label: Label) -> None:
    role, text = label.role, label.text.strip()
    if role in _TITLES or (role == "frame" and (window := _BROWSER.fullmatch(text))):
        title = window[1] if role == "frame" and window else text
        screen.titles.append(title)
        return
    screen.num_words += len(text.split())
    if role in _HEADINGS:
        screen.headings.append(text)
    elif "checkbox" in role or "check-box" in role:
        screen.checkboxes.append(text)
    elif text and not _CONTROL.fullmatch(role):
        screen.texts.append(text)


def _labels(line: str) -> Iterator[Label]:
    bare = line.strip()
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
    elif "<" in bare and (tagged := _TAGGED.findall(bare)):
        yield from (Label(tag.lower(), text) for tag, text in tagged)
    elif bare.startswith("#"):
        yield Label("heading", bare.lstrip("# "))
    elif bare:
        yield Label("", bare)


def _cells(line: str) -> Iterator[Label]:
    """The name and the text of a row of a desktop's table, once where they are the same."""
    tag, *cells = line.split("\t")
    said = [cell for cell in cells[:2] if cell not in ("", '""') and not cell.startswith("(")]
    if tag != "tag":
        yield from (Label(tag.lower(), text) for text in dict.fromkeys(said))


def _unquoted(quoted: str | None) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1]) if quoted else ""
