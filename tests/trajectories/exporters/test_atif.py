"""ATIF out and in again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import imported, store_rows, written
from tests.trajectories.store_support import BEGIN, header, observation
from trajectories import (
    Action,
    Dataset,
    Ending,
    ErrorKind,
    Header,
    InputError,
    JournalWriter,
    JsonValue,
    Observation,
    Status,
    Turn,
    compact,
)
from trajectories.exporters import atif_document, export_atif
from trajectories.exporters.stored import StoredTrajectory
from trajectories.importers import Corpus, CorpusSettings, Field, import_trajectories
from trajectories.importers.atif_kept import KEPT_COLUMNS, KEPT_TURN_COLUMNS, PROMPT_PARTS
from trajectories.rows import end_row, start_row, turn_row
from trajectories.schemas import TRAJECTORIES, TURNS

Pairs = list[tuple[Action, Observation]]
RUN = "run-1"
ENDING = Ending(status=Status.MAX_TURNS, ended_at=BEGIN, outcome={"reward": 1})
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)
_CALL = st.builds(
    lambda name, arguments: {"name": name, "arguments": arguments}, st.text(), st.dictionaries(st.text(), _JSON) | _JSON
)
_KEYS = st.lists(
    st.builds(lambda keys, s: {"keystrokes": keys, "duration": s}, st.text(), st.floats(0, 9) | st.integers(0, 9))
)
_ACTION = st.builds(Action.of, _CALL | _KEYS | _JSON, reasoning=st.none() | st.text(min_size=1)) | st.builds(
    Action, st.text(), _JSON
)
_OBSERVATION = st.builds(
    Observation,
    text=st.text(),
    renderer=st.just("terminal-screen@1"),
    exit_code=st.none() | st.integers(-1, 255),
    timed_out=st.booleans(),
    truncated=st.booleans(),
    bytes_total=st.integers(0, 2**63 - 1),
    error_kind=st.none() | st.sampled_from(ErrorKind),
    error=st.none() | st.text(min_size=1),
    tree_status=st.none() | st.just("partial"),
    state=st.none() | st.text(min_size=1),
    settle_s=st.floats(0, 10**9),
)


def _turns(pairs: Pairs) -> list[Turn]:
    before = [None, *(seen.state for _, seen in pairs)]
    return [
        Turn(
            number=number,
            action=action,
            observation=seen,
            started_at=BEGIN,
            duration_s=0.5,
            state_before=state,
            is_noop=None if state is None else seen.state == state,
        )
        for number, ((action, seen), state) in enumerate(zip(pairs, before, strict=False), 1)
    ]


def _recorded(folder: Path, pairs: Pairs, start: Header | None = None) -> Dataset:
    data = Dataset(folder)
    with JournalWriter(data, start or header("t-1"), observation("$ ")) as journal:
        for turn in _turns(pairs):
            journal.append(turn)
        journal.end(ENDING)
    compact(data, RUN)
    return data


def _stored(pairs: Pairs) -> StoredTrajectory:
    """The rows that the store would give, without a disk."""
    row = start_row(header("t-1"), observation("$ ")) | end_row(ENDING) | {"num_turns": 0, "redactions_json": "{}"}
    (stored,) = pa.RecordBatch.from_pylist([row], schema=TRAJECTORIES).to_pylist()
    rows = [turn_row("t-1", turn, None) for turn in _turns(pairs)]
    turns = pa.RecordBatch.from_pylist(rows, schema=TURNS).to_pylist()
    return StoredTrajectory({**stored, "domain": "terminal", "run": RUN}, turns)


@settings(max_examples=60, deadline=None)
@given(pairs=st.lists(st.tuples(_ACTION, _OBSERVATION), max_size=3))
def test_every_turn_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, pairs: Pairs) -> None:
    path = written(tmp_path_factory.getbasetemp(), "round-trip.json", atif_document(_stored(pairs)))
    (trajectory,) = imported("atif", path)
    assert list(trajectory.turns) == _turns(pairs)
    assert not trajectory.loss.no_place


_TRUTHS = ("timed_out", "truncated", "is_noop")
_NUMBERS = ("seed", "attempt", "exit_code", "bytes_total", "duration_s", "settle_s")
_TIMES = ("started_at", "ended_at")
_ONE_OF = ("status", "error_kind")
_ANYTHING = ("payload", "source_format", "outcome", "versions", "prompt")
_NO_TEXT: st.SearchStrategy[JsonValue] = st.booleans() | st.lists(_JSON) | st.dictionaries(st.text(), _JSON)
_NO_OBJECT: st.SearchStrategy[JsonValue] = st.booleans() | st.integers() | st.text() | st.lists(_JSON)


def _wrong(name: str) -> st.SearchStrategy[JsonValue]:
    """Values that a column cannot have."""
    if name in _TRUTHS:
        return st.integers() | st.text() | st.lists(_JSON)
    if name in _NUMBERS:
        return _NO_TEXT | st.text() | st.integers(2**63)
    if name in (*_TIMES, *_ONE_OF):
        return _NO_TEXT | st.text(max_size=3)
    return _NO_TEXT | (st.integers() if name == "action" else st.nothing())


def _damaged(columns: Iterable[str]) -> st.SearchStrategy[dict[str, JsonValue]]:
    names = [name for name in columns if name not in _ANYTHING]
    return st.fixed_dictionaries({}, optional={name: _wrong(name) for name in names})


@settings(max_examples=60, deadline=None)
@given(
    of_trajectory=_damaged(KEPT_COLUMNS),
    of_prompt=_damaged(PROMPT_PARTS),
    of_versions=st.dictionaries(st.text(), _NO_TEXT, max_size=3),
    of_turn=_damaged((*KEPT_TURN_COLUMNS, "action")),
)
def test_every_value_that_is_not_what_its_name_says_is_counted(
    tmp_path_factory: pytest.TempPathFactory,
    of_trajectory: dict[str, JsonValue],
    of_prompt: dict[str, JsonValue],
    of_versions: dict[str, JsonValue],
    of_turn: dict[str, JsonValue],
) -> None:
    document = cast("Any", atif_document(_stored([(Action("ls", "ls"), observation("$ ls"))])))
    kept = document["extra"]["worldtape"]
    kept |= {**of_trajectory, "versions": of_versions}
    kept["prompt"] |= of_prompt
    document["steps"][-1]["extra"]["worldtape"] |= of_turn
    path = written(tmp_path_factory.getbasetemp(), "damaged.json", document)
    (trajectory,) = imported("atif", path)
    expected = [f"trajectory.extra.worldtape.{name}" for name in of_trajectory]
    expected += [f"trajectory.extra.worldtape.prompt.{name}" for name in of_prompt]
    expected += [f"trajectory.extra.worldtape.versions.{name}" for name in of_versions]
    expected += [f"step.extra.worldtape.{name}" for name in of_turn]
    expected += ["step.extra.worldtape.payload"] if "action" in of_turn else []
    assert trajectory.loss.no_place == Counter(expected)
    store_rows(trajectory)


@pytest.mark.parametrize("path", [("outcome",), ("versions",), ("prompt",), ()])
@given(wrong=_NO_OBJECT)
def test_what_should_be_an_object_and_is_none_is_counted(
    tmp_path_factory: pytest.TempPathFactory, path: tuple[str, ...], wrong: JsonValue
) -> None:
    document = cast("Any", atif_document(_stored([])))
    holder, name = document["extra"], "worldtape"
    for inner in path:
        holder, name = holder[name], inner
    holder[name] = wrong
    (trajectory,) = imported("atif", written(tmp_path_factory.getbasetemp(), "damaged.json", document))
    assert trajectory.loss.no_place[".".join(("trajectory.extra.worldtape", *path))] == 1


def test_an_export_into_the_data_set_is_refused(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "data")
    import_trajectories(dataset, "messages", [written(tmp_path, "a.jsonl", samples.CHAT)], licence="MIT")
    for folder in (dataset.folder, dataset.folder / "turns" / "out", tmp_path / "data" / ".." / "data"):
        with pytest.raises(InputError, match="outside of it"):
            export_atif(dataset, folder)
    assert export_atif(dataset, tmp_path / "data-out").num_trajectories == 1


def test_what_a_screen_showed_may_be_more_than_what_was_put_out(tmp_path: Path) -> None:
    seen = replace(observation("$ ls" + " " * 70), bytes_total=6)
    data = _recorded(tmp_path / "data", [(Action.keys(("ls\n", 0.5)), seen)])
    export_atif(data, tmp_path / "out")
    (trajectory,) = imported("atif", tmp_path / "out")
    assert trajectory.turns[0].observation.bytes_total == 6


def test_the_trajectory_comes_back_as_it_was(tmp_path: Path) -> None:
    data = _recorded(tmp_path / "data", [(Action.keys(("ls\n", 0.5)), observation("$ ls"))])
    assert export_atif(data, tmp_path / "out").num_trajectories == 1
    (trajectory,) = imported("atif", tmp_path / "out")
    original = header("t-1")
    assert (trajectory.instruction, trajectory.prompt) == (original.instruction, original.prompt)
    assert (trajectory.domain, trajectory.status, trajectory.outcome) == ("terminal", Status.MAX_TURNS, {"reward": 1})
    assert not trajectory.loss.as_json()


NEW = {
    # An import is a trajectory of its own, in a run of its own, with losses of its own.
    *("trajectory_id", "run", "source_format", "loss_report_json"),
    # What ATIF does not carry: recordings and screenshots, and how often each turn was redacted when it was recorded.
    *("recording_blob", "redactions_json"),
}
"""The columns of a row that an export and an import do not keep."""


def _rows_before_and_after(data: Dataset, folder: Path) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    export_atif(data, folder / "out")
    again = Dataset(folder / "again")
    import_trajectories(again, "atif", [folder / "out"], licence="of nobody")
    before, after = (rows.scan_trajectories().drop(NEW).sort("started_at").collect() for rows in (data, again))
    return before.to_dicts(), after.to_dicts()


def test_the_row_of_a_recording_comes_back_as_it_was(tmp_path: Path) -> None:
    start = replace(
        header("t-1"),
        attempt=2,
        engine="docker",
        image_digest="sha256:00",
        device_kind="h",
        versions={"bash": "5.2"},
        licence="MIT",
        source="tasks/count.yaml",
        split_group="files",
        collector_version="1.0",
        host="a host",
    )
    data = _recorded(tmp_path / "data", [(Action.keys(("ls\n", 0.5)), observation("$ ls"))], start)
    before, after = _rows_before_and_after(data, tmp_path)
    assert after == before


@pytest.mark.parametrize("source_format", sorted({*samples.ROWS} - {"corpus"}))
def test_the_rows_of_an_import_come_back_as_they_were(tmp_path: Path, source_format: str) -> None:
    name = {"osworld": "traj.jsonl", "swe-agent": "a.traj", "agentworldbench": "os_test.jsonl"}
    path = written(tmp_path, name.get(source_format, "a.jsonl"), *samples.ROWS[source_format])
    data = Dataset(tmp_path / "data")
    import_trajectories(data, source_format, [path], licence="CC-BY-4.0")
    before, after = _rows_before_and_after(data, tmp_path)
    key = itemgetter("source", "task_id")
    assert sorted(after, key=key) == sorted(before, key=key)


def test_texts_keep_their_licence_and_source(tmp_path: Path) -> None:
    data = Dataset(tmp_path / "data")
    laws = written(tmp_path, "laws.jsonl", *samples.LAWS)
    import_trajectories(data, "corpus", [laws], importer=Corpus(CorpusSettings(field=Field.LAW)))
    before, after = _rows_before_and_after(data, tmp_path)
    key = itemgetter("source", "task_id")
    assert sorted(after, key=key) == sorted(before, key=key)
    assert {row["licence"] for row in after} >= {"CC0-1.0", "CC-BY-4.0"}


def test_an_import_that_is_exported_and_imported_has_the_same_turns(tmp_path: Path) -> None:
    data = Dataset(tmp_path / "data")
    import_trajectories(data, "atif", [written(tmp_path, "a.json", samples.ATIF)])
    export_atif(data, tmp_path / "out")
    (first,) = imported("atif", tmp_path / "a.json")
    (second,) = imported("atif", tmp_path / "out")
    assert [(turn.action, turn.observation) for turn in second.turns] == [
        (turn.action, turn.observation) for turn in first.turns
    ]


def test_what_is_exported_is_strict_atif(tmp_path: Path) -> None:
    data = _recorded(tmp_path / "data", [(Action.call("look", {"at": "it"}), observation("a wall"))])
    export_atif(data, tmp_path / "out")
    document = json.loads(next((tmp_path / "out").rglob("t-1.json")).read_text())
    assert document["schema_version"] == "ATIF-v1.7"
    assert [step["step_id"] for step in document["steps"]] == [1, 2, 3]
    assert document["steps"][2]["tool_calls"] == [
        {"tool_call_id": "call-1-1", "function_name": "look", "arguments": {"at": "it"}}
    ]
    assert document["steps"][2]["observation"] == {"results": [{"content": "a wall", "source_call_id": "call-1-1"}]}


def test_a_trajectory_that_two_runs_have_is_a_file_of_each(tmp_path: Path) -> None:
    data = Dataset(tmp_path / "data")
    source = written(tmp_path, "a.json", samples.ATIF)
    for name in ("one", "two"):
        import_trajectories(data, "atif", [source], run=name)
    count, _ = export_atif(data, tmp_path / "out")
    files = [path.relative_to(tmp_path / "out").parts for path in sorted((tmp_path / "out").rglob("*.json"))]
    assert (count, [run for run, _ in files]) == (
        len(files),
        sorted([*["one"] * (count // 2), *["two"] * (count // 2)]),
    )


def test_half_of_a_surrogate_pair_is_exported_as_an_escape(tmp_path: Path) -> None:
    data = _recorded(tmp_path / "data", [(Action.of({"name": "a", "arguments": {"x": "\udfff"}}), observation("b"))])
    export_atif(data, tmp_path / "out")
    (path,) = (tmp_path / "out").rglob("*.json")
    assert "\\udfff" in path.read_bytes().decode()
    (trajectory,) = imported("atif", path)
    assert trajectory.turns[0].action.payload == {"name": "a", "arguments": {"x": "\udfff"}}


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    data = _recorded(tmp_path / "data", [(Action.of({"name": "a", "arguments": {}}), observation("b"))])
    (taken := tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="the files go into a folder, and this is a file"):
        export_atif(data, taken)
