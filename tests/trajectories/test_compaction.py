"""Compaction: the same bytes whatever happened on the way, nothing missing, nothing doubled."""

import random
import resource
import shutil
import time
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.trajectories.store_support import ENDING, RUN, compact_once, forked, header, observation, record, tree, turn
from trajectories import DamagedFileError, Dataset, InputError, JournalWriter, RawEvent, Status, compact, recover
from trajectories.journal_format import Record, RecordKind, encode
from trajectories.row_groups import ROW_GROUP_BYTES, RowGroupWriter
from trajectories.rows import end_row, turn_row
from trajectories.schemas import TURNS

NAMES = [f"{letter}{number}" for letter in "ba" for number in range(5)]


def recorded_dataset(folder: Path, names: list[str]) -> Dataset:
    dataset = Dataset(folder)
    for name in names:
        record(dataset, name, num_turns=20, domain="terminal" if name[0] == "a" else "mcp")
    return dataset


def test_compaction_keeps_every_turn_in_order_and_removes_the_journals(tmp_path: Path) -> None:
    dataset = recorded_dataset(tmp_path, NAMES)
    journalled = {name: dataset.trajectory(name) for name in NAMES}
    assert compact(dataset, RUN) == sorted(NAMES)
    assert dataset.journal_paths(RUN) == []
    for name in NAMES:
        assert dataset.trajectory(name).turns.equals(journalled[name].turns)
        row = dataset.trajectory(name).row
        assert row["num_turns"] == 20
        assert row["outcome_json"] == '{"passed": true}'
    order = dataset.scan_turns().filter(pl.col("domain") == "terminal").collect()
    assert order["trajectory_id"].to_list() == [name for name in sorted(NAMES) if name[0] == "a" for _ in range(20)]


def test_the_order_in_which_journals_come_does_not_change_a_byte(tmp_path: Path) -> None:
    trees = []
    for seed in range(3):
        names = random.Random(seed).sample(NAMES, len(NAMES))
        dataset = recorded_dataset(tmp_path / str(seed), names)
        compact(dataset, RUN)
        trees.append(tree(dataset.folder))
    assert trees[0] == trees[1] == trees[2]


def test_compacting_again_changes_nothing(tmp_path: Path) -> None:
    dataset = recorded_dataset(tmp_path, NAMES)
    compact(dataset, RUN)
    before = tree(tmp_path)
    assert compact(dataset, RUN) == []
    assert tree(tmp_path) == before


def test_a_compaction_killed_at_any_moment_loses_and_doubles_nothing(tmp_path: Path) -> None:
    pristine = recorded_dataset(tmp_path / "pristine", NAMES).folder
    whole = Dataset(shutil.copytree(pristine, tmp_path / "whole"))
    began = time.perf_counter()
    compact(whole, RUN)
    duration = time.perf_counter() - began
    expected = tree(whole.folder)
    chance = random.Random(1)
    for number in range(24):
        dataset = Dataset(shutil.copytree(pristine, tmp_path / str(number)))
        with forked(compact_once, dataset.url) as (process, words):
            words.recv()
            words.poll(chance.uniform(0, duration * 1.3))
            process.kill()
            process.join()
        for name in NAMES:
            assert dataset.trajectory(name).turns["turn"].to_list() == list(range(1, 21))
        compact(dataset, RUN)
        assert tree(dataset.folder) == expected


def test_a_turns_part_without_its_commit_is_invisible_and_replaced(tmp_path: Path) -> None:
    pristine = recorded_dataset(tmp_path / "pristine", ["a1", "a2"]).folder
    dataset = Dataset(shutil.copytree(pristine, tmp_path / "data"))
    compact(dataset, RUN)
    expected = tree(dataset.folder)
    for part in dataset.trajectory_parts():
        Path(part.path).unlink()
    shutil.copytree(pristine / "journal", dataset.folder / "journal", dirs_exist_ok=True)
    record(dataset, "a0", num_turns=20)
    assert dataset.recorded(RUN) == dict.fromkeys(["a0", "a1", "a2"], Status.COMPLETED)
    compact(dataset, RUN)
    assert len(dataset.turn_parts()) == 1
    assert dataset.scan_turns().collect().height == 60
    assert expected.keys() - tree(dataset.folder).keys(), "the uncommitted part is gone"


