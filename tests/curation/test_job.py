"""The curation job: the same bytes wherever and however often it runs, and nothing half-written."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster

from curation import (
    CurationProfile,
    Filters,
    JobSizes,
    KeepRatios,
    Reason,
    Searches,
    TurnClass,
    classify,
    curate,
    open_sidecar,
    turn_statistics,
    write_report,
)
from curation.keep import draw
from curation.passes import Progress, unwatched
from tests.curation.recordings import cut_row_groups, files_of, record, some_texts
from trajectories import DamagedFileError, Dataset, InputError, compact

SMALL = JobSizes(task_bytes=2000, in_process_bytes=0)
"""Cuts the test data set into dozens of tasks, and spreads even the smallest."""


def sidecar_files(dataset: Dataset) -> dict[str, bytes]:
    return files_of(dataset.folder / "curation")


def test_without_filters_every_turn_has_one_row_that_says_what_the_reference_says(dataset: Dataset) -> None:
    summary = curate(dataset, profile=CurationProfile(seed=7, filters=Filters.none()))
    rows = summary.sidecar.scan().sort("trajectory_id", "turn").collect()
    turns = dataset.scan_turns().sort("trajectory_id", "turn").collect()
    assert rows.select("trajectory_id", "turn", "domain", "run").equals(
        turns.select("trajectory_id", "turn", "domain", "run")
    )
    ratios = KeepRatios()
    for row, turn in zip(rows.to_dicts(), turns.to_dicts(), strict=True):
        stats = turn_statistics(turn["action"], turn["observation"])
        length = len(turn["observation"])
        turn_class = classify(stats, len_observation=length)
        assert (row["ol"], row["nov"], row["jac"], row["r"]) == stats
        assert (row["len_action"], row["len_observation"]) == (len(turn["action"]), length)
        assert row["class"] == turn_class
        assert row["keep_ratio"] == (ratios.of(turn_class) if length else 1.0)
        assert row["u"] == draw(7, turn["trajectory_id"], turn["turn"])
        assert row["kept"] == (row["u"] < row["keep_ratio"])
        assert row["reason"] == (Reason.SILENCE if not length else Reason.KEPT if row["kept"] else Reason.DRAWN_OUT)
    assert summary.num_turns == len(rows)
    assert summary.num_kept == rows["kept"].sum()
    assert summary.classes[TurnClass.ECHO].num_turns == (rows["class"] == "echo").sum() > 0


def test_a_sidecar_mirrors_its_turns_part_for_part_and_row_group_for_row_group(dataset: Dataset) -> None:
    sidecar = curate(dataset, workers=1, sizes=SMALL).sidecar
    parts = [Path(part.path).relative_to(dataset.folder / "turns").as_posix() for part in dataset.turn_parts()]
    assert sidecar.parts() == sorted(parts)
    for part in parts:
        turns = pq.read_metadata(dataset.folder / "turns" / part)
        rows = pq.read_metadata(sidecar.folder / part)
        assert [turns.row_group(g).num_rows for g in range(turns.num_row_groups)] == [
            rows.row_group(g).num_rows for g in range(rows.num_row_groups)
        ]


@pytest.mark.slow
def test_the_bytes_are_the_same_with_one_two_and_four_workers(make_dataset: Callable[[str], Dataset]) -> None:
    made = [make_dataset(f"workers-{workers}") for workers in (1, 2, 4)]
    for dataset, workers in zip(made, (1, 2, 4), strict=True):
        curate(dataset, workers=workers, sizes=SMALL)
    one, two, four = map(sidecar_files, made)
    assert sum(name.startswith("default/domain=") for name in one) == 4
    assert one == two == four


def test_the_bytes_do_not_depend_on_how_the_work_is_cut(make_dataset: Callable[[str], Dataset]) -> None:
    fine, coarse = make_dataset("fine"), make_dataset("coarse")
    curate(fine, workers=1, sizes=SMALL)
    curate(coarse, workers=1)
    assert sidecar_files(fine) == sidecar_files(coarse)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as running:
        yield running


CURATE = """
import sys
from pathlib import Path
from curation import CurationProfile, JobSizes, curate
from trajectories import Dataset
dataset, scheduler, profile, *benchmarks = sys.argv[1:]
curate(
    Dataset(dataset),
    profile=CurationProfile.model_validate_json(profile),
    benchmarks=[Path(benchmark) for benchmark in benchmarks],
    scheduler=scheduler or None,
    workers=1,
    sizes=JobSizes(task_bytes=1, in_process_bytes=0),
)
"""


@contextmanager
def job_in_another_process(
    dataset: Dataset, scheduler: str = "", profile: CurationProfile | None = None, benchmarks: Sequence[Path] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """A job whose tasks are single row groups."""
    settings = (profile or CurationProfile()).canonical_json()
    given = [dataset.url, scheduler, settings, *map(str, benchmarks)]
    with subprocess.Popen([sys.executable, "-c", CURATE, *given]) as job:
        try:
            yield job
        finally:
            job.kill()


def wait_for(job: subprocess.Popen[bytes], event: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not event():
        assert job.poll() is None, "the job ended too early"
        assert time.monotonic() < deadline, "the job does not get on"
        time.sleep(0.001)


@pytest.fixture
def twins(make_dataset: Callable[[str], Dataset]) -> tuple[Dataset, Dataset]:
    """Two equal data sets of some hundred row groups; the second is curated."""
    pair = make_dataset("one"), make_dataset("other")
    for dataset in pair:
        cut_row_groups(dataset, 1)
    curate(pair[1])
    return pair


EVERYTHING = CurationProfile(searches=Searches(volatile=True))


@dataclass(frozen=True, slots=True)
class Searched:
    """A curated data set with something for every search to find, and the files of its curation."""

    folder: Path
    benchmark: Path
    files: dict[str, bytes]


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """Of forty row groups; half of the trajectories were recorded twice, some with secrets in them."""
    top = tmp_path_factory.mktemp("searched")
    dataset = Dataset(top / "recorded")
    for number in range(40):
        texts = [(action, f"{answer} ana{number}@posteo.net") for action, answer in some_texts(number % 20, 5)]
        record(dataset, f"t{number:03d}", texts, run=f"r{number % 2}")
    for run in ("r0", "r1"):
        compact(dataset, run)
    cut_row_groups(dataset, 5)
    longest = max((answer for number in range(20) for _, answer in some_texts(number, 5)), key=len)
    benchmark = top / "items.jsonl"
    benchmark.write_text(json.dumps({"id": "q", "problem": longest}))
    curated = curate(dataset, profile=EVERYTHING, benchmarks=[benchmark], workers=1).sidecar.folder
    for search in ("secrets", "duplicates", "contamination", "volatile"):
        tables = (curated / search).rglob("*.parquet")
        assert sum(pq.read_metadata(table).num_rows for table in tables), f"nothing of {search} is found"
    return Searched(dataset.folder, benchmark, sidecar_files(dataset))


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["secrets", "duplicates", "contamination", "volatile", "statistics"])
def test_a_worker_killed_in_the_middle_of_any_stage_changes_nothing(
    searched: Searched, cluster: LocalCluster, tmp_path: Path, stage: str
) -> None:
    dataset = Dataset(shutil.copytree(searched.folder, tmp_path / "recorded"))
    sidecar = open_sidecar(dataset).folder
    made, work = (sidecar.glob("domain=*"), sidecar) if stage == "statistics" else ([sidecar / stage], sidecar / stage)
    for folder in made:
        shutil.rmtree(folder)  # so that there is nothing to do but this stage
    with Client(cluster) as client:
        client.wait_for_workers(2)
        victim, *_ = client.run(os.getpid).values()
    with job_in_another_process(dataset, cluster.scheduler_address, EVERYTHING, [searched.benchmark]) as job:
        wait_for(job, lambda: any(path.is_file() for path in (work / ".work").rglob("*")))
        os.kill(victim, signal.SIGKILL)
        assert job.poll() is None
        assert job.wait(timeout=120) == 0
    assert sidecar_files(dataset) == searched.files


def test_a_job_killed_in_the_middle_goes_on_where_it_stopped(twins: tuple[Dataset, Dataset]) -> None:
    dataset, twin = twins
    sidecar = open_sidecar(dataset)
    with job_in_another_process(dataset) as job:
        wait_for(job, lambda: bool(sidecar.parts()))
        job.kill()
    standing = {part: (sidecar.folder / part).stat().st_mtime_ns for part in sidecar.parts()}
    with pytest.raises(InputError, match="not curated"):
        sidecar.scan()
    summary = curate(dataset)
    assert summary.num_parts_skipped == len(standing) > 0
    assert {part: (sidecar.folder / part).stat().st_mtime_ns for part in standing} == standing
    assert sidecar_files(dataset) == sidecar_files(twin)


def test_a_second_job_has_nothing_to_do(dataset: Dataset) -> None:
    first = curate(dataset)
    before = {path: path.stat().st_mtime_ns for path in first.sidecar.folder.rglob("*")}
    second = curate(dataset)
    assert (first.num_parts_judged, first.num_parts_skipped) == (4, 0)
    assert (second.num_parts_judged, second.num_parts_skipped) == (0, 4)
    assert {path: path.stat().st_mtime_ns for path in first.sidecar.folder.rglob("*")} == before


def test_new_turns_are_judged_and_turns_that_are_gone_leave_the_sidecar(dataset: Dataset) -> None:
    curate(dataset)
    record(dataset, "new", some_texts(99, 5), run="r3")
    compact(dataset, "r3")
    summary = curate(dataset)
    assert (summary.num_parts_judged, summary.num_parts_skipped) == (1, 4)
    for folder in ("turns", "trajectories"):
        shutil.rmtree(dataset.folder / folder / "domain=terminal" / "run=r3")
    assert curate(dataset).sidecar.scan().filter(pl.col("trajectory_id") == "new").collect().is_empty()


def test_what_a_job_has_added_counts_once_it_is_done(dataset: Dataset) -> None:
    alone = CurationProfile(searches=Searches(secrets=False, duplicates=False))  # no part says anything of others
    first = curate(dataset, profile=alone)
    record(dataset, "new", some_texts(3, 8), run="r3")
    compact(dataset, "r3")
    written = (first.sidecar.folder / "manifest.json").read_bytes()
    second = curate(dataset, profile=alone)
    assert second.num_turns == first.num_turns + 8
    (first.sidecar.folder / "manifest.json").write_bytes(written)  # as before the job's last step
    assert len(first.sidecar.scan().collect()) == first.num_turns
    (new,) = first.sidecar.unjudged_parts(dataset)
    assert new.startswith("domain=terminal/run=r3/")
    page = write_report(dataset, first.sidecar)
    assert json.loads(page.with_suffix(".json").read_text())["num_parts_unjudged"] == 1
    assert "1 part of its turns is not judged as it is now" in page.read_text()
    assert curate(dataset, profile=alone).num_turns == second.num_turns
    assert first.sidecar.unjudged_parts(dataset) == []
    assert "not judged" not in write_report(dataset, first.sidecar).read_text()


def test_a_sidecar_that_was_to_be_replaced_comes_back_where_the_job_fails(dataset: Dataset) -> None:
    before = files_of(curate(dataset).sidecar.folder)
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        curate(dataset, overwrite=True, scheduler="tcp://127.0.0.1:1")
    assert files_of(open_sidecar(dataset).folder) == before


def test_a_sidecar_can_be_read_until_the_one_that_replaces_it_is_whole(dataset: Dataset) -> None:
    sidecar = curate(dataset).sidecar
    before = files_of(sidecar.folder)
    seen = []

    def watch(stage: str) -> AbstractContextManager[Progress]:
        seen.append(files_of(sidecar.folder) == before)
        return unwatched(stage)

    other = CurationProfile(seed=1)
    summary = curate(dataset, profile=other, overwrite=True, watch=watch)
    assert seen
    assert all(seen)
    manifest = summary.sidecar.manifest()
    assert manifest is not None
    assert (manifest.name, manifest.profile) == ("default", other)
    assert sorted(path.name for path in sidecar.folder.parent.iterdir()) == [".default.lock", "default"]


@pytest.mark.parametrize("killed", ["before it was whole", "between the two renames", "before the old one was gone"])
def test_a_killed_job_that_was_replacing_a_sidecar_leaves_one_that_is_whole(dataset: Dataset, killed: str) -> None:
    sidecar = curate(dataset).sidecar
    before = files_of(sidecar.folder)
    aside, old = (sidecar.folder.with_name(f".default.{end}") for end in ("part", "old"))
    if killed == "before the old one was gone":
        shutil.copytree(sidecar.folder, old)
    else:
        aside.mkdir()
        (aside / "begun").write_text("by the job that was killed")
    if killed == "between the two renames":
        sidecar.folder.rename(old)
    assert curate(dataset).num_parts_judged == 0
    assert files_of(sidecar.folder) == before
    assert not aside.exists()
    assert not old.exists()


def test_a_sidecar_with_a_damaged_part_is_not_whole_until_it_is_judged_again(dataset: Dataset) -> None:
    sidecar = curate(dataset).sidecar
    (sidecar.folder / sidecar.parts()[0]).write_bytes(b"x")
    with pytest.raises(InputError, match="there is no such benchmark"):
        curate(dataset, benchmarks=[dataset.folder / "nowhere.jsonl"])
    with pytest.raises(InputError, match="not curated"):
        sidecar.scan()


def test_parts_judged_by_another_notion_of_a_word_are_judged_again(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    curate(dataset)
    monkeypatch.setattr("unicodedata.unidata_version", "99.0.0")
    assert curate(dataset).num_parts_judged == 4


def test_two_jobs_do_not_curate_under_one_name_at_once(dataset: Dataset) -> None:
    lock = dataset.folder / "curation" / ".default.lock"
    lock.parent.mkdir()
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another job is curating this"):
            curate(dataset)
    assert curate(dataset).num_turns


def test_another_profile_is_refused_under_the_same_name_unless_it_may_overwrite(dataset: Dataset) -> None:
    curate(dataset)
    before = sidecar_files(dataset)
    other = CurationProfile(seed=1)
    with pytest.raises(InputError, match=r"another profile .*--overwrite"):
        curate(dataset, profile=other)
    assert sidecar_files(dataset) == before
    assert curate(dataset, name="other", profile=other).num_parts_judged == 4
    curate(dataset, profile=other, overwrite=True)
    manifest = open_sidecar(dataset).manifest()
    assert manifest is not None
    assert manifest.profile == other


def test_turns_that_cannot_be_read_are_counted_and_masked(dataset: Dataset) -> None:
    part = dataset.turn_parts()[0].path
    table = pq.read_table(part, partitioning=None)
    texts = [text.encode() for text in table["observation"].to_pylist()]
    texts[0], texts[1] = b"broken \xff", None
    broken = pa.array(texts, pa.binary()).view(pa.string())
    place = table.schema.get_field_index("observation")
    pq.write_table(table.set_column(place, pa.field("observation", pa.string()), broken), part)
    summary = curate(dataset)
    assert summary.num_unreadable == 2
    rows = summary.sidecar.scan().filter(pl.col("class").is_null()).collect()
    assert rows["reason"].to_list() == [Reason.UNREADABLE] * 2
    assert rows["kept"].to_list() == [False, False]
    assert rows["ol"].is_null().all()
    assert write_report(dataset, summary.sidecar).exists()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"x" * 999])
def test_a_sidecar_part_that_was_damaged_is_judged_again(dataset: Dataset, content: bytes) -> None:
    sidecar = curate(dataset).sidecar
    before = sidecar_files(dataset)
    (sidecar.folder / sidecar.parts()[0]).write_bytes(content)
    summary = curate(dataset)
    assert (summary.num_parts_judged, summary.num_parts_skipped) == (1, 3)
    assert sidecar_files(dataset) == before


def test_turns_of_a_newer_schema_are_refused_before_anything_is_written(dataset: Dataset) -> None:
    path = dataset.turn_parts()[0].path
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.replace_schema_metadata({b"schema_version": b"99"}), path)
    with pytest.raises(InputError, match="newer worldtape"):
        curate(Dataset(dataset.url))
    assert not (dataset.folder / "curation").exists()


def test_a_broken_turns_part_is_named_and_leaves_no_sidecar_part(dataset: Dataset) -> None:
    part = Path(dataset.turn_parts()[0].path)
    content = bytearray(part.read_bytes())
    content[100:400] = bytes(300)
    part.write_bytes(content)
    with pytest.raises(DamagedFileError, match=part.name):
        curate(dataset)
    assert part.name not in {Path(name).name for name in open_sidecar(dataset).parts()}
    assert open_sidecar(dataset).manifest() is None


def test_an_empty_folder_a_wrong_name_and_a_silent_scheduler_are_one_clear_line(
    tmp_path: Path, dataset: Dataset
) -> None:
    with pytest.raises(InputError, match="no data set"):
        curate(Dataset(tmp_path / "nothing"))
    with pytest.raises(InputError, match=r"'\.\./up' cannot be a curation"):
        curate(dataset, name="../up")
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        curate(dataset, scheduler="nonsense://here")
    assert not (tmp_path / "nothing").exists()


def test_the_package_loads_no_heavy_library() -> None:
    heavy = {"numba", "dask", "distributed", "matplotlib", "jinja2", "torch"}
    script = f"import sys, curation; print(*({heavy!r} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert loaded.split() == []


_JUDGE = """
import sys
import pyarrow as pa
from curation import CurationProfile, JobSizes, Searches, curate
from trajectories import Dataset
profile = CurationProfile(searches=Searches(secrets=False, duplicates=False))
curate(Dataset(sys.argv[1]), profile=profile, workers=1)
print(pa.default_memory_pool().max_memory())
"""


@pytest.mark.parametrize("kind", ["one long text again and again", "long texts", "short texts"])
def test_no_more_than_two_row_groups_are_ever_in_memory(kind: str, tmp_path: Path) -> None:
    rng = random.Random(0)
    largest = 40_000_000
    size = 10_000 if kind == "short texts" else 1_000_000
    text = rng.randbytes(size // 2).hex()
    texts = [text if kind.startswith("one") else rng.randbytes(size // 2).hex() for _ in range(2 * largest // size)]
    dataset = Dataset(tmp_path / "large")
    record(dataset, "t", [("cat log", text) for text in texts])
    compact(dataset, "r1")
    cut_row_groups(dataset, largest // size)
    judged = subprocess.run([sys.executable, "-c", _JUDGE, dataset.url], capture_output=True, text=True, check=True)
    assert largest < int(judged.stdout) <= 2 * largest
