"""URLs: which texts are one, as they are opened, and as people read them, without what is secret in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote

from fsspec.implementations.local import LocalFileSystem

HTTP: Final = ("http://", "https://")
_LOCAL: Final = ("file", "local")
_PLACES: Final = frozenset({"github", "abfs", "abfss"})
"""Schemes that name a part of the place before the ``@``: a repository, a container."""
_SCHEME: Final = re.compile(r"[\w.+-]+")
_NEXT_IN_CHAIN: Final = re.compile(r"::(?=[\w.+-]+(?:::|://))")
"""What joins the parts of a chained URL; an address of IPv6 has colons too."""
_AFTER_SCHEME: Final = re.compile(r"([^/?#]*)([^?#]*)(.*)", re.DOTALL)
"""Who and where, the path, and what is asked of it."""
_HOST: Final = re.compile(r"(?:\[[\w:.%]*\]|[^\[\]:@]*)(?::[0-9]{0,5})?")
_SIGNS: Final = re.compile(r"[][:/?#@]")


def is_url(text: str) -> bool:
    return "://" in text


def is_local(text: str) -> bool:
    """Whether it is a path, or a URL of one."""
    return not is_url(text) or text.partition("://")[0].lower() in _LOCAL


def local_path(text: str) -> Path | None:
    """The path that a text is, or a URL of one; None where it is a URL of elsewhere."""
    if not is_local(text):
        return None
    return Path(LocalFileSystem._strip_protocol(opened_url(text)) if is_url(text) else text)


def opened_url(text: str) -> str:
    """A path or a URL as the file systems know it: with schemes in small letters, for they may be written in any."""
    return "::".join(map(_with_small_scheme, _NEXT_IN_CHAIN.split(text))) if is_url(text) else text


def shown_url(url: str) -> str:
    """A path or a URL as rows and messages name it: without user, password and query, which may hold secrets."""
    return "::".join(read.shown for read in _read_all(opened_url(url)))


def without_login(text: str, url: str) -> str:
    """A text of ours with what a URL has of secrets left out where it stands as a part of a URL."""
    for whole in (url, opened_url(url)):
        text = text.replace(whole, shown_url(url))
    for read in _read_all(url):
        for secret in filter(None, read.in_urls):
            text = text.replace(secret, "")
    return text


def without_secrets(text: str, url: str) -> str:
    """What a library says of a URL, without what the URL has of secrets, wherever that stands."""
    text = without_login(text, url)
    secrets = {secret for read in _read_all(url) for secret in read.alone if secret}
    for secret in sorted(secrets | set(map(unquote, secrets)), key=len, reverse=True):
        text = text.replace(secret, "…")
    return text


class _Read(NamedTuple):
    """One part of a chain, and what is secret in it: as it stands in a URL, with its sign, and alone."""

    shown: str
    in_urls: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


def _read_all(url: str) -> list[_Read]:
    return list(map(_read, _NEXT_IN_CHAIN.split(url)))


def _read(url: str) -> _Read:
    scheme, mark, rest = url.partition("://")
    if not mark or scheme.lower() in _LOCAL:
        return _Read(url)
    whole = _AFTER_SCHEME.fullmatch(rest)
    assert whole is not None, "any text is of this form"
    place, path, asked = whole.groups()
    login, at, host = place.rpartition("@")
    if not _HOST.fullmatch(host) or (":" in login and "@" in path):
        # A password that was written as it is: its own signs look like the end of it.
        return _Read(f"{scheme}://…", (rest,), tuple(_SIGNS.split(rest)))
    if scheme.lower() in _PLACES:
        return _Read(f"{scheme}://{place}{path}", (asked,), (asked[1:],))
    return _Read(f"{scheme}://{host}{path}", (asked, login + at), (asked[1:], login, *_SIGNS.split(login)))


def _with_small_scheme(part: str) -> str:
    scheme, mark, rest = part.partition("://")
    return f"{scheme.lower()}{mark}{rest}" if _SCHEME.fullmatch(scheme) else part