def test_a_journal_left_behind_after_its_commit_is_not_written_twice(tmp_path: Path) -> None:
    dataset = recorded_dataset(tmp_path / "data", ["a1"])
    left = dataset.journal_path(RUN, "a1").read_bytes()
    compact(dataset, RUN)
    before = tree(dataset.folder)
    dataset.journal_path(RUN, "a1").write_bytes(left)
    record(dataset, "a2", num_turns=20)
    assert compact(dataset, RUN) == ["a2"]
    assert before.items() <= tree(dataset.folder).items()
    assert dataset.scan_turns().collect().height == 40


def test_open_trajectories_stay_in_their_journals(tmp_path: Path) -> None:
    dataset = recorded_dataset(tmp_path, ["a1"])
    with JournalWriter(dataset, header("a2"), observation("$")) as journal:
        journal.append(turn(1))
        assert compact(dataset, RUN) == ["a1"]
        journal.append(turn(2))
        journal.end(ENDING)
    assert compact(dataset, RUN) == ["a2"]
    assert dataset.trajectory("a2").turns.height == 2


def damage(dataset: Dataset, name: str, line: int) -> None:
    path = dataset.journal_path(RUN, name)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line - 1] = b"0" * 8 + lines[line - 1][8:]
    path.write_bytes(b"".join(lines))


def test_a_damaged_journal_is_named_once_all_the_others_are_compacted(tmp_path: Path) -> None:
    dataset = recorded_dataset(tmp_path, NAMES)
    damage(dataset, "a1", line=3)
    left = dataset.journal_path(RUN, "a1").read_bytes()
    for _ in range(2):
        with pytest.raises(DamagedFileError, match=r"^a line of a journal is damaged \(.*a1\.journal, line 3\); move"):
            compact(dataset, RUN)
        assert dataset.recorded(RUN) == dict.fromkeys(NAMES, Status.COMPLETED)
        assert dataset.scan_trajectories().collect()["trajectory_id"].sort().to_list() == sorted({*NAMES} - {"a1"})
        assert dataset.journal_path(RUN, "a1").read_bytes() == left
    dataset.journal_path(RUN, "a1").unlink()
    assert compact(dataset, RUN) == []


def test_damaged_journals_are_all_named_in_one_error(tmp_path: Path) -> None:
    dataset = recorded_dataset(tmp_path, ["a1", "a2", "a3", "b1", "b2"])
    damage(dataset, "a2", line=5)
    damage(dataset, "b1", line=1)
    with pytest.raises(DamagedFileError, match=r"2 journals .*b1\.journal, line 1.*a2\.journal, line 5"):
        compact(dataset, RUN)
    assert dataset.scan_trajectories().collect()["trajectory_id"].sort().to_list() == ["a1", "a3", "b2"]


def test_a_trajectory_whose_blob_is_missing_is_named_once_the_others_are_compacted(tmp_path: Path) -> None:
    dataset = recorded_dataset(tmp_path, ["a1"])
    with JournalWriter(dataset, header("a2"), observation("$")) as journal:
        journal.append(turn(1, raw_bytes=100_000))
        journal.end(ENDING)
    blob = next(path for path in (tmp_path / "blobs").rglob("*") if path.is_file())
    blob.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="a blob is missing"):
        compact(dataset, RUN)
    assert dataset.scan_trajectories().collect()["trajectory_id"].to_list() == ["a1"]
    (tmp_path / "elsewhere").rename(blob)
    assert compact(dataset, RUN) == ["a2"]


def test_a_damaged_or_empty_journal_is_named_once_all_the_others_are_recovered(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path)
    for name in ("a", "b", "c", "d"):
        with JournalWriter(dataset, header(name), observation("$")) as journal:
            journal.append(turn(1))
            journal.append(turn(2))
    damage(dataset, "b", line=2)
    dataset.journal_path(RUN, "c").write_bytes(b"")
    with pytest.raises(DamagedFileError, match=r"2 journals .*b\.journal, line 2.*a journal is empty .*c\.journal"):
        recover(dataset, RUN)
    assert compact(dataset, RUN) == ["a", "d"]


