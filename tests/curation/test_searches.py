"""What the searches say against turns enters their judgement: copies, benchmark items, what is known only later."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from collectors.ids import Episode
from curation import (
    CurationProfile,
    Draw,
    Filters,
    KeepRatios,
    Reason,
    Scope,
    Searches,
    curate,
    open_sidecar,
    write_report,
)
from curation.duplicates import Unit, open_duplicates
from curation.fingerprints import program
from tests.curation.recordings import Texts, a_header, files_of, record, record_turns, some_texts, turn
from trajectories import DamagedFileError, Dataset, InputError, Status, compact

ITEM = "Count the errors in the log of the shop, and say since when they have come and from which of its servers."
WORDS = [f"{first}{second}" for first in "bcdfgklmnprst" for second in ("ano", "eri", "idu", "ola", "uxe", "ymi")]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return Dataset(tmp_path / "recorded")


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps({"id": "shop", "problem": ITEM}) + "\n")
    return path


def new_texts(seed: int, num_turns: int = 3) -> Texts:
    """Turns of their own words, which are always kept."""
    rng = random.Random(seed)
    return [(f"look {seed}", " ".join(rng.sample(WORDS, 40))) for _ in range(num_turns)]


def reasons(dataset: Dataset, **given: Any) -> dict[str, list[str]]:
    """Trajectory → the reason of each of its turns; what is kept is so for one of the reasons to keep."""
    rows = curate(dataset, **given).sidecar.scan().sort("trajectory_id", "turn").collect()
    kept = rows["reason"].is_in([Reason.KEPT, Reason.SILENCE, Reason.DRAWN_BY_TOKEN])
    assert (rows["kept"] == kept).all()
    grouped = rows.group_by("trajectory_id", maintain_order=True).agg("reason")
    return {str(trajectory_id): told for trajectory_id, told in grouped.iter_rows()}


def test_of_trajectories_that_are_copies_one_stays(dataset: Dataset) -> None:
    texts = new_texts(1, 6)
    record(dataset, "a", texts)
    record(dataset, "b", [*texts[:5], ("look", f"{texts[5][1]} and more")], run="r2")
    record(dataset, "c", new_texts(2), run="r2")
    for run in ("r1", "r2"):
        compact(dataset, run)
    assert reasons(dataset) == {"a": ["kept"] * 6, "b": ["duplicate_trajectory"] * 6, "c": ["kept"] * 3}
    off = CurationProfile(filters=Filters(duplicate_trajectory=False))
    assert reasons(dataset, name="off", profile=off)["b"] == ["kept"] * 6
    unsearched = CurationProfile(searches=Searches(duplicates=False))
    assert reasons(dataset, name="unsearched", profile=unsearched)["b"] == ["kept"] * 6
    assert not (dataset.folder / "curation/unsearched/duplicates").exists()


def test_copies_of_turns_are_masked_where_that_is_wanted(dataset: Dataset) -> None:
    same = ("pwd", " ".join(WORDS[:30]))
    record(dataset, "a", [same, *new_texts(1)])
    record(dataset, "b", [*new_texts(2), same])
    compact(dataset, "r1")
    assert reasons(dataset) == {"a": ["kept"] * 4, "b": ["kept"] * 4}
    wanted = CurationProfile(filters=Filters(duplicate_turn=True))
    assert reasons(dataset, name="turns", profile=wanted) == {
        "a": ["kept"] * 4,
        "b": ["kept"] * 3 + ["duplicate_turn"],
    }


def test_a_copy_of_a_copy_is_masked_only_where_it_is_like_the_one_that_stays(dataset: Dataset) -> None:
    windows = [("look", " ".join(WORDS[start : start + 60])) for start in (0, 4, 8)]
    record(dataset, "a", [windows[0], *new_texts(1)])
    record(dataset, "b", [*new_texts(2), windows[1]])
    record(dataset, "c", [*new_texts(3), windows[2]])
    compact(dataset, "r1")
    profile = CurationProfile(filters=Filters(duplicate_turn=True))
    told = reasons(dataset, profile=profile)
    found = open_duplicates(dataset).scan(Unit.TURNS).filter(~pl.col("survivor")).collect()
    assert [similarity >= 0.8 for similarity in found.sort("trajectory_id")["similarity"]] == [True, False]
    assert [told["b"][-1], told["c"][-1]] == ["duplicate_turn", "kept"]


def test_a_benchmark_that_is_not_there_is_noticed_before_anything_is_searched(dataset: Dataset, tmp_path: Path) -> None:
    record(dataset, "a", new_texts(1))
    compact(dataset, "r1")
    with pytest.raises(InputError, match=r"no such benchmark .*nowhere\.jsonl"):
        curate(dataset, benchmarks=[tmp_path / "nowhere.jsonl"])
    assert not (dataset.folder / "curation/default").exists()


def test_a_task_that_was_written_anew_is_looked_at_again(dataset: Dataset, benchmark: Path) -> None:
    record(dataset, "a", new_texts(1))
    compact(dataset, "r1")
    assert reasons(dataset, benchmarks=[benchmark]) == {"a": ["kept"] * 3}
    path = dataset.trajectory_parts()[0].path
    rows = pq.read_table(path, partitioning=None)
    place = rows.column_names.index("instruction")
    pq.write_table(rows.set_column(place, rows.schema.field(place), pa.array([ITEM])), path)
    assert reasons(dataset, benchmarks=[benchmark]) == {"a": ["contaminated"] * 3}


@pytest.mark.parametrize("change", [{"sources": "others"}, {"worldtape": "9.9"}])
def test_another_program_searches_and_judges_anew(
    dataset: Dataset, benchmark: Path, change: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> dict[str, str]:
        curate(dataset, benchmarks=[benchmark], profile=CurationProfile(searches=Searches(volatile=True)))
        return dict(open_sidecar(dataset).manifest().searches)  # type: ignore[union-attr]

    record(dataset, "a", new_texts(1))
    compact(dataset, "r1")
    before = made()
    other = {**program(), **change}
    for module in ("contamination.job", "duplicates.job", "replays.job", "sidecar"):
        monkeypatch.setattr(f"curation.{module}.program", lambda: other)
    after = made()
    assert {name for name in before if before[name] != after[name]} == {"contamination", "duplicates", "volatile"}
    assert open_sidecar(dataset).manifest().versions == other  # type: ignore[union-attr]


def test_an_attempt_that_was_begun_again_is_not_the_copy_that_stays(dataset: Dataset) -> None:
    facts: dict[str, Any] = {"run": "r1", "domain": "terminal", "task_id": "t", "task_sha256": "0" * 64}
    facts |= {"policy": "p", "seed": 7}
    names = []
    for attempt, status in ((1, Status.INTERRUPTED), (2, Status.COMPLETED)):
        names.append(Episode(**facts, number=0).trajectory_id(attempt))
        header = a_header(names[-1], **facts, attempt=attempt)
        record_turns(dataset, header, [turn(*texts) for texts in new_texts(5)], status=status)
    compact(dataset, "r1")
    assert reasons(dataset) == {names[0]: ["superseded"] * 3, names[1]: ["kept"] * 3}


@pytest.mark.parametrize(
    ("scope", "told"),
    [
        (Scope.TRAJECTORY, ["contaminated"] * 3),
        (Scope.TURN, ["kept", "contaminated", "kept"]),
        (Scope.OFF, ["kept"] * 3),
    ],
)
def test_a_benchmarks_item_masks_its_turn_or_all_of_its_trajectory(
    dataset: Dataset, benchmark: Path, scope: Scope, told: list[str]
) -> None:
    first, _, last = new_texts(1)
    record(dataset, "holds", [first, ("cat task", f"# Task\n{ITEM}\n"), last])
    record(dataset, "clean", new_texts(2))
    compact(dataset, "r1")
    profile = CurationProfile(filters=Filters(contaminated=scope))
    assert reasons(dataset, profile=profile, benchmarks=[benchmark]) == {"holds": told, "clean": ["kept"] * 3}


def test_a_task_that_is_a_benchmarks_masks_all_of_its_trajectory_in_any_case(dataset: Dataset, benchmark: Path) -> None:
    record_turns(dataset, a_header("t", instruction=ITEM), [turn(*texts) for texts in new_texts(1)])
    compact(dataset, "r1")
    profile = CurationProfile(filters=Filters(contaminated=Scope.TURN))
    assert reasons(dataset, profile=profile, benchmarks=[benchmark]) == {"t": ["contaminated"] * 3}


def test_a_benchmark_that_is_given_later_has_only_the_parts_that_hold_it_judged_again(
    dataset: Dataset, benchmark: Path
) -> None:
    for run in ("r1", "r2"):
        record(dataset, f"in-{run}", new_texts(int(run == "r1")), run=run)
        compact(dataset, run)
    record(dataset, "holds", [*new_texts(3), ("cat task", ITEM)], run="r3")
    compact(dataset, "r3")
    first = curate(dataset)
    assert (first.num_parts_judged, list(first.searches)) == (3, ["secrets", "duplicates"])
    again = curate(dataset, benchmarks=[benchmark])
    assert (again.num_parts_judged, again.num_parts_skipped) == (1, 2)
    assert list(again.searches) == ["secrets", "duplicates", "contamination"]
    assert again.reasons[Reason.CONTAMINATED] == 4


def test_what_is_known_later_gives_the_same_bytes_as_what_was_known_at_once(tmp_path: Path, benchmark: Path) -> None:
    grown, whole = Dataset(tmp_path / "grown"), Dataset(tmp_path / "whole")
    for dataset in (grown, whole):
        record(dataset, "z", new_texts(1), run="r2")
        compact(dataset, "r2")
        if dataset is grown:
            assert reasons(dataset) == {"z": ["kept"] * 3}
        record(dataset, "a", new_texts(1), run="r1")
        compact(dataset, "r1")
        told = reasons(dataset, benchmarks=[benchmark])
        assert told == {"a": ["kept"] * 3, "z": ["duplicate_trajectory"] * 3}, "the survivor is the least of its time"
    assert files_of(grown.folder / "curation") == files_of(whole.folder / "curation")


def test_with_a_draw_by_token_no_turn_is_drawn_out_unless_its_ratio_is_zero(dataset: Dataset) -> None:
    for number in range(12):
        record(dataset, f"t{number:02d}", some_texts(number, 8))
    compact(dataset, "r1")
    searches = Searches(secrets=False, duplicates=False)
    ratios = KeepRatios(transform=0.0)
    profile = CurationProfile(draw=Draw.TOKEN, keep_ratios=ratios, filters=Filters.none(), searches=searches)
    rows = curate(dataset, profile=profile).sidecar.scan().collect()
    told = {name: set(of_class["reason"]) for (name,), of_class in rows.group_by("class")}
    assert told["boilerplate"] == told["echo"] == {"drawn_by_token"}
    assert told["transform"] == {"drawn_out"}
    assert told["retrieval"] == {"kept"}
    assert rows.filter(pl.col("reason") == "drawn_by_token")["kept"].all()


def test_a_benchmark_cannot_be_forgotten(dataset: Dataset, benchmark: Path) -> None:
    record(dataset, "holds", [*new_texts(3), ("cat task", ITEM)])
    compact(dataset, "r1")
    assert curate(dataset, benchmarks=[benchmark]).num_kept == 0
    with pytest.raises(InputError, match=r"made with the benchmark tasks\.jsonl .*give it again"):
        curate(dataset)
    assert curate(dataset, benchmarks=[benchmark]).num_kept == 0
    assert curate(dataset, overwrite=True).num_kept == 4


@pytest.mark.parametrize("removed", ["contamination/manifest.json", "contamination"])
def test_a_benchmark_whose_table_is_gone_cannot_be_forgotten_either(
    dataset: Dataset, benchmark: Path, removed: str
) -> None:
    record(dataset, "holds", [*new_texts(3), ("cat task", ITEM)])
    compact(dataset, "r1")
    path = curate(dataset, benchmarks=[benchmark]).sidecar.folder / removed
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(InputError, match=r"made with benchmarks .*give it again"):
        curate(dataset)
    assert curate(dataset, benchmarks=[benchmark]).num_kept == 0


def test_a_benchmark_of_what_a_killed_job_was_replacing_cannot_be_forgotten(dataset: Dataset, benchmark: Path) -> None:
    record(dataset, "holds", [*new_texts(3), ("cat task", ITEM)])
    compact(dataset, "r1")
    sidecar = curate(dataset, benchmarks=[benchmark]).sidecar
    sidecar.folder.rename(sidecar.folder.with_name(".default.old"))  # as a job with --overwrite leaves it
    with pytest.raises(InputError, match=r"made with the benchmark tasks\.jsonl"):
        curate(dataset)
    assert curate(dataset, benchmarks=[benchmark]).num_kept == 0


def test_a_benchmark_that_is_not_there_is_told_before_it_is_missed(dataset: Dataset, benchmark: Path) -> None:
    record(dataset, "holds", [*new_texts(3), ("cat task", ITEM)])
    compact(dataset, "r1")
    curate(dataset, benchmarks=[benchmark])
    with pytest.raises(InputError, match=r"no such benchmark .*nowhere"):
        curate(dataset, benchmarks=[benchmark.with_name("nowhere.jsonl")])


def test_a_sidecar_that_cannot_be_understood_can_be_replaced(dataset: Dataset) -> None:
    record(dataset, "t", new_texts(3))
    compact(dataset, "r1")
    sidecar = curate(dataset).sidecar
    shutil.copytree(sidecar.folder, sidecar.folder.with_name(".default.old"))  # as a job that was killed leaves it
    (sidecar.folder / "manifest.json").write_text("{broken")
    with pytest.raises(InputError, match="--overwrite"):
        curate(dataset)
    assert curate(dataset, overwrite=True).num_turns == 3


@pytest.mark.parametrize("damage", ["flipped", "gone"])
@pytest.mark.parametrize(
    "table",
    [
        "duplicates/trajectories.parquet",
        "duplicates/turns.parquet",
        "contamination/hits.parquet",
        "secrets/domain=terminal/run=r1/part-*.parquet",
        "secrets/checksums.json",
    ],
)
def test_a_damaged_table_is_reported_by_none_and_made_again(
    dataset: Dataset, benchmark: Path, table: str, damage: str
) -> None:
    record(dataset, "a", [*new_texts(3), ("task", f"{ITEM} Mail to ann@example.org")])
    record(dataset, "b", [*new_texts(3), ("task", f"{ITEM} Mail to ann@example.org")], run="r2")
    for run in ("r1", "r2"):
        compact(dataset, run)
    curate(dataset, benchmarks=[benchmark])
    folder = dataset.folder / "curation/default"
    whole = files_of(folder)
    (path,) = folder.glob(table)
    content = bytearray(path.read_bytes())
    path.unlink()
    if damage == "flipped":
        content[len(content) // 3] ^= 1
        path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"not what was written .*curate DATASET --name default"):
        write_report(dataset, open_sidecar(dataset))
    curate(dataset, benchmarks=[benchmark])
    assert files_of(folder) == whole


def test_turns_that_were_recorded_again_under_the_same_names_are_judged_again(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "recorded")
    names = []
    for seed in (1, 2):
        record(dataset, "t", new_texts(seed))
        compact(dataset, "r1")
        names.append(Path(dataset.turn_parts()[0].path).name)
        summary = curate(dataset)
        assert (summary.num_parts_judged, summary.num_parts_skipped) == (1, 0)
        lengths = summary.sidecar.scan().sort("turn").collect()["len_observation"].to_list()
        assert lengths == [len(observation) for _, observation in new_texts(seed)]
        for folder in ("turns", "trajectories"):
            shutil.rmtree(dataset.folder / folder)
    assert names[0] == names[1], "a part is named by whose turns it holds"
