"""Which keys have been met: for any number of them, without holding them in memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trajectories.importers.known import KnownKeys


@given(st.lists(st.tuples(st.binary(max_size=3), st.binary(max_size=2))))
def test_a_key_has_the_value_that_it_came_with_first(pairs: list[tuple[bytes, bytes]]) -> None:
    expected: dict[bytes, bytes] = {}
    with KnownKeys() as known:
        for key, value in pairs:
            assert known.add(key, value) == expected.get(key)
            expected.setdefault(key, value)
