"""Which events of a recording are kept, and that the keys that are not cost little."""

from __future__ import annotations

import time
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

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


def test_very_many_hidden_spans_take_a_time_in_proportion_to_their_number() -> None:
    count = 30_000
    began = time.process_time()
    assert _kept("i" * 2 * count, [(2 * place, 2 * place) for place in range(count)]) == list(range(1, 2 * count, 2))
    assert time.process_time() - began < 5


def _kept(kinds: str, spans: list[tuple[int, int]], end: int | None = None) -> list[int]:
    events = [RawEvent(float(number), kind, "x") for number, kind in enumerate(kinds)]
    plan = Plan(hidden=spans, end_event=end)
    return [number for number, _ in _kept_events(cast("CastReader", events), plan)]
