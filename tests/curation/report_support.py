"""What the tests of reports look at: a page as a browser reads it, the JSON beside it, and the shape of a model."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from curation.profile import CurationProfile

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>&lt;\x1b[31m\x00\u202edesrever {{ 7 * 7 }}"

_VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """The tags of a page, which must be closed in the order in which they were opened, its attributes and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.tags: Counter[str] = Counter()
        self.attributes: dict[str, list[str]] = {}
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes another tag at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        self.text += data

    def check(self) -> None:
        """Nothing in the page can run or reach out, and its identifiers are unique."""
        assert not self.tags.keys() & {"script", "img", "iframe", "link", "object", "embed", "base", "form", "input"}
        assert not [name for name in self.attributes if name.startswith("on")]
        links = [link for name in ("href", "src", "xlink:href") for link in self.attributes.get(name, ())]
        identifiers = Counter(self.attributes["id"])
        assert max(identifiers.values()) == 1
        assert {link.removeprefix("#") for link in links} <= identifiers.keys()
        assert "default-src 'none'" in self.html
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", self.html)
        assert self.html.startswith("<!DOCTYPE html>")


def figures(page: Path) -> Any:
    """The JSON beside a page."""
    return json.loads(page.with_suffix(".json").read_text())


def shape(model: type[BaseModel]) -> str:
    """A line a key of a model's JSON: its path, and the type that stands there."""
    return "\n".join(_lines(model, "")) + "\n"


def _lines(model: type[BaseModel], above: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield from _of_type(field.annotation, f"{above}{name}")


def _of_type(kind: Any, path: str) -> Iterator[str]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (kind,) = (argument for argument in arguments if argument is not type(None))
        yield from _of_type(kind, f"{path}?")
    elif origin is list:
        yield from _of_type(arguments[0], f"{path}[]")
    elif origin is dict:
        yield from _of_type(arguments[1], f"{path}{{}}")
    elif origin is Literal:
        yield f"{path}: {' or '.join(map(repr, arguments))}"
    elif origin is not None:  # Annotated
        yield from _of_type(arguments[0], path)
    elif isinstance(kind, type) and issubclass(kind, BaseModel) and kind is not CurationProfile:
        yield from _lines(kind, f"{path}.")
    else:
        yield f"{path}: {getattr(kind, '__name__', kind)}"
