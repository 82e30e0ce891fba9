"""The Docker daemon as asyncio sees it: the SDK's calls in a few threads, byte streams on the event loop."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Concatenate, ParamSpec, Self, TypeVar
from urllib.parse import SplitResult

import requests
from docker import APIClient
from docker.errors import APIError, DockerException

from sandboxes.docker_host import docker_host
from sandboxes.engines.uninterrupted import uninterrupted
from sandboxes.errors import EngineUnavailableError, SandboxDiedError, SandboxError

P = ParamSpec("P")
T = TypeVar("T")

_CONNECT_TIMEOUT_S = 2
_CALL_TIMEOUT_S = 60
_TCP_PORT = 2375
CONTAINER_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
"""How the daemon answers to what is asked of a container that is no more, or no longer runs."""
_READ_BUFFER_BYTES = 2**18


class AttachLostError(SandboxError):
    """The daemon dropped a connection before it answered; what was asked for may have happened all the same."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A byte stream the daemon has switched an HTTP request to."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def close(self) -> None:
        """Drop it, with what was not sent yet: there may be nobody to take it."""
        self.writer.transport.abort()
        with suppress(OSError):  # it may have been broken already
            await self.writer.wait_closed()


class Daemon:
    """One Docker daemon: ``$DOCKER_HOST``, or this machine's own."""

    def __init__(self, address: str, url: SplitResult, client: APIClient, num_threads: int) -> None:
        self._address = address
        self._url = url
        self._client = client
        self._threads = ThreadPoolExecutor(num_threads, thread_name_prefix="docker")

    @classmethod
    async def connect(cls, *, num_threads: int) -> Self:
        """Raises ``EngineUnavailableError``, within seconds, where no daemon answers."""
        address, url = docker_host()
        try:
            async with asyncio.timeout(_CONNECT_TIMEOUT_S):
                await (await _dial(url)).close()
            client = await asyncio.to_thread(
                APIClient, address, version="auto", timeout=_CONNECT_TIMEOUT_S, max_pool_size=num_threads
            )
        except (OSError, DockerException) as error:
            raise EngineUnavailableError(
                f"no Docker engine answers: {_reason(error)}", where=address, mend=_mend(error)
            ) from error
        client.timeout = _CALL_TIMEOUT_S
        return cls(address, url, client, num_threads)

    async def call(self, method: Callable[Concatenate[APIClient, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one of the SDK's methods in a thread.

        A request on its way cannot be taken back: a cancelled caller waits for the answer, so that what it then
        cleans up cannot come into being behind its back. ``docker.errors.APIError`` is the daemon's own "no".
        """
        call = asyncio.get_running_loop().run_in_executor(self._threads, partial(method, self._client, *args, **kwargs))
        try:
            return await uninterrupted(call)
        except APIError:
            raise
        except (requests.RequestException, DockerException) as error:
            raise EngineUnavailableError(
                f"the Docker engine does not answer: {_reason(error)}", where=self._address, mend=_mend(error)
            ) from error

    async def hijack(self, path: str, body: Mapping[str, object] | None = None) -> Connection:
        """POST to ``path``, of a container, and take over the connection as a two-way byte stream.

        Raises ``AttachLostError`` where the connection is lost, ``SandboxDiedError`` where the container is,
        ``SandboxError`` where the daemon refuses otherwise.
        """
        payload = json.dumps(body or {}).encode()
        head = (
            f"POST /v{self._client.api_version}{path} HTTP/1.1\r\nHost: docker\r\n"
            "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(payload)}\r\n\r\n"
        )
        try:
            async with asyncio.timeout(_CALL_TIMEOUT_S):
                return await _upgrade(await _dial(self._url), head.encode() + payload)
        except (OSError, EOFError) as error:
            raise AttachLostError("Docker dropped a connection", where=self._address) from error

    async def close(self) -> None:
        self._client.close()
        self._threads.shutdown(wait=False)


class _EndsAtEof(asyncio.StreamReaderProtocol):
    """The daemon ends its side when there is nobody left to read ours: a writer must fail then, not wait."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._connected = transport
        super().connection_made(transport)

    def eof_received(self) -> bool:
        super().eof_received()
        self._connected.abort()
        return False


async def _dial(url: SplitResult) -> Connection:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_READ_BUFFER_BYTES, loop=loop)
    protocol = _EndsAtEof(reader, loop=loop)
    transport: asyncio.Transport
    if url.scheme == "http+unix":
        transport, _ = await loop.create_unix_connection(lambda: protocol, url.path)
    else:
        host, port = url.hostname or "localhost", url.port or _TCP_PORT
        transport, _ = await loop.create_connection(lambda: protocol, host, port)
    return Connection(reader, asyncio.StreamWriter(transport, protocol, reader, loop))


async def _upgrade(connection: Connection, request: bytes) -> Connection:
    try:
        connection.writer.write(request)
        head = await connection.reader.readuntil(b"\r\n\r\n")
        await _check_upgraded(head, connection.reader)
    except BaseException:
        await connection.close()
        raise
    return connection


async def _check_upgraded(head: bytes, reader: asyncio.StreamReader) -> None:
    status_line, _, fields = head.partition(b"\r\n")
    status = int(status_line.split()[1])
    if status in (101, 200):
        return
    length = int(http.client.parse_headers(io.BytesIO(fields)).get("Content-Length", "0"))
    answer = await reader.readexactly(length)
    refusal = f"Docker refused a stream: {answer.decode(errors='replace')}"
    raise SandboxDiedError(refusal) if status in CONTAINER_GONE else SandboxError(refusal, where=f"HTTP {status}")


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _mend(error: Exception) -> str:
    if isinstance(error, PermissionError):
        return "allow yourself its socket: sudo usermod -aG docker $USER, then log in again"
    if os.environ.get("DOCKER_HOST"):
        return "start it, or unset DOCKER_HOST to use this machine's own"
    return "start it: sudo systemctl start docker; or install it: sudo apt-get install docker.io"
