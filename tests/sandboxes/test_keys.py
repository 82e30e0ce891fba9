"""What an agent may type, and what a keyboard sends for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxes.keys import Entry, encode_keystrokes, parse_action
from trajectories import InputError, JsonValue

_KEY_NAMES = ["Enter", "Escape", "Space", "Tab", "BTab", "BSpace", "Up", "Down", "Left", "Right", "Home", "End"]
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_text = st.text(st.characters(exclude_categories=["Cs"]))


def test_an_action_is_a_list_of_keystrokes_and_durations() -> None:
    payload: JsonValue = [{"keystrokes": "ls\n", "duration": 1}, {"keystrokes": "", "duration": 0.5}]
    assert parse_action(payload) == [Entry("ls\n", 1.0), Entry("", 0.5)]


def test_an_empty_action_is_valid_and_says_the_task_is_complete() -> None:
    assert parse_action([]) == []


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (None, "a terminal action is an array, not null"),
        ("ls\n", "a terminal action is an array, not a string"),
        ({"keystrokes": "ls\n", "duration": 1}, "a terminal action is an array, not an object"),
        (["ls\n"], "an entry is an object, not a string (entry 1)"),
        ([{"keystrokes": "ls\n"}], "an entry holds 'keystrokes' and 'duration', not 'keystrokes' (entry 1)"),
        ([{"keystrokes": 3, "duration": 1}], "'keystrokes' is a string, not a number (entry 1)"),
        ([{"keystrokes": "\ud800", "duration": 1}], "'keystrokes' holds half a surrogate pair (entry 1)"),
        ([{"keystrokes": "", "duration": True}], "'duration' is a number of seconds, not a boolean (entry 1)"),
        ([{"keystrokes": "", "duration": -1}], "'duration' is a finite number of seconds, 0 or more (entry 1)"),
        (
            [{"keystrokes": "", "duration": float("inf")}],
            "'duration' is a finite number of seconds, 0 or more (entry 1)",
        ),
    ],
)
def test_a_malformed_action_is_refused_in_one_line(payload: object, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_action(payload)  # type: ignore[arg-type]  # wrong types are the point
    assert str(refused.value).startswith(message)


@given(_json)
def test_any_json_is_either_an_action_or_refused_in_one_line(payload: object) -> None:
    outcome: list[Entry] | InputError
    try:
        outcome = parse_action(payload)  # type: ignore[arg-type]  # st.floats may be nan, which JSON has not
    except InputError as refusal:
        outcome = refusal
    assert "\n" not in str(outcome) if isinstance(outcome, InputError) else isinstance(payload, list)


@given(_text)
def test_ordinary_text_is_sent_as_it_is_but_for_the_enter_key(text: str) -> None:
    typed = f"echo {text}"
    assert encode_keystrokes(typed).decode() == typed.replace("\r\n", "\r").replace("\n", "\r")


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("C-c", "\x03"),
        ("C-d", "\x04"),
        ("C-z", "\x1a"),
        ("C-l", "\x0c"),
        ("C-L", "\x0c"),
        ("C-[", "\x1b"),
        ("C-\\", "\x1c"),
        ("C-?", "\x7f"),
        ("C-Space", "\0"),
        ("M-x", "\x1bx"),
        ("C-M-x", "\x1b\x18"),
        ("M-Enter", "\x1b\r"),
        ("Enter", "\r"),
        ("Escape", "\x1b"),
        ("Tab", "\t"),
        ("BTab", "\x1b[Z"),
        ("Up", "\x1b[A"),
        ("C-Left", "\x1b[1;5D"),
        ("S-Up", "\x1b[1;2A"),
        ("PageDown", "\x1b[6~"),
        ("NPage", "\x1b[6~"),
        ("C-Delete", "\x1b[3;5~"),
        ("F1", "\x1bOP"),
        ("F12", "\x1b[24~"),
    ],
)
def test_a_text_that_is_the_name_of_a_key_is_that_key(name: str, sent: str) -> None:
    assert encode_keystrokes(name).decode() == sent


@pytest.mark.parametrize("text", ["C-c\n", " C-c", "C-", "C-é", "C-cc", "S-a", "enter", "Upwards", "M-", "-", "", "x"])
def test_a_text_that_is_no_key_name_is_typed(text: str) -> None:
    assert encode_keystrokes(text).decode() == text.replace("\n", "\r")


@pytest.mark.parametrize(("name", "final"), [("Up", "A"), ("Down", "B"), ("Home", "H"), ("End", "F")])
def test_cursor_keys_follow_the_mode_a_full_screen_program_asked_for(name: str, final: str) -> None:
    assert encode_keystrokes(name, application_cursor=True).decode() == f"\x1bO{final}"
    assert encode_keystrokes(f"C-{name}", application_cursor=True).decode() == f"\x1b[1;5{final}"


@given(st.sampled_from(_KEY_NAMES), _text.filter(bool))
def test_a_key_name_inside_other_text_is_only_text(name: str, text: str) -> None:
    assert encode_keystrokes(f"{text} {name}").decode().endswith(f" {name}")


def test_the_escape_character_may_be_written_as_itself() -> None:
    assert encode_keystrokes("\x1b:wq\n") == b"\x1b:wq\r"
