"""The journal: what has been appended is there, whatever happens to the writer."""

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.trajectories.store_support import (
    ENDING,
    RUN,
    forked,
    header,
    last_word,
    observation,
    record,
    record_for_ever,
    spool,
    turn,
)
from trajectories import (
    Action,
    DamagedFileError,
    Dataset,
    InputError,
    JournalWriter,
    RawEvent,
    Status,
    compact,
    recover,
)
from trajectories.recording import parse_event


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return Dataset(tmp_path / "data")


def test_a_turn_can_be_read_as_soon_as_append_has_returned(dataset: Dataset) -> None:
    with JournalWriter(dataset, header("a"), observation("$")) as journal:
        for number in range(1, 4):
            journal.append(turn(number))
            stored = dataset.trajectory("a")
            assert stored.turns["observation"].to_list() == [f"answer {n}" for n in range(1, number + 1)]
            assert stored.row["status"] is None
        journal.end(ENDING)
    assert dataset.trajectory("a").row["status"] == "completed"


@pytest.mark.parametrize("raw_bytes", [0, 200_000])
def test_a_killed_writer_loses_at_most_the_turn_in_flight(dataset: Dataset, raw_bytes: int) -> None:
    chance = random.Random(raw_bytes)
    for number in range(12):
        name = f"t{number:02}"
        with forked(record_for_ever, dataset.url, name, raw_bytes) as (writer, words):
            for _ in range(chance.randrange(1, 20)):
                acknowledged = words.recv()
            spin_until = time.perf_counter() + chance.uniform(0, 0.001)
            while time.perf_counter() < spin_until:
                pass
            writer.kill()
            writer.join()
            acknowledged = last_word(words, acknowledged)
        assert recover(dataset, RUN) == [name]
        stored = dataset.trajectory(name)
        count = len(stored.turns)
        assert acknowledged <= count <= acknowledged + 1
        assert stored.turns["turn"].to_list() == list(range(1, count + 1))
        assert stored.row["status"] == Status.INTERRUPTED
        markers = [event.data for event in dataset.recording(name) if event.kind == "m"]
        assert markers == [f"turn {n}" for n in range(1, count + 1)]
    before = {f"t{n:02}": dataset.trajectory(f"t{n:02}").turns["observation"].to_list() for n in range(12)}
    assert compact(dataset, RUN) == sorted(before)
    assert {name: dataset.trajectory(name).turns["observation"].to_list() for name in before} == before
    assert not list(dataset.folder.rglob("*.part"))


def test_a_living_writers_journal_is_left_alone(dataset: Dataset) -> None:
    with forked(record_for_ever, dataset.url, "alive", 0) as (_, words):
        words.recv()
        assert recover(dataset, RUN) == []
        assert compact(dataset, RUN) == []
    assert recover(dataset, RUN) == ["alive"]


def test_wherever_the_last_line_is_torn_all_before_it_is_kept(dataset: Dataset) -> None:
    record(dataset, "a", num_turns=3)
    path = dataset.journal_path(RUN, "a")
    lines = path.read_bytes().splitlines(keepends=True)
    cuts = [(torn, cut) for torn in range(1, 5) for cut in [*range(0, len(lines[torn]), 97), len(lines[torn]) - 1]]
    for torn, cut in cuts:
        whole = b"".join(lines[:torn])
        path.write_bytes(whole + lines[torn][:cut])
        assert dataset.trajectory("a").turns["turn"].to_list() == list(range(1, torn))
        assert recover(dataset, RUN) == ["a"]
        assert path.read_bytes().startswith(whole)
        assert dataset.trajectory("a").row["status"] == "interrupted"
        assert recover(dataset, RUN) == []


def test_a_bad_line_before_the_last_is_one_clear_error(dataset: Dataset) -> None:
    record(dataset, "a")
    path = dataset.journal_path(RUN, "a")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"answer 2", b"answer 3")
    path.write_bytes(b"".join(lines))
    with pytest.raises(DamagedFileError, match=r"a line of a journal is damaged .*a\.journal, line 3"):
        dataset.trajectory("a")


def test_an_interrupted_trajectory_ends_when_its_last_turn_was_over(dataset: Dataset) -> None:
    with JournalWriter(dataset, header("a"), observation("$")) as journal:
        journal.append(turn(1))
    recover(dataset, RUN)
    row = dataset.trajectory("a").row
    assert str(row["ended_at"]) == "2026-03-01 12:00:01.500000+00:00"
    assert row["error"] == "the recording process ended"


def test_a_trajectory_is_recorded_once(dataset: Dataset) -> None:
    record(dataset, "a")
    with pytest.raises(InputError, match="trajectory a has been recorded before"):
        JournalWriter(dataset, header("a"), observation("$"))
    compact(dataset, RUN)
    with pytest.raises(InputError, match="trajectory a has been recorded before"):
        JournalWriter(dataset, header("a"), observation("$"))
    assert dataset.recorded(RUN) == {"a": Status.COMPLETED}


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", ".hidden", "é", "x" * 201])
def test_a_name_that_cannot_be_a_file_is_refused(dataset: Dataset, name: str) -> None:
    for bad in (header(name), header("a", run=name), header("a", domain=name)):
        with pytest.raises(InputError, match="cannot be a"):
            JournalWriter(dataset, bad, observation("$"))
    assert not dataset.folder.exists()


def test_small_raw_events_lie_in_the_journal_and_large_or_truncated_ones_in_a_blob(dataset: Dataset) -> None:
    with JournalWriter(dataset, header("a"), observation("$")) as journal:
        journal.append(turn(1))
        journal.append(turn(2, raw_bytes=70_000))
        cut = turn(3)
        journal.append(replace(cut, observation=replace(cut.observation, truncated=True)))
    blobs = dataset.trajectory("a").turns["observation_blob"].to_list()
    assert blobs[0] is None
    assert read_events(dataset, blobs[1]) == list(turn(2, raw_bytes=70_000).observation.raw or ())
    assert read_events(dataset, blobs[2]) == list(cut.observation.raw or ())


def read_events(dataset: Dataset, blob: str) -> list[RawEvent]:
    return list(map(parse_event, dataset.blobs.lines(blob)))


def test_bytes_that_are_no_text_survive_in_the_recording_and_are_marked_in_the_text(dataset: Dataset) -> None:
    action = Action.of({"keystrokes": "\ud800"})
    seen = replace(observation("x\udcffy"), raw=spool(RawEvent(0, "o", "\udcff\x00é")), error="\ud800")
    with JournalWriter(dataset, header("a"), observation("$")) as journal:
        journal.append(replace(turn(1), action=action, observation=seen))
        journal.end(ENDING)
    compact(dataset, RUN)
    row = dataset.trajectory("a").turns.to_dicts()[0]
    assert row["observation"] == "x\ufffdy"
    assert row["action_json"] == '{"keystrokes": "\\ud800"}'
    assert RawEvent(0.0, "o", "\udcff\x00é") in list(dataset.recording("a"))


def test_redactions_are_added_up(dataset: Dataset) -> None:
    with JournalWriter(dataset, header("a"), replace(observation("$"), redactions={"KEY": 1})) as journal:
        seen = replace(observation("x"), redactions={"KEY": 2, "A": 1})
        journal.append(replace(turn(1), observation=seen))
        journal.end(ENDING)
    compact(dataset, RUN)
    assert dataset.trajectory("a").row["redactions_json"] == '{"A": 1, "KEY": 3}'


def test_close_is_idempotent(dataset: Dataset) -> None:
    journal = JournalWriter(dataset, header("a"), observation("$"))
    journal.close()
    journal.close()
