"""A small environment of its own: a notepad that answers at once, in this process."""

from __future__ import annotations

import asyncio
import hashlib

from sandboxes.base import SandboxFacts
from trajectories import Action, EventSpool, Observation, RawEvent, SystemPrompt


class Notepad:
    """A sandbox that appends each action's text to a page and shows the page.

    The text ``crash`` makes its step raise, ``hang`` makes it wait for ever, ``leave`` ends it.
    """

    def __init__(self, first_line: str = "") -> None:
        self.page = [first_line] if first_line else []
        self.closed = 0
        self._spool = EventSpool()

    @property
    def facts(self) -> SandboxFacts:
        prompt = SystemPrompt(task_description="A notepad.", initial_state="\n".join(self.page))
        return SandboxFacts(domain="notepad", sandbox="notepad@1", engine=None, image_digest=None, prompt=prompt)

    async def start(self) -> Observation:
        return self._observation("".join(self.page))

    async def step(self, action: Action) -> Observation:
        if action.payload == "crash":
            raise RuntimeError("the notepad is torn")
        if action.payload == "hang":
            await asyncio.Event().wait()
        if action.payload != "look":
            self.page.append(str(action.payload))
        return self._observation(str(action.payload), ended=action.payload == "leave")

    async def close(self) -> None:
        self.closed += 1
        self._spool.close()

    def _observation(self, output: str, *, ended: bool = False) -> Observation:
        self._spool.close()
        self._spool = EventSpool()
        for seconds, start in enumerate(range(0, len(output), 5)):
            self._spool.append(RawEvent(float(seconds), "o", output[start : start + 5]))
        text = "\n".join(self.page)
        return Observation(
            text=text,
            renderer="notepad@1",
            raw=self._spool,
            bytes_total=len(output.encode()),
            state=hashlib.sha256(text.encode()).hexdigest()[:16],
            ended=ended,
        )
