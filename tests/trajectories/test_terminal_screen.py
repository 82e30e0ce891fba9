"""What a terminal shows: against hand-written expectations, however the bytes arrive."""

import json
import os
import resource
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.trajectories.store_support import forked
from trajectories.recording import parse_event
from trajectories.renderers import Screen

CASES = Path(os.environ.get("WORLDTAPE_CASES", Path(__file__).parents[2] / "../shared/cases"))
CASTS = CASES / "import" / "asciicast"


def shown(*chunks: bytes, rows: int = 4, columns: int = 20) -> str:
    screen = Screen(rows, columns)
    for chunk in chunks:
        screen.feed(chunk)
    text = screen.text()
    screen.close()
    return text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"", ""),
        (b"$ echo hi\r\nhi\r\n$ ", "$ echo hi\nhi\n$"),
        (b"a   \r\n\r\n  b \r\n", "a\n\n  b"),
        (b"1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5"),
        (b"x" * 25, "x" * 20 + "\n" + "x" * 5),
        (b"x" * 20 + b"\r\ny", "x" * 20 + "\ny"),
        (b"first\rF", "First"),
        (b"\x1b[2J\x1b[2;3Hat\x1b[1;1Htop", "top\n  at"),
        (b"\x1b[31;1mred\x1b[0m plain", "red plain"),
        (b"\x1b]0;a title\x07text", "text"),
        (b"a\tb", "a       b"),
        (b"abc\x08\x08X", "aXc"),
        (b"main\x1b[?1049h\x1b[Htui\x1b[?1049l!", "main!"),
        (b"main\x1b[?1049h\x1b[Htui", "tui"),
        ("你好a".encode(), "你好a"),
        (("你" * 11).encode(), "你" * 10 + "\n你"),
        ("e\u0301x".encode(), "e\u0301x"),
        ("⚠\ufe0f W│ok".encode(), "⚠\ufe0f W│ok"),
        (b"ab\x1b[s\x1b[3;1Hzz\x1b[ucd", "abcd\n\nzz"),
        (b"a\x1b[?1u\x1b[>1u\x1b[<u\x1b[=5;1ub", "ab"),
        (b"a\x1b[1;3sb", "ab"),
        (b"\x1b(0lqqk\x1b(B x", "┌──┐ x"),
        (b"\x1b)0a\x0eqx\x0fq", "a─│q"),
        (b"\x1b(0q\x1b[31mq\x1b[1;1Hx\x1bcq", "q"),
        (b"\xff\xfea\xc3(", "a("),
    ],
)
def test_a_screen_shows(output: bytes, text: str) -> None:
    assert shown(output) == text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"abcdefgh\x1b[DX", "abcdefXh"),
        (b"abcdefgh\x1b[31m\x1b[3DX", "abcdXfgh"),
        (b"abcdefgh\bX", "abcdefXh"),
        (b"abcdefgh\b\bX", "abcdeXgh"),
        (b"abc\x1b[0DX", "abX"),
        (b"\x1b[DX", "X"),
        (b"a\r\n\bX", "a\nX"),
        (b"a\r\nb\r\nc\x1b[2;3rX", "X\nb\nc"),
        (b"a\r\nb\x1b[;2rX", "X\nb"),
        (b"a\r\nb\x1b[3;2rX", "a\nbX"),
        (b"a\r\nb\x1b[?6h\x1b[2;3rX", "a\nX"),
        (b"1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\n\nX", "1\n\nX\n4"),
        (b"\x1b[?7labcdefghijklX", "abcdefgX"),
        (b"\x1b[?25;7labcdefghij\r\nk", "abcdefgj\nk"),
        (b"\x1b[?7labcdefge\xcc\x81X", "abcdefgX"),
        (b"\x1b[?7labcdefghe\xcc\x81", "abcdefge\u0301"),
        (b"\x1b[?7labcdefghij\x1b[?7hk", "abcdefgj\nk"),
        (b"\x1b[?7l\x1bcabcdefghi", "abcdefgh\ni"),
        (b"\x1b[?7labc\x1b]0;a long title\x07defghijk", "abcdefgk"),
        (b"\x1b[?7labcdefghij\b\bX", "abcdeXgj"),
        (b"\x1b[?7l\x1b(0qqqqqqqqqqx\x1b(BX", "───────X"),
        (b"abcdefgh\x1b[?7lX", "abcdefgX"),
        (b"ab\x1bDX", "ab\n  X"),
        (b"ab\x1bEX", "ab\nX"),
        (b"ab\x1b[5`X\x1b[2aY", "ab  X  Y"),
        (b"ab\x1b[2eX", "ab\n\n  X"),
        (b"ab\x1b[3bX", "abbbbX"),
        ("你\x1b[2bX".encode(), "你你你X"),
        (b"\x1b(0q\x1b[3b\x1b(BX", "────X"),
        (b"\x1b[3bX\x1b[H\x1b[2bY", "Y"),
        (b"\x1b[?7la\x1b[12bX", "aaaaaaaX"),
        (b"\x1b]0;ab\bcd\x1b[3b\x07X", "X"),
        (b"abc\x1b[2\bDX", "Xbc"),
    ],
)
def test_a_screen_shows_what_xterm_shows(output: bytes, text: str) -> None:
    """As xterm.js 6 does, fed the same bytes."""
    assert shown(output, columns=8) == text
    assert shown(*(bytes([byte]) for byte in output), columns=8) == text


