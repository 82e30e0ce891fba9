"""Files and folders behind URLs, any that fsspec opens, copied to a folder of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import fsspec

from trajectories.errors import InputError, WorldtapeError
from trajectories.files import storage_errors
from trajectories.importers.incoming import Meter
from trajectories.importers.problems import UnreadableError
from trajectories.importers.urls import check_url, failure
from trajectories.urls import HTTP, opened_url, shown_url, without_login, without_secrets

_SILENCE_S: Final = 60.0
"""How long a server may say nothing; a large file may take as long as it takes."""
_DEEPEST: Final = 20
_PARENTS: Final = 2
"""Folders of the URL above the file or folder that are made here too: some formats name a trajectory after them."""


def copied(url: str, folder: Path, meter: Meter) -> Path:
    """Copy the file or the folder at a URL below ``folder``, under the last names of its path; the place it has there.

    Raises:
        InputError: there is nothing, or no such kind of URL.
        MissingExtraError: what opens such URLs is not installed.
        UnreachableError: it cannot be fetched now.
        UnreadableError: it holds more than the meter lets through, or its listing is wrong.
        StorageError: the disk is full or fails.
    """
    check_url(url)
    try:
        return _copied(opened_url(url), folder, meter)
    except WorldtapeError as error:
        error.reword(lambda text: without_login(text, url))
        raise
    except Exception as error:  # the file systems are others', and raise whatever their libraries do
        raise failure(error, url) from error


def _copied(url: str, folder: Path, meter: Meter) -> Path:
    filesystem, root = _filesystem(url)
    parents, name = _names(root)
    target = folder.joinpath(*parents, name)
    if not _is_folder(filesystem, root):
        _copy(filesystem, root, target, meter)
        return target
    with storage_errors(target):
        target.mkdir(parents=True)
    for path, parts in _files_below(filesystem, root, meter):
        _copy(filesystem, path, target.joinpath(*parts), meter)
    return target


def _filesystem(url: str) -> tuple[fsspec.AbstractFileSystem, str]:
    try:
        filesystem, path = fsspec.core.url_to_fs(url, **(_http_options() if url.startswith(HTTP) else {}))
    except ValueError as error:
        raise InputError(
            f"not a URL that can be opened: {without_secrets(str(error), url)}", where=shown_url(url)
        ) from error
    return filesystem, path


def _http_options() -> dict[str, Any]:
    """Through the proxy that the environment names, without an end to a long transfer, and the bytes as they lie there:
    of a compressed file a server may say that this is only how it sends it.
    """
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_SILENCE_S, sock_read=_SILENCE_S)
    client = {"trust_env": True, "timeout": timeout, "auto_decompress": False}
    return {"client_kwargs": client, "headers": {"Accept-Encoding": "identity"}}


def _is_folder(filesystem: fsspec.AbstractFileSystem, root: str) -> bool:
    if root.startswith(HTTP):
        # To ask for what is listed there would read the whole of a file.
        return root.endswith("/")
    return bool(filesystem.info(root)["type"] == "directory")


def _files_below(
    filesystem: fsspec.AbstractFileSystem, folder: str, meter: Meter, parents: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Path and names below the first folder of every file."""
    if len(parents) > _DEEPEST:
        raise UnreadableError(f"its folders are more than {_DEEPEST} deep", where=folder)
    for entry in sorted(filesystem.ls(folder, detail=True), key=lambda entry: str(entry["name"])):
        path = str(entry["name"])
        if path.rstrip("/") == folder.rstrip("/") or (urlsplit(path).query and path.startswith(HTTP)):
            continue  # the folder itself, or a page that sorts its listing
        names = (*parents, _name(path))
        if entry["type"] == "directory":
            meter.add_file()
            yield from _files_below(filesystem, path, meter, names)
        else:
            yield path, names


def _copy(filesystem: fsspec.AbstractFileSystem, path: str, target: Path, meter: Meter) -> None:
    meter.add_file()
    with storage_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    filesystem.get_file(path, str(target), callback=_Metered(meter))


class _Metered(fsspec.Callback):  # type: ignore[misc]
    """Has the meter count what arrives; what it raises ends the transfer."""

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self._meter = meter

    def set_size(self, size: int | None) -> None:
        if size:
            self._meter.check_room(size)

    def relative_update(self, inc: int = 1) -> None:
        self._meter.add_bytes(inc)


def _names(root: str) -> tuple[list[str], str]:
    """The last names of a path: of the folders above it, and its own."""
    path = urlsplit(root).path if root.startswith(HTTP) else root
    names = [unquote(name) for name in path.split("/")]
    usable = [name for name in names if _is_usable(name)] or ["download"]
    return usable[-1 - _PARENTS : -1], usable[-1]


def _name(path: str) -> str:
    name = unquote(path.rstrip("/").rpartition("/")[2])
    if not _is_usable(name):
        raise UnreadableError(f"a name in its listing leads out of the folder: {name[:100]!r}", where=shown_url(path))
    return name


def _is_usable(name: str) -> bool:
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name and len(name.encode()) <= 255
