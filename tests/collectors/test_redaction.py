"""No value that a sandbox was given is ever written, however the terminal breaks it up."""

import itertools
import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from collectors.redaction import Redactor
from collectors.secret_search import MIN_SECRET_LENGTH
from trajectories import Action, EventSpool, InputError, RawEvent

TOKEN = "sk-live_9f8E7d6C5b4A3"
SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), min_size=10, max_size=40)
AROUND = st.text(st.sampled_from("xyz \n$é漢"), max_size=30)


def spool(*pieces: str, kind: str = "o") -> EventSpool:
    events = EventSpool()
    for seconds, piece in enumerate(pieces):
        events.append(RawEvent(float(seconds), kind, piece))
    return events


def stream(events: EventSpool | None) -> str:
    assert events is not None
    return "".join(event.data for event in events)


def pieces_of(data: bytes, cuts: list[int]) -> list[str]:
    bounds = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[begin:end].decode("utf-8", "surrogateescape") for begin, end in itertools.pairwise(bounds)]


def test_a_value_becomes_a_typed_placeholder_and_is_counted() -> None:
    redactor = Redactor({"API_KEY": TOKEN})
    assert redactor.text(f"echo {TOKEN}; echo {TOKEN}") == "echo [secret:API_KEY]; echo [secret:API_KEY]"
    assert redactor.take_counts() == {"API_KEY": 2}


def test_text_without_a_secret_is_left_alone() -> None:
    redactor = Redactor({"API_KEY": TOKEN})
    action = Action.keys(("ls\n", 1.0))
    assert redactor.text("nothing here") == "nothing here"
    assert redactor.action(action) == action
    assert redactor.events(spool("nothing ", "here")) is None
    assert redactor.take_counts() == {}


def test_the_longer_of_two_values_that_begin_alike_wins() -> None:
    redactor = Redactor({"SHORT": "abcdefgh", "LONG": "abcdefgh-ijkl"})
    assert redactor.text("abcdefgh-ijkl abcdefgh") == "[secret:LONG] [secret:SHORT]"


@given(secret=SECRETS, before=AROUND, after=AROUND, width=st.integers(1, 40))
def test_a_value_that_a_screen_wraps_over_rows_is_redacted(secret: str, before: str, after: str, width: int) -> None:
    wrapped = "\n".join(secret[start : start + width] for start in range(0, len(secret), width))
    assert secret not in Redactor({"KEY": secret}).text(before + wrapped + after).replace("\n", "")


@given(secret=SECRETS, before=AROUND, after=AROUND, cuts=st.lists(st.integers(0, 1000), max_size=8))
def test_a_value_split_over_raw_events_is_redacted(secret: str, before: str, after: str, cuts: list[int]) -> None:
    data = (before + secret + after).encode()
    redacted = Redactor({"KEY": secret}).events(spool(*pieces_of(data, cuts)))
    assert secret not in stream(redacted)
    assert "[secret:KEY]" in stream(redacted)


