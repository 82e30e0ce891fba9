"""Where the Docker daemon is: ``$DOCKER_HOST``, or this machine's own, over a transport we speak."""

from __future__ import annotations

import os
from urllib.parse import SplitResult, urlsplit

from docker.errors import DockerException
from docker.utils import parse_host

from sandboxes.errors import EngineUnavailableError

_OWN = "unix:///var/run/docker.sock"
_TUNNEL = (
    "bring the daemon's socket here (ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock USER@HOST), "
    "then set DOCKER_HOST=unix:///tmp/docker.sock"
)


def docker_host() -> tuple[str, SplitResult]:
    """The daemon's address as it was given, and its parts: of scheme ``http+unix`` (a socket's path) or ``http``.

    Raises ``EngineUnavailableError`` for any other, with the way to reach such a daemon all the same.
    """
    address = os.environ.get("DOCKER_HOST") or _OWN
    is_tls = bool(os.environ.get("DOCKER_TLS_VERIFY"))
    try:
        url = urlsplit(parse_host(address, tls=is_tls))
    except (DockerException, ValueError) as error:
        raise EngineUnavailableError(
            f"no Docker engine answers: {error}",
            where=address,
            mend="set DOCKER_HOST to unix://PATH or tcp://HOST:PORT",
        ) from error
    if url.scheme == "ssh":
        raise EngineUnavailableError("Docker over ssh is not spoken here", where=f"DOCKER_HOST={address}", mend=_TUNNEL)
    if url.scheme not in ("http+unix", "http"):
        spoken = f"DOCKER_HOST={address}{', DOCKER_TLS_VERIFY' if is_tls else ''}"
        raise EngineUnavailableError(
            "Docker over TLS is not spoken here", where=spoken, mend=f"{_TUNNEL} and unset DOCKER_TLS_VERIFY"
        )
    return address, url
