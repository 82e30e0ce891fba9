"""Which events of a recording are kept, and how much work that is."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from tests.trajectories.importers.asciicast_support import Session
from tests.work import num_calls
from trajectories import Dataset
from trajectories.importers import import_trajectories
from trajectories.importers.asciicast.entries import Plan
from trajectories.importers.asciicast.reader import CastReader
from trajectories.importers.asciicast.turns import _kept_events
from trajectories.recording import RawEvent

_places = st.integers(0, 30)


@given(st.text("iom", max_size=30), st.lists(st.tuples(_places, _places)), st.none() | _places)
def test_keys_inside_a_hidden_span_are_left_out(kinds: str, spans: list[tuple[int, int]], end: int | None) -> None:
    kept = [
        number
        for number, kind in enumerate(kinds[:end])
        if kind != "i" or not any(first <= number <= last for first, last in spans)
    ]
    assert _kept(kinds, spans, end) == kept


def test_hidden_spans_take_work_in_proportion_to_their_number() -> None:
    def work(count: int) -> int:
        kinds, spans = "i" * 2 * count, [(2 * place, 2 * place) for place in range(count)]
        return num_calls(lambda: _kept(kinds, spans))

    assert work(3_000) < 12 * work(300)


def test_a_recording_keeps_its_events_where_the_user_calls_it_a_gui(tmp_path: Path) -> None:
    path = tmp_path / "session.cast"
    path.write_text(Session().command("ls", "a\r\n").command("pwd", "/b\r\n").out("$ ").text())
    found = {}
    for domain in ("terminal", "web"):
        data = Dataset(tmp_path / domain)
        import_trajectories(data, "asciicast", [path], domain=domain)
        (trajectory_id,) = data.scan_trajectories().collect()["trajectory_id"]
        found[domain] = list(data.recording(trajectory_id))
    assert found["web"] == found["terminal"]
    assert sum(event.kind == "o" for event in found["web"]) > 9


def _kept(kinds: str, spans: list[tuple[int, int]], end: int | None = None) -> list[int]:
    events = [RawEvent(float(number), kind, "x") for number, kind in enumerate(kinds)]
    plan = Plan(hidden=spans, end_event=end)
    return [number for number, _ in _kept_events(cast("CastReader", events), plan)]
