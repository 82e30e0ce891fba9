"""Reading a data set: what is committed, wherever it lies."""

import os
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import fsspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.trajectories.store_support import ENDING, RUN, header, observation, record, turn
from trajectories import DamagedFileError, Dataset, InputError, JournalWriter, Status, StorageError, compact
from trajectories.dataset import Part
from trajectories.exporters.stored import stored_trajectories
from trajectories.schemas import SCHEMA_VERSION, TRAJECTORIES, TURNS


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    made = Dataset(tmp_path / "data")
    record(made, "a", num_turns=2)
    record(made, "b", num_turns=3, domain="mcp")
    compact(made, RUN)
    record(made, "c", num_turns=1)
    return made


def test_a_folder_of_parts_that_may_not_be_listed_is_told_and_not_passed_over(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = next((dataset.folder / "trajectories").glob("domain=mcp/*"))
    listed = os.listdir

    def listdir(path: Path) -> list[str]:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "listdir", listdir)  # whoever runs the tests may list anything
    with pytest.raises(StorageError, match=r"Permission denied .*domain=mcp"):
        dataset.trajectory_parts()


def test_a_path_with_a_line_break_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line break"):
        Dataset(tmp_path / "a\nb")


def in_memory(dataset: Dataset) -> Dataset:
    place = uuid.uuid4().hex
    fsspec.filesystem("memory").put(str(dataset.folder), f"/{place}", recursive=True)
    return Dataset(f"memory://{place}")


@pytest.fixture(params=["folder", "file://", "memory://"])
def anywhere(request: pytest.FixtureRequest, dataset: Dataset) -> Dataset:
    if request.param == "folder":
        return dataset
    return Dataset(f"file://{dataset.folder}") if request.param == "file://" else in_memory(dataset)


def test_a_scan_gives_what_is_committed_with_domain_and_run_as_text(anywhere: Dataset) -> None:
    turns = anywhere.scan_turns().sort("trajectory_id", "turn").collect()
    assert turns.select("trajectory_id", "turn", "domain", "run").rows() == [
        ("a", 1, "terminal", RUN),
        ("a", 2, "terminal", RUN),
        ("b", 1, "mcp", RUN),
        ("b", 2, "mcp", RUN),
        ("b", 3, "mcp", RUN),
    ]
    assert turns.columns == [*TURNS.names, "domain", "run"]
    trajectories = anywhere.scan_trajectories().sort("trajectory_id").collect()
    assert trajectories["num_turns"].to_list() == [2, 3]
    assert trajectories.columns == [*TRAJECTORIES.names, "domain", "run"]


def test_one_trajectory_is_found_in_parquet_and_in_its_journal(anywhere: Dataset) -> None:
    for name, domain, num_turns in (("a", "terminal", 2), ("b", "mcp", 3), ("c", "terminal", 1)):
        found = anywhere.trajectory(name)
        assert (found.row["domain"], found.row["run"], found.row["num_turns"]) == (domain, RUN, num_turns)
        assert found.turns["turn"].to_list() == list(range(1, num_turns + 1))
        assert found.turns["domain"].unique().to_list() == [domain]
        assert len([event for event in anywhere.recording(name) if event.kind == "m"]) == num_turns


def test_a_trajectory_looks_the_same_before_and_after_compaction(dataset: Dataset) -> None:
    before = dataset.trajectory("c")
    compact(dataset, RUN)
    after = dataset.trajectory("c")
    assert after.turns.equals(before.turns)
    assert {k: v for k, v in after.row.items() if before.row[k] is not None} == {
        k: v for k, v in before.row.items() if v is not None
    }


@pytest.mark.parametrize("run", ["007", "20240101", "1e5", "true", "null", "2024-01-01"])
def test_a_run_that_looks_like_another_type_stays_text(tmp_path: Path, run: str) -> None:
    dataset = Dataset(tmp_path)
    record(dataset, "a", run=run)
    compact(dataset, run)
    for place in (dataset, in_memory(dataset)):
        assert place.scan_turns().select("run").unique().collect().item() == run
        assert place.trajectory("a").row["run"] == run


@pytest.mark.parametrize("name", ["a b", "a[1]*?", "ü%20#x", "team=a", "domain=x"])
def test_a_folder_of_any_name_will_do(tmp_path: Path, name: str) -> None:
    dataset = Dataset(tmp_path / name)
    record(dataset, "a", num_turns=2)
    assert dataset.trajectory("a").turns.height == 2
    compact(dataset, RUN)
    assert dataset.trajectory("a").turns.columns == [*TURNS.names, "domain", "run"]
    assert dataset.scan_turns().select("domain", "run").unique().collect().rows() == [("terminal", RUN)]


