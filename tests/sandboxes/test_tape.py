"""The tape of a terminal session: nothing is lost, and its events always make the same screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxes.tape import Tape, TapedTurn, without_lines_scrolled_away
from trajectories.renderers import Screen

_line_part = st.sampled_from(["a", "b" * 17, "x\ty", "日本", "é", "\r\n", "\r\n", "\r\n\r\n\r\n"])
_lines = st.lists(_line_part, max_size=80).map("".join)
_before = st.sampled_from(
    ["", "mid-line", "ZZZZZZZZZZ\r\n" * 8 + "\x1b[2;4H", "\x1b[?1049h", "\x1b[4h", "\x1b[?7l", "\x1b]0;open"]
)
_after = st.sampled_from(["", "\r", "end", "\x1b[H.", "\x1b[A."])
_output = st.lists(
    _line_part | st.sampled_from(["\x1b[3A", "\x1b[2J", "\x1b[31m", "\x1b[s", "\x1b[u"]) | st.text(), max_size=30
)


@pytest.fixture
def tape() -> Iterator[Tape]:
    tape = Tape(rows=4, columns=20, capture_bytes=1000)
    yield tape
    tape.close()


def screen_of(*turns: TapedTurn, rows: int = 4, columns: int = 20) -> str:
    screen = Screen(rows, columns)
    for turn in turns:
        for event in turn.events:
            if event.kind == "o":
                screen.feed(event.data.encode("utf-8", "surrogateescape"))
    return screen.text()


def test_a_turn_holds_its_own_events_and_the_screen_holds_all(tape: Tape) -> None:
    tape.output("$ ")
    first = tape.cut()
    tape.input("ls\r")
    tape.output("ls\r\n")
    second = tape.cut()
    assert [(event.kind, event.data) for event in second.events] == [("i", "ls\r"), ("o", "ls\r\n")]
    assert (first.text, second.text, second.bytes_total) == ("$", "$ ls", 4)


def test_output_beyond_the_cap_is_counted_and_shown_but_not_kept(tape: Tape) -> None:
    tape.output("x" * 900)
    tape.output("y" * 5000)
    tape.output("\r\nlast")
    turn = tape.cut()
    assert (turn.truncated, turn.bytes_total) == (True, 5906)
    assert turn.text.endswith("\nlast")
    assert "y" * 5000 not in "".join(event.data for event in turn.events)
    assert screen_of(turn) == turn.text


def test_the_turn_after_a_truncated_one_is_whole(tape: Tape) -> None:
    tape.output("x" * 5000 + "\x1b[?1049h\x1b[2;3Hfull screen")
    cut = tape.cut()
    tape.output("\x1b[3;3Hmore")
    whole = tape.cut()
    assert (cut.truncated, whole.truncated) == (True, False)
    assert screen_of(cut, whole) == whole.text == "\n  full screen\n  more"


def test_bytes_that_are_not_utf8_are_kept_and_counted_as_bytes(tape: Tape) -> None:
    tape.output(b"\xff\xe2\x82".decode("utf-8", "surrogateescape"))
    turn = tape.cut()
    assert turn.bytes_total == 3
    assert [event.data.encode("utf-8", "surrogateescape") for event in turn.events] == [b"\xff\xe2\x82"]


@given(_output, st.integers(0, 2000))
def test_the_screen_is_always_what_the_events_make(chunks: list[str], capture_bytes: int) -> None:
    tape = Tape(rows=4, columns=20, capture_bytes=capture_bytes)
    for chunk in chunks:
        tape.output("".join(character for character in chunk if not "\ud800" <= character <= "\udfff"))
    turn = tape.cut()
    assert screen_of(turn) == turn.text
    tape.close()
    turn.events.close()


@given(_before, _lines, _after, st.integers(2, 6), st.integers(5, 14))
def test_lines_that_scroll_away_leave_no_trace_on_the_screen(
    before: str, lines: str, after: str, rows: int, columns: int
) -> None:
    whole, shortened = Screen(rows, columns), Screen(rows, columns)
    whole.feed((before + lines + after).encode())
    shortened.feed((before + without_lines_scrolled_away(lines + after, rows)).encode())
    assert shortened.text() == whole.text()
    for screen in (whole, shortened):
        screen.feed(b"\x1b[AX")
    assert shortened.text() == whole.text()


def test_a_flood_of_lines_is_cut_down_to_what_can_be_seen() -> None:
    assert len(without_lines_scrolled_away("y\r\n" * 100_000, 40)) == 3 * 81


@pytest.mark.parametrize("odd", ["\x1b[2J", "\n", "\r", "\x07", "\b"])
def test_what_is_not_plain_lines_is_never_left_out(odd: str) -> None:
    text = "y\r\n" * 1000 + odd + "y\r\n" * 1000
    assert without_lines_scrolled_away(text, 10) == text
