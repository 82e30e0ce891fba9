"""A recording, replayed, gives the observation texts that were recorded."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.trajectories.store_support import BEGIN, ENDING, RUN, header, spool
from trajectories import (
    Action,
    Dataset,
    InputError,
    JournalWriter,
    Observation,
    RawEvent,
    SessionRecording,
    Turn,
    compact,
    replay,
)
from trajectories.renderers import Screen

_CHUNKS = st.lists(
    st.one_of(
        st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace")),
        st.sampled_from([b"\r\n", b"\x1b[H", b"\x1b[2J", b"\x1b[s", b"\x1b[u", b"\x1b(0", b"\x1b(B", b"\x1b[?1049h"]),
        st.binary(max_size=8),
    ),
    max_size=6,
)


@given(turns=st.lists(_CHUNKS, max_size=5))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_seen_is_what_a_replay_shows(
    turns: list[list[bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    dataset = Dataset(tmp_path_factory.mktemp("data"))
    screen = Screen(5, 40)
    texts = []

    def observe(chunks: list[bytes], seconds: float) -> Observation:
        for chunk in chunks:
            screen.feed(chunk)
        texts.append(screen.text())
        events = (RawEvent(seconds, "o", chunk.decode("utf-8", "surrogateescape")) for chunk in chunks)
        return Observation(text=texts[-1], renderer="terminal-screen@1", raw=spool(*events))

    with JournalWriter(dataset, header("a"), observe([b"$ "], 0.0)) as journal:
        for number, chunks in enumerate(turns, 1):
            seen = observe(chunks, float(number))
            journal.append(
                Turn(number=number, action=Action.keys(), observation=seen, started_at=BEGIN, duration_s=0.1)
            )
        journal.end(ENDING)
    assert list(replay(dataset.recording("a"))) == list(enumerate(texts))
    compact(dataset, RUN)
    assert list(replay(dataset.recording("a"))) == list(enumerate(texts))
    assert dataset.trajectory("a").turns["observation"].to_list() == texts[1:]


def recording(*lines: str) -> SessionRecording:
    return SessionRecording(lambda: (line.encode() + b"\n" for line in lines))


def test_a_resize_in_the_recording_resizes_the_screen() -> None:
    tape = recording(
        '{"version": 2, "width": 10, "height": 2}', '[0, "o", "0123456789"]', '[1, "m", "turn 1"]', '[1, "r", "5x2"]'
    )
    assert list(replay(tape)) == [(0, "0123456789"), (1, "01234")]


def test_another_programs_markers_are_no_turns() -> None:
    tape = recording('{"version": 2, "width": 10, "height": 2}', '[0, "m", "chapter"]', '[0, "o", "hi"]')
    assert list(replay(tape)) == [(0, "hi")]


def test_a_recording_that_is_no_terminals_is_refused() -> None:
    with pytest.raises(InputError, match="the recording's header has no width"):
        list(replay(recording("{}")))


def test_a_recording_is_replayed_by_the_renderer_and_at_the_size_that_its_header_names() -> None:
    answer = json.dumps({"content": [{"type": "text", "text": "42"}]})
    tools = recording('{"renderer": "mcp-text@1", "text_cap": 100}', json.dumps([0, "o", answer]))
    assert list(replay(tools)) == [(0, "42")]
    narrow = recording('{"renderer": "terminal-screen@1", "width": 3, "height": 2}', '[0, "o", "12345"]')
    assert list(replay(narrow)) == [(0, "123\n45")]


def test_a_header_that_names_no_known_renderer_is_refused() -> None:
    with pytest.raises(InputError, match=r"no renderer makes 'x@9'"):
        replay(recording('{"renderer": "x@9"}'))


def test_an_unknown_renderer_is_refused_with_those_known() -> None:
    with pytest.raises(InputError, match=r"no renderer makes 'x@9' .* known are: terminal-screen@1"):
        replay(recording("{}"), "x@9")
