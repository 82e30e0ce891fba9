"""From a session's recording back to the observation texts that were made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trajectories.errors import InputError
from trajectories.recording import RawEvent, SessionRecording, marked_turn
from trajectories.renderers.terminal_screen import Screen


def replay_terminal(recording: SessionRecording) -> Iterator[tuple[int, str]]:
    """Each turn's screen as ``terminal-screen@1`` renders it; turn 0 is what was visible before the first action."""
    columns, rows = (_size(recording.header, key) for key in ("width", "height"))
    screen = Screen(rows, columns)
    try:
        yield from _screens(screen, recording)
    finally:
        screen.close()


def _screens(screen: Screen, events: Iterable[RawEvent]) -> Iterator[tuple[int, str]]:
    turn = 0
    for event in events:
        if event.kind == "o":
            screen.feed(event.data.encode("utf-8", "surrogateescape"))
        elif event.kind == "r":
            columns, rows = event.data.split("x")
            screen.resize(int(rows), int(columns))
        elif (next_turn := marked_turn(event)) is not None:
            yield turn, screen.text()
            turn = next_turn
    yield turn, screen.text()


def _size(header: Mapping[str, object], key: str) -> int:
    size = header.get(key)
    if not isinstance(size, int):
        raise InputError(f"the recording's header has no {key}", mend="only a terminal's recording can be replayed")
    return size
