"""Raw events: kept to the byte, in little memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajectories import EventSpool, RawEvent
from trajectories.recording import event_line, marked_turn, parse_event, turn_marker

_EVENTS = st.builds(
    RawEvent,
    st.floats(0, 1e6).map(lambda seconds: round(seconds, 6)),
    st.sampled_from("oirm"),
    st.one_of(st.text(), st.binary().map(lambda data: data.decode("utf-8", "surrogateescape"))),
)


@given(_EVENTS)
def test_an_event_survives_its_line(event: RawEvent) -> None:
    line = event_line(event)
    assert parse_event(line) == event
    assert line.isascii()
    assert line.count(b"\n") == 1


@given(st.lists(_EVENTS, max_size=20), st.integers(0, 20))
def test_a_spool_may_be_read_at_any_time_and_goes_on(events: list[RawEvent], middle: int) -> None:
    spool = EventSpool()
    for event in events[:middle]:
        spool.append(event)
    next(iter(spool), None)
    assert list(spool) == events[:middle]
    for event in events[middle:]:
        spool.append(event)
    assert list(spool) == events
    assert (spool.num_events, spool.num_bytes) == (len(events), sum(map(len, spool.lines())))
    spool.close()


def test_a_spool_beyond_a_mebibyte_lies_on_disk_and_reads_the_same() -> None:
    spool = EventSpool()
    events = [RawEvent(float(number), "o", "x" * 1000) for number in range(3000)]
    for event in events:
        spool.append(event)
    assert list(spool) == events
    spool.close()


def test_a_turn_is_marked_by_its_number() -> None:
    assert marked_turn(RawEvent(0, "m", turn_marker(12))) == 12
    assert marked_turn(RawEvent(0, "m", "a chapter")) is None
    assert marked_turn(RawEvent(0, "o", turn_marker(12))) is None


@pytest.mark.parametrize(
    ("data", "number"), [("turn 3", 3), ("turn around", None), ("turn ", None), ("turn -1", None), ("chapter 2", None)]
)
def test_a_marker_of_somebody_else_marks_no_turn(data: str, number: int | None) -> None:
    assert marked_turn(RawEvent(1.0, "m", data)) == number
