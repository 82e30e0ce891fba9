"""Why what a URL names cannot be read, as one line that tells no secret."""

from __future__ import annotations

import errno
import os
import socket
from typing import Final
from urllib.parse import urlsplit

from trajectories.errors import InputError, MissingExtraError, StorageError, WorldtapeError
from trajectories.importers.problems import UnreadableError
from trajectories.urls import HTTP, opened_url, shown_url, without_secrets

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_CONNECTION: Final = (ConnectionError, socket.gaierror, TimeoutError)
_SHOWN: Final = 200
_MEND: Final = "check the URL, the connection and what it needs to log in"


class UnreachableError(UnreadableError):
    """What a URL names cannot be had now; the input need not be wrong."""

    exit_code = 1


def check_url(url: str) -> None:
    """Raises ``InputError`` for what looks like a URL and is none."""
    try:
        urlsplit(url)
    except ValueError as error:
        raise InputError(
            f"not a URL: {without_secrets(str(error), url)}", where=shown_url(url), mend="check it"
        ) from None


def failure(error: Exception, url: str) -> WorldtapeError:
    """What the library of a file system raised over a URL, as one line that names the URL."""
    where = shown_url(url)
    refused = _refused_connection(error)
    if refused is not None:
        return UnreachableError(f"it cannot be fetched: {refused}", where=where, mend=_MEND)
    if isinstance(error, FileNotFoundError):
        return InputError("there is nothing at this URL", where=where, mend="check it")
    if isinstance(error, ImportError):
        return _missing_library(error, url)
    if isinstance(error, OSError) and error.errno in _FULL:
        return StorageError("the disk is full", where=where, mend="free some space")
    return UnreachableError(f"it cannot be fetched: {_told(error, url)}", where=where, mend=_MEND)


def _missing_library(error: ImportError, url: str) -> InputError:
    cause = error.__cause__
    module = (error.name or getattr(cause, "name", None) or str(error)).partition(".")[0]
    if opened_url(url).startswith(HTTP):
        return MissingExtraError("urls", module)
    scheme = url.partition("://")[0].rpartition("::")[2]
    return InputError(
        f"{scheme}:// needs the package {module}, which is not installed",
        where=shown_url(url),
        mend=f"run: pip install {module}",
    )


def _told(error: Exception, url: str) -> str:
    """What an error says, without what the URL has of secrets."""
    status = getattr(error, "status", None)
    if isinstance(status, int):
        return f"the server answers {status} {getattr(error, 'message', '')}".strip()
    return without_secrets(str(error), url)[:_SHOWN] or type(error).__name__


def _refused_connection(error: BaseException | None) -> str | None:
    """What the operating system says of a connection, below all layers; None where it says nothing of one."""
    while error is not None:
        if isinstance(error, _CONNECTION) and error.errno is not None:
            return os.strerror(error.errno) if error.errno > 0 else error.strerror
        error = error.__cause__ or error.__context__
    return None