def test_a_trajectory_without_turns_is_kept(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path)
    record(dataset, "a", num_turns=0)
    assert compact(dataset, RUN) == ["a"]
    assert dataset.trajectory("a").row["num_turns"] == 0
    assert dataset.trajectory("a").turns.height == 0


def test_the_recording_is_the_header_then_each_turn_behind_its_marker(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path)
    with JournalWriter(dataset, header("a"), observation("$")) as journal:
        journal.append(turn(1))
        journal.append(turn(2, raw_bytes=100_000))
        journal.end(ENDING)
    open_events = list(dataset.recording("a"))
    compact(dataset, RUN)
    recording = dataset.recording("a")
    assert recording.header == {"version": 2, "width": 40, "height": 5}
    events = list(recording)
    assert events == open_events
    assert events[:4] == [
        RawEvent(0.0, "o", "\x1bc$"),
        RawEvent(1.0, "m", "turn 1"),
        RawEvent(1.0, "o", "\x1bcanswer 1"),
        RawEvent(2.0, "m", "turn 2"),
    ]


def test_a_run_that_is_not_there_is_nothing_to_do(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "none")
    assert compact(dataset, RUN) == []
    assert recover(dataset, RUN) == []
    assert not dataset.folder.exists()


@pytest.mark.parametrize("letter", ["x", "漢"])
def test_row_groups_end_at_their_size_in_bytes(tmp_path: Path, letter: str) -> None:
    assert ROW_GROUP_BYTES == 64 * 2**20
    limit, width = 100_000, len(letter.encode())
    with (
        (tmp_path / "turns.parquet").open("wb") as file,
        RowGroupWriter(file, TURNS, row_group_bytes=limit) as writer,
    ):
        for number in range(1, 101):
            writer.add(turn_row("a", turn(number, letter * (10_000 if number != 50 else 300_000)), None))
    parquet = pq.ParquetFile(tmp_path / "turns.parquet")
    sizes = [
        width * sum(map(len, parquet.read_row_group(group, columns=["observation"])["observation"].to_pylist()))
        for group in range(parquet.num_row_groups)
    ]
    assert sum(sizes) == width * (99 * 10_000 + 300_000)
    assert sorted(sizes)[-2] <= limit + width * 10_000
    assert max(sizes) < width * 300_000 + limit
    assert parquet.metadata.row_group(0).column(0).has_offset_index, "readers can seek to a page"


@given(st.text("ab", min_size=20, max_size=20), st.text("ab", min_size=20, max_size=20))
@example("ab" * 10, "ba" * 10)
@settings(deadline=None, max_examples=30)
def test_files_of_other_rows_have_other_footers_and_of_the_same_the_same_bytes(one: str, other: str) -> None:
    files = [BytesIO(), BytesIO(), BytesIO()]
    for file, text in zip(files, (one, other, one), strict=True):
        with RowGroupWriter(file, TURNS) as writer:
            writer.add(turn_row("a", turn(1, text), None))
    metadata = [pq.read_metadata(BytesIO(file.getvalue())).metadata for file in files]
    assert files[0].getvalue() == files[2].getvalue()
    assert (metadata[0] == metadata[1]) == (one == other)


def compact_and_measure(url: str, result: Connection) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    compact(Dataset(url), RUN)
    result.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)


@pytest.mark.slow
def test_a_trajectory_of_40_000_turns_needs_a_row_groups_memory(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path)
    JournalWriter(dataset, header("a"), observation("$")).close()
    noise = random.Random(0).randbytes(20_000).hex()
    with dataset.journal_path(RUN, "a").open("ab") as file:
        for number in range(1, 40_001):
            start = number % 20_000
            row = turn_row("a", turn(number, noise[start : start + 5_000]), None)
            file.write(encode(Record(kind=RecordKind.TURN, row=row)))
        file.write(encode(Record(kind=RecordKind.END, row=end_row(ENDING))))
    with forked(compact_and_measure, dataset.url) as (_, words):
        grown = words.recv()
    turns = dataset.scan_turns().select(pl.len(), pl.col("started_at").min()).collect()
    assert turns.row(0) == (40_000, turn(1).started_at)
    assert grown < 3 * ROW_GROUP_BYTES, f"compaction of 200 MB of text took {grown / 2**20:.0f} MiB"
