"""The line to a container's main process: it ends process trees, counts memory kills, and tells of its death."""

from __future__ import annotations

import asyncio
from importlib.resources import files

from sandboxes.engines.docker.daemon import Connection
from sandboxes.engines.docker.frames import FrameReader
from sandboxes.engines.uninterrupted import uninterrupted
from sandboxes.errors import SandboxDiedError, SandboxError

_SCRIPT = files(__package__).joinpath("warden.sh").read_bytes()
_ANSWER_TIMEOUT_S = 10.0
"""A main process that does not answer for so long has been stopped or starved by what it should guard."""

_SHOWN_CHARACTERS = 100


def warden_command(lifetime_s: float) -> list[str]:
    """The main process of a container that is to live for ``lifetime_s`` seconds at most."""
    return ["bash", "-s", str(max(1, round(lifetime_s)))]


def tagged(tag: int, command: list[str]) -> list[str]:
    """``command``, recognisable together with all that comes of it.

    The mark is RLIMIT_LOCKS: it means nothing to Linux since 2.4.25, is inherited over fork, exec, setsid and a
    scrubbed environment, and cannot be raised without a capability. A process that lowers it on purpose can escape,
    as far as its container's end.
    """
    return ["prlimit", f"--locks={tag}:{tag}", "--", *command]


class Warden:
    """Requests to a running container's main process, over its standard input and output."""

    def __init__(self, container: str, connection: Connection) -> None:
        self._container = container
        self._connection = connection
        self._answers = FrameReader(connection.reader)
        self._one_at_a_time = asyncio.Lock()

    async def instruct(self) -> None:
        """Send the main process its script. Not an argument of it: nobody inside needs to read that in ``ps``."""
        self._connection.writer.write(_SCRIPT)
        await self.ping()

    async def ping(self) -> None:
        """Raises ``SandboxDiedError`` where the container is gone."""
        await self._ask("ping")

    async def end(self, tag: int) -> int:
        """End every process that descends from the command started with ``tag``.

        Returns how many there were; those that are dead already but not gone yet count, as they do against the limit.
        """
        return await self._count(f"end {tag}")

    async def oom_kills(self) -> int:
        return await self._count("oom")

    async def wait_for_death(self) -> None:
        """Wait until the container has ended."""
        async with self._one_at_a_time, asyncio.timeout(_ANSWER_TIMEOUT_S):
            while await self._answers.next():
                pass

    async def close(self) -> None:
        await self._connection.close()

    async def _count(self, request: str) -> int:
        answer = await self._ask(request)
        if not answer.isdecimal():
            what = f"the container answers {answer[:_SHOWN_CHARACTERS]!r} to '{request}'"
            raise SandboxError(what, where=self._container)
        return int(answer)

    async def _ask(self, request: str) -> str:
        async with self._one_at_a_time:
            try:
                # Uninterrupted, for an answer left unread would be taken for the next request's.
                return await uninterrupted(asyncio.wait_for(self._converse(request), _ANSWER_TIMEOUT_S))
            except (OSError, EOFError) as error:
                await self.close()
                raise SandboxDiedError("the container is gone", where=self._container) from error

    async def _converse(self, request: str) -> str:
        self._connection.writer.write(request.encode() + b"\n")
        await self._connection.writer.drain()
        answer = b""
        while not answer.endswith(b"\n"):
            frame = await self._answers.next()
            if frame is None:
                raise EOFError
            answer += frame.data
        return answer.decode().strip()
