"""Renderers make the text of an observation from its raw form; each has a name and a version.

A text is made again by the renderer that its row names, so a new format is a new version, never a change of an old one.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from trajectories.errors import InputError
from trajectories.recording import SessionRecording
from trajectories.renderers import mcp_text, terminal_screen
from trajectories.renderers.mcp_text import replay_mcp
from trajectories.renderers.terminal_replay import replay_terminal
from trajectories.renderers.terminal_screen import Screen

Replayer: TypeAlias = Callable[[SessionRecording], Iterator[tuple[int, str]]]

RENDERERS: Final[Mapping[str, Replayer]] = {
    terminal_screen.RENDERER: replay_terminal,
    mcp_text.RENDERER: replay_mcp,
}


def replay(recording: SessionRecording, renderer: str | None = None) -> Iterator[tuple[int, str]]:
    """``(turn, text)`` for every turn of a recording, exactly as recorded; turn 0 is the initial observation.

    Args:
        recording: its header also says what the renderer must know, such as the size of the screen.
        renderer: name and version; unless given, the one the header names, else (an asciicast of any other program)
            ``terminal-screen@1``.
    """
    if renderer is None:
        renderer = str(recording.header.get("renderer", terminal_screen.RENDERER))
    if renderer not in RENDERERS:
        raise InputError(f"no renderer makes {renderer!r} from a recording", mend=f"known are: {', '.join(RENDERERS)}")
    return RENDERERS[renderer](recording)


__all__ = ["RENDERERS", "Replayer", "Screen", "replay"]
