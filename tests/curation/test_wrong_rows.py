"""Rows that no recorder of ours writes are handled and counted, and the rows beside them are judged as ever."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation import Reason, curate, write_report
from curation.duplicates import Unit, open_duplicates
from tests.curation.recordings import record, some_texts
from trajectories import DamagedFileError, Dataset, compact

HUGE = 200_000_000


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    dataset = Dataset(tmp_path / "recorded")
    record(dataset, "t", some_texts(1, 8))
    record(dataset, "u", some_texts(2, 8))
    compact(dataset, "r1")
    return dataset


def put(dataset: Dataset, column: str, texts: dict[int, bytes | None]) -> None:
    """Put texts into rows of the one turns part, whatever they are."""
    part = dataset.turn_parts()[0].path
    table = pq.read_table(part, partitioning=None)
    values = [text.encode() for text in table[column].to_pylist()]
    for row, text in texts.items():
        values[row] = text
    place = table.schema.get_field_index(column)
    broken = pa.array(values, pa.binary()).view(pa.string())
    pq.write_table(table.set_column(place, pa.field(column, pa.string()), broken), part, compression="zstd")


def test_what_is_missing_or_not_text_is_counted_and_masked(dataset: Dataset, tmp_path: Path) -> None:
    put(dataset, "action", {0: None, 9: b"\xff\xfe"})
    put(dataset, "observation", {1: b"cut \xe2\x82", 10: None, 11: b"NUL \0 bytes \0\0 and more of them"})
    benchmark = tmp_path / "benchmark.txt"
    benchmark.write_text("a benchmark whose one item has a good many words and is nowhere to be found in here\n")
    summary = curate(dataset, benchmarks=[benchmark])
    assert summary.num_turns == 16
    assert summary.num_unreadable == summary.reasons[Reason.UNREADABLE] == 4
    rows = summary.sidecar.scan().sort("trajectory_id", "turn").collect()
    assert rows["reason"].to_list().count("unreadable") == 4
    assert rows["len_observation"][11] == len("NUL \0 bytes \0\0 and more of them")
    assert write_report(dataset, summary.sidecar).exists()


def test_turns_of_trajectories_of_another_part_are_refused(dataset: Dataset) -> None:
    record(dataset, "v", some_texts(3, 8), run="r2")
    compact(dataset, "r2")
    one, other = (Path(part.path) for part in dataset.turn_parts())
    shutil.copy(one, other)
    with pytest.raises(DamagedFileError, match=r"not its own .*turns/domain=terminal/run=r2"):
        curate(dataset)


@pytest.mark.slow
def test_an_observation_of_200_megabytes_is_judged_like_any_other(dataset: Dataset) -> None:
    line = b"a line of the log that was printed again and again %09d\n"
    text = b"".join(line % number for number in range(HUGE // len(line % 0) + 1))
    put(dataset, "observation", {3: text, 12: b"\0" * HUGE})
    summary = curate(dataset)
    rows = summary.sidecar.scan().sort("trajectory_id", "turn").collect()
    assert (rows["len_observation"][3], rows["class"][3]) == (len(text), "retrieval")
    assert rows["len_observation"][12] == HUGE
    assert summary.num_unreadable == 0
    found = open_duplicates(dataset).summary()
    assert found is not None
    assert found.turns.num_texts == 16
    assert open_duplicates(dataset).path(Unit.TURNS).exists()
    assert write_report(dataset, summary.sidecar).stat().st_size < 2**20


def test_columns_of_another_type_are_refused_by_name(dataset: Dataset) -> None:
    put_column(dataset, "turns", "observation", lambda texts: pa.array(range(len(texts))))
    with pytest.raises(DamagedFileError, match=r"observation of a part is int64, and should be string .*part-"):
        curate(Dataset(dataset.folder))


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string()])
def test_long_text_is_text(dataset: Dataset, kind: pa.DataType) -> None:
    for column in ("trajectory_id", "observation", "error_kind"):
        put_column(dataset, "turns", column, lambda texts: texts.cast(kind))
    for column in ("trajectory_id", "source", "instruction"):
        put_column(dataset, "trajectories", column, lambda texts: texts.cast(kind))
    summary = curate(Dataset(dataset.folder))
    assert summary.num_turns == 16
    assert write_report(dataset, summary.sidecar).exists()


def as_text(texts: list[bytes | None]) -> pa.Array:
    return pa.array(texts, pa.binary()).view(pa.string())


@pytest.mark.parametrize(
    ("table", "column", "values", "told"),
    [
        ("turns", "trajectory_id", as_text([b"\xff"] * 16), "trajectory_id has bytes that are not UTF-8"),
        ("turns", "trajectory_id", as_text([None] * 16), "a row has no trajectory_id"),
        ("turns", "turn", pa.array([None] * 16, pa.int32()), "a row has no turn"),
        (
            "turns",
            "turn",
            pa.array([*range(8)] * 2, pa.int32()),
            "turns are numbered from 1, and one has .*",
        ),
        ("turns", "error_kind", as_text([b"\xff"] * 16), "error_kind has bytes that are not UTF-8"),
        ("trajectories", "source", as_text([b"\xff"] * 2), "source has bytes that are not UTF-8"),
        ("trajectories", "trajectory_id", as_text([None] * 2), "a row has no trajectory_id"),
        ("trajectories", "engine", as_text([b"\xff"] * 2), "engine has bytes that are not UTF-8"),
    ],
)
def test_rows_that_cannot_be_told_apart_are_refused_by_the_part_they_are_in(
    dataset: Dataset, table: str, column: str, values: pa.Array, told: str
) -> None:
    put_column(dataset, table, column, lambda _: values)
    with pytest.raises(DamagedFileError, match=rf"{told} .*{table}/domain=terminal/run=r1/part-"):
        curate(Dataset(dataset.folder))


def put_column(
    dataset: Dataset, table: str, column: str, new: Callable[[pa.ChunkedArray], pa.Array | pa.ChunkedArray]
) -> None:
    """Put another column into the one part of a table."""
    parts = {"turns": dataset.turn_parts, "trajectories": dataset.trajectory_parts}[table]()
    rows = pq.read_table(parts[0].path, partitioning=None)
    pq.write_table(rows.set_column(rows.schema.get_field_index(column), column, new(rows[column])), parts[0].path)