def test_recorded_tells_every_trajectory_of_a_run_and_how_it_ended(dataset: Dataset) -> None:
    with JournalWriter(dataset, header("d"), observation("$")) as journal:
        journal.append(turn(1))
        assert dataset.recorded(RUN) == {**dict.fromkeys("abc", Status.COMPLETED), "d": None}
        journal.end(ENDING)
    assert dataset.recorded("another") == {}


def test_parts_come_in_pairs(dataset: Dataset) -> None:
    turns, trajectories = dataset.turn_parts(), dataset.trajectory_parts()
    assert [(p.domain, p.run, Path(p.path).name) for p in turns] == [
        (p.domain, p.run, Path(p.path).name) for p in trajectories
    ]
    assert [p.domain for p in turns] == ["mcp", "terminal"]
    assert pq.read_schema(turns[0].path).equals(TURNS, check_metadata=True)
    assert pq.read_schema(trajectories[0].path).equals(TRAJECTORIES, check_metadata=True)


def say_version(part: Part, version: str) -> None:
    table = pq.read_table(part.path, partitioning=None)
    pq.write_table(table.replace_schema_metadata({b"schema_version": version.encode()}), part.path)


def test_a_newer_data_set_is_refused_with_the_way_out(dataset: Dataset) -> None:
    for part in dataset.trajectory_parts():
        say_version(part, str(SCHEMA_VERSION + 1))
    again = Dataset(dataset.url)
    for read in (again.scan_turns, again.scan_trajectories, lambda: again.trajectory("a"), lambda: again.recorded(RUN)):
        with pytest.raises(
            InputError, match=r"written by a newer worldtape \(schema version 2; .*\.parquet\); upgrade worldtape"
        ):
            read()


def test_turns_of_a_newer_schema_are_refused_too(dataset: Dataset) -> None:
    say_version(dataset.turn_parts()[-1], str(SCHEMA_VERSION + 1))
    again = Dataset(dataset.url)
    for read in (again.scan_turns, again.turn_parts, lambda: again.trajectory("a")):
        with pytest.raises(InputError, match=r"written by a newer worldtape .*/turns/.*\.parquet"):
            read()


@pytest.mark.parametrize("version", ["abc", "", "\x00"])
def test_a_schema_version_that_is_no_number_is_one_clear_line(dataset: Dataset, version: str) -> None:
    say_version(dataset.turn_parts()[0], version)
    with pytest.raises(DamagedFileError, match=r"says that its schema version is .*\.parquet"):
        Dataset(dataset.url).scan_turns()


def without_a_column(path: Path) -> None:
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.drop_columns(["started_at"]), path)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "a spoilt footer": lambda path: path.write_bytes(path.read_bytes()[:-40] + bytes(32) + path.read_bytes()[-8:]),
    "a column less": without_a_column,
    "spoilt pages": lambda path: path.write_bytes(b"PAR1" + bytes(400) + path.read_bytes()[404:]),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("table", ["turns", "trajectories"])
def test_a_damaged_part_is_named(dataset: Dataset, table: str, damage: str) -> None:
    parts = dataset.turn_parts() if table == "turns" else dataset.trajectory_parts()
    if (table, damage) == ("trajectories", "gone"):
        pytest.skip("without its trajectories a part has never been")
    path = Path(parts[-1].path)
    DAMAGE[damage](path)
    again = Dataset(dataset.url)
    scan = again.scan_turns if table == "turns" else again.scan_trajectories
    complaint = f"{re.escape(str(path))}.*copy it again"
    with pytest.raises(DamagedFileError, match=complaint) as damaged, again.naming_damage():
        scan().collect(engine="streaming")
    assert "\n" not in str(damaged.value)


def flip_a_bit(path: Path, column: str, *, so_that: Callable[[pa.Table, pa.Table], bool]) -> None:
    """Damage a page so that what a reader without checksums gets, beside what was written, is as asked for."""
    written = pq.read_table(path, columns=[column], partitioning=None)
    for _ in every_flipped_bit(path, column):
        with suppress(pa.ArrowException, OSError):
            if so_that(pq.read_table(path, columns=[column], partitioning=None), written):
                return
    raise AssertionError("no flipped bit does that")


