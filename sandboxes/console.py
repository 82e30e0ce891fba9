"""A shell at a terminal: bytes come from the container's pty, and go to the tape and to the tracker of the shell."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Mapping

from sandboxes import shell
from sandboxes.engines.base import Stream
from sandboxes.errors import SandboxDiedError, SandboxError
from sandboxes.tape import Tape

# A pty takes 4 KiB until its program reads: in pieces of this size the tape tells how far the input got.
_PIECE_BYTES = 4096
_LAST_WORDS_CHARACTERS = 200
_EXIT_TIMEOUT_S = 5.0


class Console:
    """The interactive side of a terminal sandbox; made inside a running event loop.

    Output is read all the time, also between turns: a program never waits for us, and what comes between two turns
    belongs to the later one. A query of the terminal (cursor position, device attributes …) is taped like all output
    and never answered: what a program prints cannot become input.
    """

    def __init__(self, stream: Stream, tape: Tape, nonce: str) -> None:
        self.shell = shell.ShellTracker(nonce)
        self.ended = False
        """The stream has ended: the shell was left or has died."""
        self.last_output_at = asyncio.get_running_loop().time()
        """Event loop time of the last output."""
        self._stream = stream
        self._tape = tape
        self._greeting: str | None = ""
        self._first_mark = shell.first_mark(nonce)
        self._facts: Mapping[str, str] = {}
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._changed = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    async def first_prompt(self, timeout_s: float) -> Mapping[str, str]:
        """Wait for the shell's first prompt, with which the tape begins; return the facts that were printed before it.

        Raises :class:`~sandboxes.errors.SandboxError` where the shell does not get there.
        """
        try:
            async with asyncio.timeout(timeout_s):
                while not (self.shell.num_prompts or self.ended):
                    await self.change()
        except TimeoutError:
            raise SandboxError(f"the shell showed no prompt within {timeout_s:g} s{self._last_words()}") from None
        if not self.shell.num_prompts:
            await self._reader
            raise SandboxError(f"the shell ended before its first prompt{self._last_words()}")
        return self._facts

    def _last_words(self) -> str:
        words = (self._greeting or "").strip()[-_LAST_WORDS_CHARACTERS:]
        return f": {words}" if words else ""

    async def send(self, keys: bytes) -> None:
        """Type ``keys``, waiting while the program does not read. To a shell that has ended nothing is sent."""
        self.shell.typed(keys)
        for start in range(0, len(keys), _PIECE_BYTES):
            piece = keys[start : start + _PIECE_BYTES]
            self._tape.input(piece.decode("utf-8", "surrogateescape"))
            try:
                await self._stream.write(piece)
            except SandboxDiedError:
                return

    async def change(self, timeout_s: float | None = None) -> None:
        """Wait for output or for the end of the shell, at most ``timeout_s`` seconds."""
        self._changed.clear()
        if self.ended:
            return
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()
        except TimeoutError:
            return

    async def exit_code(self) -> int | None:
        """How the shell ended, after its output has: None where it was ended from outside, or lives on unseen."""
        await self._reader
        try:
            async with asyncio.timeout(_EXIT_TIMEOUT_S):
                return await self._stream.exit_code()
        except (SandboxDiedError, TimeoutError):
            return None

    async def close(self) -> None:
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._stream.close()

    async def _read(self) -> None:
        try:
            async for chunk in self._stream:
                self._receive(self._decoder.decode(chunk))
                # A program that prints without pause must not keep the event loop, and the time limits, waiting.
                await asyncio.sleep(0)
            self._receive(self._decoder.decode(b"", final=True))
        except SandboxDiedError:
            return
        finally:
            self.ended = True
            self._changed.set()

    def _receive(self, text: str) -> None:
        if self._greeting is not None:
            text = self._greet(self._greeting + text)
        if not text:
            return
        self.last_output_at = asyncio.get_running_loop().time()
        self._tape.output(text)
        self.shell.feed(text)
        self._changed.set()

    def _greet(self, greeting: str) -> str:
        """Keep what comes before the first prompt; return what belongs to the session."""
        mark = self._first_mark.search(greeting)
        if mark is None:
            self._greeting = greeting
            return ""
        self._greeting = None
        self._facts = shell.parse_facts(greeting[: mark.start()])
        return greeting[mark.start() :]
