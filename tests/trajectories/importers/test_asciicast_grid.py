"""The light terminal of the segmenter: its cursor is where the emulator's is."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trajectories.importers.asciicast.grid import Grid
from trajectories.renderers import Screen

ROWS, COLUMNS = 4, 12
_MARK = "◆"

_PIECES = st.one_of(
    st.sampled_from(["a", "bc", "hello world", "e\u0301", "⚠\ufe0f", "x" * 15, "\r\n", "\r", "\n", "\t", "\x1b[m"])
    | st.sampled_from(
        ["\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1bM", "\x1b[H", "\x1b[2J", "\x1b[J", "\x1b[K", "\x1b[1K"]
    )
    | st.sampled_from(["\x1b[?25l", "\x1b]0;title\x07", "\x1b(B", "\x1b[31m"]),
    st.builds(lambda count, end: f"\x1b[{count}{end}", st.integers(0, 5), st.sampled_from("ABCGdPXLMST")),
    st.builds(lambda row, column: f"\x1b[{row};{column}H", st.integers(0, 6), st.integers(0, 14)),
)


@given(st.lists(_PIECES, max_size=25).map("".join))
@settings(max_examples=150, deadline=None)
@example("x" * 15 + "\r\n$ ls")
def test_what_stands_before_the_cursor_is_what_a_screen_shows_there(stream: str) -> None:
    """Not for going back from the right edge, nor for scrolling regions: there the grid does as xterm does."""
    grid, screen = Grid(ROWS, COLUMNS), Screen(ROWS, COLUMNS)
    grid.feed(stream)
    screen.feed(f"{stream}{_MARK}".encode())
    (row,) = (row for row in screen.text().split("\n") if _MARK in row)
    before = row.partition(_MARK)[0]
    assert grid.line()[1].rstrip()[-COLUMNS:].endswith(before.rstrip()[-5:])


def test_half_of_a_wide_character_that_is_written_over_is_none() -> None:
    grid = Grid(ROWS, COLUMNS)
    grid.feed("你好\x1b[2Gab")
    assert grid.line()[1:] == (" ab", " ")


@pytest.mark.parametrize("cut", range(1, 30))
def test_where_the_text_is_cut_makes_no_difference(cut: int) -> None:
    text = "\x1b[1;32mme\x1b[0m\x1b]2;a title\x1b\\$ \x1b[3Dok\r\nx"
    whole, parts = Grid(ROWS, COLUMNS), Grid(ROWS, COLUMNS)
    whole.feed(text)
    parts.feed(text[:cut])
    parts.feed(text[cut:])
    assert parts.line()[1:] == whole.line()[1:]


def test_a_line_that_wraps_is_one_line() -> None:
    grid = Grid(ROWS, COLUMNS)
    ended: list[str] = []
    grid.on_line_end.append(lambda: ended.append("".join(grid.line()[1:])))
    grid.feed("before\r\n" + "0123456789" * 3 + "\r\nafter")
    assert ended == ["before", "0123456789" * 3]


def test_commands_to_the_system_are_handed_on() -> None:
    grid = Grid(ROWS, COLUMNS)
    told: list[str] = []
    grid.on_command.append(told.append)
    grid.feed("\x1b]133;A\x07$ \x1b]133;")
    grid.feed("B\x1b\\ls")
    assert told == ["133;A", "133;B"]


def test_the_screen_of_full_screen_programs_is_another_one() -> None:
    grid = Grid(ROWS, COLUMNS)
    grid.feed("shell$ \x1b[?1049h\x1b[2Jfull")
    assert grid.is_alternate
    grid.feed("\x1b[?1049l")
    assert not grid.is_alternate
    assert grid.line()[1] == "shell$ "
    assert grid.num_alternate == 1