def every_flipped_bit(path: Path, column: str) -> Iterator[None]:
    """The part with one bit of the column's pages flipped, once for each of their bytes, the last one first."""
    whole = path.read_bytes()
    chunk = pq.read_metadata(path).row_group(0).column(pq.read_schema(path).names.index(column))
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    for position in reversed(range(start, start + chunk.total_compressed_size)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        yield


def is_another_text(read: pa.Table, written: pa.Table) -> bool:
    return bool(read.num_rows == written.num_rows and read != written)


def is_nothing(read: pa.Table, written: pa.Table) -> bool:
    return bool(read.num_rows == 0 < written.num_rows)


@pytest.mark.parametrize(("table", "column"), [("turns", "observation"), ("trajectories", "instruction")])
def test_a_flipped_bit_that_would_decode_to_another_text_is_damage(
    anywhere: Dataset, dataset: Dataset, table: str, column: str
) -> None:
    part = (dataset.turn_parts() if table == "turns" else dataset.trajectory_parts())[0]
    flip_a_bit(Path(part.path), column, so_that=is_another_text)
    spoilt = in_memory(dataset) if "memory" in anywhere.url else Dataset(anywhere.url)
    with pytest.raises(DamagedFileError, match=rf"{table}/domain=mcp/.*\.parquet.*copy it again") as damaged:
        spoilt.trajectory("b")
    assert "\n" not in str(damaged.value)
    with pytest.raises(DamagedFileError, match=rf"{table}/domain=mcp/"):
        list(stored_trajectories(spoilt))


def test_a_page_that_calls_itself_another_kind_of_page_is_damage(dataset: Dataset) -> None:
    part = dataset.trajectory_parts()[0]
    flip_a_bit(Path(part.path), "trajectory_id", so_that=is_nothing)
    complaint = rf"{re.escape(part.path)}.*copy it again"
    for read in (
        lambda: dataset.recorded(RUN),
        lambda: list(stored_trajectories(dataset)),
        lambda: dataset.trajectory("b"),
    ):
        with pytest.raises(DamagedFileError, match=complaint):
            read()


def test_a_page_header_that_makes_polars_panic_is_damage_too(dataset: Dataset) -> None:
    part = Path(dataset.trajectory_parts()[0].path)
    for _ in every_flipped_bit(part, "instruction"):
        try:
            pq.read_table(part, columns=["instruction"], partitioning=None)
        except (pa.ArrowException, OSError) as error:
            if "Unknown encoding type" in str(error):
                break
    with pytest.raises(DamagedFileError, match=re.escape(str(part))), dataset.naming_damage():
        dataset.scan_trajectories().collect(engine="streaming")


def test_a_part_of_a_writer_without_checksums_is_read_all_the_same(dataset: Dataset) -> None:
    before = dataset.trajectory("b")
    for part in (*dataset.turn_parts(), *dataset.trajectory_parts()):
        pq.write_table(pq.read_table(part.path, partitioning=None), part.path)
    assert Dataset(dataset.url).trajectory("b").turns.equals(before.turns)


@pytest.mark.parametrize("url", ["{tmp}/none", "file://{tmp}/none", "memory://none"])
def test_a_data_set_that_is_not_there_is_one_clear_line(tmp_path: Path, url: str) -> None:
    missing = Dataset(url.format(tmp=tmp_path))
    for read in (missing.scan_turns, missing.turn_parts, lambda: missing.trajectory("a")):
        with pytest.raises(InputError, match=r"there is no data set \(.*none\); check the path"):
            read()


def test_an_empty_data_set_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the data set holds no trajectories"):
        Dataset(tmp_path).scan_turns()
    record(Dataset(tmp_path), "a")
    with pytest.raises(InputError, match="no trajectory is compacted yet"):
        Dataset(tmp_path).scan_turns()


def test_an_unknown_trajectory_is_one_clear_line(anywhere: Dataset) -> None:
    with pytest.raises(InputError, match=r"there is no trajectory zz"):
        anywhere.trajectory("zz")
    with pytest.raises(InputError, match=r"there is no trajectory zz"):
        list(anywhere.recording("zz"))


def test_a_url_of_no_known_kind_is_one_clear_line() -> None:
    with pytest.raises(InputError, match="not a place for a data set"):
        Dataset("nosuchscheme://x")


def test_recording_needs_a_local_folder() -> None:
    with pytest.raises(InputError, match="needs a data set in a local folder"):
        JournalWriter(Dataset("memory://x"), header("a"), observation("$"))


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match=r"Not a directory|File exists"):
        JournalWriter(Dataset(tmp_path / "file" / "data"), header("a"), observation("$"))


def test_a_filter_goes_down_into_the_parquet_reader(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path)
    record(dataset, "a")
    compact(dataset, RUN)
    plan = dataset.scan_turns().filter(pl.col("trajectory_id") == "a").explain()
    assert "SELECTION" in plan
