"""Whatever a recording holds: it is imported, or refused by the one error, and its replay shows what was observed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.trajectories.importers.asciicast_support import Session
from trajectories.importers import Imported, UnreadableError
from trajectories.importers.asciicast import read
from trajectories.renderers import Screen


def whole_session() -> bytes:
    """A recording with a bit of everything."""
    session = Session(rows=6, columns=20, with_input=True).command("ls", "a  \x1b[1mb\x1b[0m\r\n").command("# note")
    session.command("cat <<E").out("> ").line("x").out("> ").line("E", "x\r\n").event("r", "30x8").event("m", "turn 9")
    session.command("vi", "\x1b[?1049h\x1b[H你好").keys(":q", ":q").keys("\r", "\x1b[?1049l").command("exit", "bye")
    session.event("i", "\x1b[?62;22c").out("\x1b]133;A\x07$ \x1b]133;B\x07", "e", "\u0301", "\x1b[2004h")
    return session.text().encode()


WHOLE = whole_session()
_PIECES = (
    *("$ ", "> ", ">>> ", "ls", "cat <<A", "'", "你", "\r\n", "\r", "\t", "\x7f", "\x03", "\x1b"),
    *("\x1b[A", "\x1b[10A", "\x1b[2J", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?2004h", "\x1b[?2004l\r\r\n"),
    *("\x1b]133;B\x07", "\x1b]133;C\x07", "\x1b]133;D;7\x07"),
)
_DATA = st.text(max_size=8) | st.sampled_from(_PIECES)
_EVENTS = st.lists(st.tuples(st.floats(0, 9), st.sampled_from("ooooiirmxz"), _DATA), max_size=40)


def is_sound(path: Path) -> bool:
    """Import a file; whether it could be, and then each turn's raw events show what was observed."""
    try:
        results = list(read(path))
    except UnreadableError:
        return False
    for result in results:
        if isinstance(result, Imported):
            assert_replays(result)
    return True


def assert_replays(imported: Imported) -> None:
    header = imported.recording_header
    screen = Screen(int(str(header["height"])), int(str(header["width"])))
    observations = [imported.initial, *(turn.observation for turn in imported.turns)]
    turns = iter(imported.turns)
    for number, expected in enumerate(observations):
        observation = expected if number == 0 else next(turns).observation
        assert observation.raw is not None
        for event in observation.raw:
            if event.kind == "o":
                screen.feed(event.data.encode())
            elif event.kind == "r":
                columns, rows = map(int, event.data.split("x"))
                screen.resize(rows, columns)
        assert screen.text() == expected.text
    screen.close()


def test_the_recording_that_is_mutated_is_a_good_one(tmp_path: Path) -> None:
    path = tmp_path / "a.cast"
    path.write_bytes(WHOLE)
    assert is_sound(path)


@pytest.mark.parametrize("seed", range(150))
def test_a_mutated_file_is_imported_or_refused_by_the_one_error(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    content = bytearray(WHOLE)
    for _ in range(chance.choice([1, 3, 20])):
        place = chance.randrange(len(content))
        match chance.randrange(4):
            case 0:
                content[place] = chance.randrange(256)
            case 1:
                del content[place : place + chance.randrange(40)]
            case 2:
                content[place:place] = chance.randbytes(chance.randrange(5))
            case _:
                start = chance.randrange(len(content))
                content[place:place] = content[start : start + chance.randrange(200)]
    path = tmp_path / "a.cast"
    path.write_bytes(content)
    is_sound(path)


@given(events=_EVENTS, version=st.sampled_from([2, 3]), size=st.tuples(st.integers(1, 30), st.integers(1, 10)))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_events_are_imported(
    events: list[tuple[float, str, str]], version: int, size: tuple[int, int], tmp_path: Path
) -> None:
    session = Session(columns=size[0], rows=size[1])
    session.header = {"version": version, "term": {"cols": size[0], "rows": size[1]}}
    for seconds, kind, data in events:
        session.event(kind, data, after=seconds)
    path = tmp_path / "a.cast"
    path.write_text(session.text())
    assert is_sound(path)