_PIECES = st.one_of(
    st.sampled_from(
        [b"\x1b", b"[", b"\x1b[s", b"\x1b[u", b"\x1b7", b"\x1b8", b"\x1b(0", b"\x1b(B", b"\x0e", b"\x0f", b"\x1b)0"]
        + [b"\x1bc", b"\x1b[!p", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[2;3r", b"\x1b[H", b"\x1b[?7l", b"\x1b[?6h"]
        + ["你".encode(), "\u0301".encode(), "\ufe0f".encode(), b"\r\n", b"\t", b"\x1b]0;t\x07", b"\x1bP", b"\x1b\\"]
        + [b"\b", b"\x1bD", b"\x1bE", b"\x1b[?7h", b"\x1b[?7;25l", b"\x1b]2;a\bb", b"\x18", b"\x1b[m", b"x" * 21]
        + [b"\x1b[%dX" % n for n in (1, 99)]
    ),
    st.builds(
        lambda numbers, end: b"\x1b[" + b";".join(b"%d" % n for n in numbers) + end,
        st.lists(st.sampled_from([0, 1, 2, 3, 19, 20, 65535, 10**10]), max_size=3),
        st.sampled_from([bytes([c]) for c in b"ABCDEFGHJKLMPSTX@abdefghlmnrsuz`"]),
    ),
    st.text(alphabet="abq xl~_", max_size=30).map(str.encode),
    st.binary(max_size=5),
)
_STREAMS = st.lists(_PIECES, max_size=40).map(b"".join)


@given(_STREAMS, st.data())
@settings(max_examples=100, deadline=None)
@example(b"ab\x1b[s\x1b[3;1H\x1b(0q\x1b[5;5Hq\x1b[u", None)
@example(b"\xc2\x80!\x80", None)
@example("é!漢!🧑!".encode() + b"\x80", None)
def test_where_the_bytes_are_cut_makes_no_difference(stream: bytes, data: st.DataObject | None) -> None:
    if data is None:
        chunks = [bytes([byte]) for byte in stream]
    else:
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
        chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert shown(*chunks) == shown(stream)


@given(st.lists(st.one_of(_STREAMS, st.tuples(st.integers(1, 30), st.integers(1, 30))), max_size=8))
@settings(max_examples=80, deadline=None)
@example([("你" * 40).encode(), (4, 19), b"\x1b[1;1H\x1b[2K\x1b[99Gabc", b"x"])
@example([(1, 1), "你".encode()])
def test_nothing_that_is_fed_raises(steps: list[bytes | tuple[int, int]]) -> None:
    screen = Screen(4, 20)
    for step in steps:
        if isinstance(step, tuple):
            screen.resize(*step)
        else:
            screen.feed(step)
        text = screen.text()
        assert len(text.split("\n")) <= screen.rows
        screen.formatted()
    screen.close()


def test_a_screen_whose_emulator_fails_starts_again_blank_and_goes_on() -> None:
    screen = Screen(4, 20)
    screen.feed(("你" * 10).encode())
    screen.resize(4, 19)
    screen.feed(b"\x1b[1;19H")
    screen.feed(b"\x1b[K")
    screen.feed(b"after")
    assert "after" in screen.text()


_FAIL_WITH_A_HANDLER_OF_ONES_OWN = """
import faulthandler
from trajectories.renderers import Screen
screen = Screen(1, 1)
faulthandler.enable()
screen.feed(("你" * 5).encode() + b"x")
print(screen.text())
"""


def test_a_failing_emulator_harms_no_process_that_handles_signals_itself() -> None:
    command = [sys.executable, "-c", _FAIL_WITH_A_HANDLER_OF_ONES_OWN]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stderr) == (0, "")


def test_other_screens_are_not_touched_by_one_that_fails() -> None:
    healthy, broken = Screen(2, 20), Screen(1, 1)
    healthy.feed(b"still ")
    broken.feed("你".encode() * 5)
    healthy.feed(b"here")
    assert healthy.text() == "still here"


def test_a_resize_keeps_what_fits_and_goes_on() -> None:
    screen = Screen(3, 10)
    screen.feed(b"0123456789\r\nsecond")
    screen.resize(2, 5)
    assert screen.text() == "01234\nsecon"
    screen.resize(2, 20)
    screen.feed(b"\x1b[2;1Hwider than before")
    assert screen.text() == "01234\nwider than before"


def test_a_formatted_screen_draws_the_same_picture() -> None:
    screen = Screen(4, 20)
    screen.feed("\x1b[31mred\x1b[0m 你e\u0301\r\n".encode() + b"x" * 25)
    copy = Screen(4, 20)
    copy.feed(screen.formatted())
    assert copy.text() == screen.text()
    assert copy.formatted() == screen.formatted()


@pytest.mark.parametrize(("rows", "columns"), [(0, 80), (24, 0), (1001, 80), (24, -1)])
def test_a_size_that_no_terminal_has_is_refused(rows: int, columns: int) -> None:
    with pytest.raises(ValueError, match="1 to 1000 rows and columns"):
        Screen(rows, columns)


def memory_of_much_output(result: Connection) -> None:
    screen = Screen(40, 160)
    chunk = b"\x1b[32mall work\x1b[0m and no play\r\n" * 40_000
    screen.feed(chunk)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(10):
        screen.feed(chunk)
    for _ in range(150):
        Screen(40, 160).feed(b"another screen")
    for _ in range(100):
        Screen(40, 160).close()
    result.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def test_memory_grows_neither_with_the_output_nor_with_the_number_of_screens_used() -> None:
    with forked(memory_of_much_output) as (_, result):
        grown_mib = result.recv()
    assert grown_mib < 16


@pytest.mark.parametrize(
    ("name", "expected", "last_row"),
    [
        ("v2-zsh-git-prompt", ["-rw-r--r--  1 enex2md enex2md 2382 Feb 28 21:21 wordpress-theme.md"], None),
        ("v2-bash-resize-kwok", [], "Cluster is deleted"),
        ("v2-input-and-markers-tcut", ["4.0K    demo.video.ts"], None),
        ("v2-tmux-marker", ["4.0K    LICENSE"], "Goodbye"),
        ("v2-cjk-prismer", ["  ✓ Gene matched: Timeout Recovery", "第 56 行： printf"], "    Confidence: 0"),
        ("v2-broken-line", ["foo barżółć jaźń"], "foo barżółć jaźń"),
        ("v3-emoji-table-hasscheck", [], "Done. See docs/demo.md for the full walkthrough."),
        ("v3-input-resize", ["foo barbaz quxżółć jaźń"], "foo barbaz quxżółć jaźń"),
        ("v3-comments-blank-lines", ["foo barbaz quxżółć jaźńbye!"], "foo barbaz quxżółć jaźńbye!"),
    ],
)
def test_published_recordings_end_with_the_screen_of_another_emulator(
    name: str, expected: list[str], last_row: str | None
) -> None:
    text = played(name).text()
    for line in expected:
        assert line in text
    assert last_row is None or last_row in text.split("\n")[-1]


def test_a_published_recording_of_a_full_screen_program_shows_it_and_then_leaves_nothing() -> None:
    rows = played("v2-tui-htop", leave_out=1).text().split("\n")
    assert rows[0] == ""
    assert rows[1] == "  1  [|||                        5.6%]   Tasks: 33; 1 running"
    assert rows[-1].startswith("F1Help  F2Setup F3SearchF4Filter")
    assert any("├─" in row for row in rows)
    assert played("v2-tui-htop").text() == ""


def played(name: str, *, leave_out: int = 0) -> Screen:
    """A screen after all but the last few events of a published recording."""
    path = CASTS / f"{name}.cast"
    if not path.exists():
        pytest.skip("the published recordings are not here")
    lines = [line for line in path.read_text().splitlines() if line.startswith(("{", "["))]
    events = [parse_event(line) for line in lines if line.startswith("[")]
    header = json.loads(lines[0])
    size = header["term"] if header["version"] == 3 else {"rows": header["height"], "cols": header["width"]}
    screen = Screen(size["rows"], size["cols"])
    for event in events[: len(events) - leave_out]:
        if event.kind == "o":
            screen.feed(event.data.encode("utf-8", "surrogateescape"))
        elif event.kind == "r":
            columns, rows = map(int, event.data.split("x"))
            screen.resize(rows, columns)
    return screen
