"""Reading off the output what the shell is doing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxes.shell import ShellTracker, parse_facts

NONCE = "0123456789abcdef"


def prompt(status: int, at: int) -> str:
    return f"\x1b]133;D;{status};aid={NONCE}\a\x1b]133;A;aid={NONCE};at={at}\a$ \x1b]133;B;aid={NONCE}\a"


COMMAND_STARTS = f"\x1b]133;C;aid={NONCE}\a"


def told(*outputs: str) -> ShellTracker:
    tracker = ShellTracker(NONCE)
    for output in outputs:
        tracker.feed(output)
    return tracker


def test_a_command_runs_from_its_start_to_the_next_prompt() -> None:
    tracker = told(prompt(0, 1), "ls\r\n", COMMAND_STARTS)
    assert (tracker.running, tracker.num_prompts, tracker.exit_code) == (True, 1, None)
    tracker.feed("file\r\n" + prompt(2, 2))
    assert (tracker.running, tracker.num_prompts, tracker.exit_code) == (False, 2, 2)


def test_a_prompt_drawn_again_is_the_same_prompt() -> None:
    assert told(prompt(0, 1), "\x1b[H\x1b[2J", prompt(0, 1)).num_prompts == 1


def test_marks_with_another_nonce_are_not_the_shells() -> None:
    assert told(prompt(0, 1).replace(NONCE, "f" * 16)).num_prompts == 0


def test_each_line_owes_a_prompt_until_it_comes() -> None:
    tracker = told(prompt(0, 1))
    tracker.typed(b"sleep 1\rls\r")
    assert tracker.owed_prompts == 2
    tracker.feed(COMMAND_STARTS + prompt(0, 2))
    assert tracker.owed_prompts == 1


def test_an_interrupt_discards_what_was_typed_before_it() -> None:
    tracker = told(prompt(0, 1), COMMAND_STARTS)
    tracker.typed(b"ls\rls\r\x03pwd\r")
    assert tracker.owed_prompts == 2


def test_modes_of_full_screen_programs_are_followed() -> None:
    tracker = told("\x1b[?1049;1h")
    assert (tracker.alternate_screen, tracker.application_cursor) == (True, True)
    tracker.feed("\x1b[?1l\x1b[?1049l")
    assert (tracker.alternate_screen, tracker.application_cursor) == (False, False)


@given(st.integers(1, 40), st.sampled_from(["", "é\r\n", "\x1b[31m", "\x1b]0;title\a", "\x1b"]))
def test_a_mark_may_be_cut_anywhere(size: int, between: str) -> None:
    output = prompt(0, 1) + between + COMMAND_STARTS + "\x1b[?1049h" + between + "\x1b[?1049l" + prompt(7, 2)
    whole = told(output)
    pieces = told(*(output[start : start + size] for start in range(0, len(output), size)))
    assert pieces == whole
    assert (whole.num_prompts, whole.exit_code, whole.alternate_screen) == (2, 7, False)


@given(st.text(st.sampled_from("\x1b]133;ABCDaid=?hl\a[0123456789ef\\")))
def test_no_output_confuses_it_for_good(noise: str) -> None:
    tracker = told(noise, "\a\x1b\\", prompt(0, 1))
    assert not tracker.running
    assert tracker.num_prompts == 1


@pytest.mark.parametrize(
    ("greeting", "facts"),
    [
        ("os=Debian\r\nkernel=Linux 6\r\n", {"os": "Debian", "kernel": "Linux 6"}),
        ("bash: warning\r\nos=\r\nmemory=1=2\r\n", {"memory": "1=2"}),
        ("", {}),
    ],
)
def test_facts_are_what_the_shell_printed_as_such(greeting: str, facts: dict[str, str]) -> None:
    assert parse_facts(greeting) == facts
