"""Code in pages: its lines and blanks are part of it, wherever the extraction of the main content would join them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_ESCAPED: Final = re.compile(
    r"(?P<code>^(?P<fence>`{3,})\n.*?^(?P=fence)$|(?<![\\`])(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<slashes>\\+)(?P<sign>[*_`~\[\]<])",
    re.DOTALL | re.MULTILINE,
)
_BLANKS: Final = re.compile(r"\s+")
_TICKS: Final = re.compile(r"`+")


def take_blocks(tree: Any) -> dict[str, str]:
    """Make every preformatted element of an lxml tree one of code, and return what they hold.

    Returns:
        What is left of each block where its lines are joined → the block. Only of those that lose something by it.
    """
    blocks: dict[str, str] = {}
    for element in list(tree.iter("pre")):
        for line_break in element.iter("br"):
            line_break.tail = f"\n{line_break.tail or ''}"
        block = element.text_content().strip("\n").rstrip()
        joined = _joined(block)
        if block.strip() == joined:
            continue
        blocks[joined] = block
        attributes, tail = dict(element.attrib), element.tail
        element.clear()
        element.attrib.update(attributes)
        element.tail = tail
        code = element.makeelement("code")
        code.text = block
        element.append(code)
    return blocks


def with_blocks(text: str, blocks: Mapping[str, str]) -> str:
    """The text with every line that is a block whose lines were joined as that block, between fences."""
    if not blocks:
        return text
    lines = ((line, blocks.get(_joined(unescaped(line)))) for line in text.split("\n"))
    return "\n".join(line if block is None else _fenced(block) for line, block in lines)


def unescaped(markdown: str) -> str:
    """Markdown without the backslashes that keep its signs from being read as such: what a page shows has none.

    Code, in which they are its own, stays as it is.
    """
    return _ESCAPED.sub(_as_shown, markdown) if "\\" in markdown else markdown


def _as_shown(found: re.Match[str]) -> str:
    if found["code"] is not None or len(found["slashes"]) % 2 == 0:
        return found[0]
    return "\\" * (len(found["slashes"]) // 2) + found["sign"]


def _joined(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def _fenced(block: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(block)), default=0))
    return f"{fence}\n{block}\n{fence}"