@given(secret=SECRETS, cut=st.integers(8, 39), tail=AROUND)
def test_a_value_that_two_turns_share_is_redacted_in_both(secret: str, cut: int, tail: str) -> None:
    cut = min(cut, len(secret) - 1)
    half = secret.encode()[: min(8, len(secret.encode()) // 2)]  # so much at the end is taken for a new beginning
    assume(half not in "".join(tail.split()).encode())
    redactor = Redactor({"KEY": secret})
    first, second = spool("$ ", secret[:cut]), spool(secret[cut:], tail)
    shown = stream(redactor.events(first)) + stream(redactor.events(second) or second)
    assert shown.replace("[secret:KEY]", "") == "$ " + tail


def test_half_a_short_value_at_the_end_of_a_turn_is_taken_for_its_beginning() -> None:
    redactor = Redactor({"KEY": "xxxxx00000"})
    redactor.events(spool("$ ", "xxxxx000"))
    assert stream(redactor.events(spool("00", "xxxxx"))) == "[secret:KEY]"


@given(secret=SECRETS, cut=st.integers(8, 39))
def test_a_screen_captured_in_the_middle_of_a_value_shows_none_of_it(secret: str, cut: int) -> None:
    early = "$ echo " + secret[: min(cut, len(secret) - 1)]
    assert Redactor({"KEY": secret}).observation(early) == "$ echo [secret:KEY]"


def test_a_readline_wrap_and_colour_codes_inside_a_value_do_not_hide_it() -> None:
    wrapped = f"{TOKEN[:7]}{TOKEN[7]}\r{TOKEN[7:12]} \r\x1b[01;31m\x1b[K{TOKEN[12:]}\x1b[m"
    assert TOKEN[12:] not in stream(Redactor({"KEY": TOKEN}).events(spool(wrapped)))


def test_a_value_of_several_lines_is_found_on_a_screen_and_in_raw_output() -> None:
    key = "-----BEGIN KEY-----\nMIIBOgIBAAJB \nAKj34GkxFhD9\n-----END KEY-----\n"
    redactor = Redactor({"PEM": key})
    assert redactor.text("$ cat key\n" + key) == "$ cat key\n[secret:PEM]\n"
    assert stream(redactor.events(spool("x\r\n" + key.replace("\n", "\r\n")))) == "x\r\n[secret:PEM]\r\n"


@given(secret=st.text(min_size=MIN_SECRET_LENGTH, max_size=30).filter(lambda text: len(text.strip()) >= 10))
def test_an_action_and_its_payload_lose_the_value_also_where_json_escapes_it(secret: str) -> None:
    action = Action.call("write_file", {"path": "x", "content": secret})
    redacted = Redactor({"KEY": secret}).action(action)
    assert json.loads(redacted.text) == redacted.payload
    assert secret.strip() not in json.dumps(redacted.payload, ensure_ascii=False)
    assert secret.strip() not in json.loads(redacted.text)["arguments"]["content"]


@pytest.mark.parametrize("cut", [1, 3, 8, 15])
def test_a_value_typed_in_two_actions_is_redacted_in_all_that_is_still_to_be_written(cut: int) -> None:
    redactor = Redactor({"KEY": TOKEN})
    first = redactor.action(Action.keys((f"echo {TOKEN[:cut]}", 1.0))).text
    assert redactor.action(Action.keys()) == Action.keys()
    second = redactor.action(Action.keys((f"{TOKEN[cut:]}\n", 1.0)))
    assert second == Action.keys(("[secret:KEY]\n", 1.0))
    assert first == Action.keys((f"echo {TOKEN[:cut] if cut < 8 else '[secret:KEY]'}", 1.0)).text
    assert redactor.action(Action.keys(("ls\n", 1.0))) == Action.keys(("ls\n", 1.0))


def test_a_value_typed_by_the_entries_of_one_action_is_redacted_whole() -> None:
    action = Action.keys((f"x{TOKEN[:2]}", 1.0), (TOKEN[2:5], 0.5), (f"{TOKEN[5:]}y", 1.0))
    assert Redactor({"KEY": TOKEN}).action(action) == Action.keys(("x[secret:KEY]", 1.0), ("", 0.5), ("y", 1.0))


def test_an_answer_that_quotes_the_value_as_json_or_python_is_redacted() -> None:
    secret = 'pa"ss\\wörd\t99'
    redactor = Redactor({"KEY": secret})
    for quoted in (json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret)):
        assert redactor.text(quoted) == f"{quoted[0]}[secret:KEY]{quoted[0]}"


def test_input_and_output_are_separate_streams() -> None:
    events = EventSpool()
    for index, character in enumerate(TOKEN):
        events.append(RawEvent(index, "i", character))
        events.append(RawEvent(index + 0.5, "o", character))
    redacted = Redactor({"KEY": TOKEN}).events(events)
    assert redacted is not None
    assert [(event.kind, event.data) for event in redacted] == [("i", "[secret:KEY]"), ("o", "[secret:KEY]")]


def test_a_stream_longer_than_the_buffer_is_redacted_everywhere() -> None:
    filler = "0123456789abcdef" * 4096
    pieces = [piece for _ in range(40) for piece in (filler, TOKEN[:9], TOKEN[9:])]
    redactor = Redactor({"KEY": TOKEN})
    redacted = stream(redactor.events(spool(*pieces)))
    assert redactor.take_counts() == {"KEY": 40}
    assert redacted == (filler + "[secret:KEY]") * 40


def test_bytes_that_are_not_utf8_survive_redaction() -> None:
    garbage = b"\xff\xfe\x80".decode("utf-8", "surrogateescape")
    assert (
        stream(Redactor({"KEY": TOKEN}).events(spool(garbage + TOKEN + garbage))) == f"{garbage}[secret:KEY]{garbage}"
    )


def test_a_value_too_short_to_be_told_from_text_is_refused() -> None:
    with pytest.raises(InputError, match=re.escape("the secret 'PIN' has 4 characters")):
        Redactor({"PIN": "1234"})
