"""A small environment of its own: a notepad that answers at once, in this process."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping

from sandboxes.base import SandboxFacts
from sandboxes.errors import SandboxError
from trajectories import Action, EventSpool, JsonValue, Observation, RawEvent, SystemPrompt


class Notepad:
    """A sandbox that appends each action's text to a page and shows the page.

    The text ``crash`` makes its step raise, ``hang`` makes it wait for ``goes_on``, ``leave`` ends it, ``die`` ends it
    after the step, ``stick`` makes it refuse to close.
    """

    def __init__(
        self,
        first_line: str = "",
        *,
        versions: Mapping[str, str] | None = None,
        step_timeout_s: float | None = None,
        outcome: Mapping[str, JsonValue] | None = None,
    ) -> None:
        self.page = [first_line] if first_line else []
        self.closed = 0
        self.goes_on = asyncio.Event()
        self._step_timeout_s = step_timeout_s
        self._outcome = outcome or {}
        self._versions = versions or {}
        self._spool = EventSpool()

    @property
    def facts(self) -> SandboxFacts:
        prompt = SystemPrompt(task_description="A notepad.", initial_state="\n".join(self.page))
        return SandboxFacts(
            domain="notepad",
            sandbox="notepad@1",
            engine=None,
            image_digest=None,
            prompt=prompt,
            versions=self._versions,
            step_timeout_s=self._step_timeout_s,
        )

    async def start(self) -> Observation:
        return self._observation("".join(self.page))

    async def step(self, action: Action) -> Observation:
        if action.payload == "crash":
            raise RuntimeError("the notepad is torn")
        if action.payload == "hang":
            await self.goes_on.wait()
        if action.payload != "look":
            self.page.append(str(action.payload))
        return self._observation(str(action.payload), ended=action.payload == "leave")

    async def alive(self) -> bool:
        return "die" not in self.page

    async def close(self) -> None:
        self.closed += 1
        self._spool.close()
        if "stick" in self.page:
            raise SandboxError("the notepad sticks")

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
            outcome=self._outcome,
            ended=ended,
        )
