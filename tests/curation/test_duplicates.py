"""Duplicates are those that a brute-force comparison finds, whoever looks for them and in whatever order."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st

from curation import JobSizes
from curation.duplicates import DuplicateSettings, DuplicatesSummary, Unit, find_duplicates, open_duplicates
from curation.duplicates.kernel import are_similar, band_keys, jaccard, permutations
from curation.duplicates.table import SCHEMAS
from curation.ngrams import ordered_words
from curation.passes import Workers
from tests.curation.quoted_texts import changed, sentence, vocabulary
from tests.curation.recordings import Texts, cut_row_groups, files_of, kept_of, record
from trajectories import DamagedFileError, Dataset, InputError, compact
from trajectories.importers import import_trajectories

GOLDEN = Path(__file__).parent / "golden" / "duplicates.txt"
SMALL = JobSizes(task_bytes=5000, in_process_bytes=0)

Key = tuple[str, int]


def near_texts(seed: int, num_trajectories: int) -> dict[str, Texts]:
    """Trajectories some of whose turns, and some of which as a whole, are copies of others, more or less changed."""
    rng = random.Random(seed)
    words = vocabulary(rng, 400)
    originals = [
        [(sentence(rng, words, 4), sentence(rng, words, rng.randint(20, 90))) for _ in range(rng.randint(3, 7))]
        for _ in range(max(2, num_trajectories // 3))
    ]
    trajectories: dict[str, Texts] = {}
    for number in range(num_trajectories):
        share = rng.choice((0.0, 0.005, 0.02, 0.03, 0.06))
        turns = [(action, changed(rng, observation, share)) for action, observation in rng.choice(originals)]
        if number % 4 == 0:
            turns.append((sentence(rng, words, 4), ""))
        trajectories[f"t{number:03d}"] = turns
    return trajectories


def recorded(folder: Path, trajectories: Mapping[str, Texts], *, rows_a_group: int = 16) -> Dataset:
    dataset = Dataset(folder)
    for number, (name, turns) in enumerate(trajectories.items()):
        record(dataset, name, turns, run=f"r{number % 3}", domain=("terminal", "mcp")[number % 2])
    for run in range(min(3, len(trajectories))):
        compact(dataset, f"r{run}")
    cut_row_groups(dataset, rows_a_group)
    return dataset


def shingles(action: str, observation: str, size: int = 5) -> frozenset[tuple[str, ...]]:
    words = ordered_words(f"{action}\n{observation}")
    size = min(size, len(words))
    return frozenset(tuple(words[place : place + size]) for place in range(len(words) - size + 1) if size)


def similarity(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def similar_pairs(sets: Mapping[Key, frozenset[tuple[str, ...]]], threshold: float) -> set[tuple[Key, Key]]:
    return {(a, b) for a, b in itertools.combinations(sets, 2) if similarity(sets[a], sets[b]) >= threshold}


def clusters_of(pairs: Iterable[tuple[Key, Key]]) -> dict[Key, set[Key]]:
    """The connected components, by each of their members."""
    found: dict[Key, set[Key]] = {}
    for one, other in pairs:
        united = found.get(one, {one}) | found.get(other, {other})
        found.update((member, united) for member in united)
    return found


def found_clusters(dataset: Dataset, unit: Unit) -> dict[Key, set[Key]]:
    rows = open_duplicates(dataset).scan(unit).collect().to_dicts()
    by_cluster: dict[str, set[Key]] = {}
    for row in rows:
        by_cluster.setdefault(row["cluster"], set()).add((row["trajectory_id"], row.get("turn", 0)))
    return {member: members for members in by_cluster.values() for member in members}


def pairs_of(clusters: Mapping[Key, set[Key]]) -> set[tuple[Key, ...]]:
    return {pair for members in clusters.values() for pair in itertools.combinations(sorted(members), 2)}


def sets_of(trajectories: Mapping[str, Texts]) -> tuple[dict[Key, frozenset[tuple[str, ...]]], ...]:
    """The shingles of all turns, and of all trajectories, straight from the definition."""
    turns = {
        (name, number): shingles(*turn)
        for name, texts in trajectories.items()
        for number, turn in enumerate(texts, start=1)
    }
    wholes = {
        (name, 0): frozenset().union(*(turns[name, number] for number in range(1, len(texts) + 1)))
        for name, texts in trajectories.items()
    }
    return turns, wholes


@pytest.fixture(scope="module")
def originals() -> dict[str, Texts]:
    return near_texts(1, 60)


@pytest.fixture(scope="module")
def dataset(originals: dict[str, Texts], tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return recorded(tmp_path_factory.mktemp("near"), originals)


def test_the_clusters_are_those_of_a_brute_force_comparison(originals: dict[str, Texts], dataset: Dataset) -> None:
    find_duplicates(dataset)
    for unit, sets in zip((Unit.TURNS, Unit.TRAJECTORIES), sets_of(originals), strict=True):
        wanted = pairs_of(clusters_of(similar_pairs(sets, 0.8)))
        got = pairs_of(found_clusters(dataset, unit))
        assert len(wanted) > 30
        assert got <= wanted, "every pair is similar in truth"
        assert len(got) >= 0.997 * len(wanted), unit


@pytest.mark.parametrize(("threshold", "seed"), [(0.5, 0), (0.7, 3), (0.9, 4), (1.0, 5)])
def test_the_stated_recall_of_pairs_is_reached(
    originals: dict[str, Texts], dataset: Dataset, threshold: float, seed: int
) -> None:
    options = DuplicateSettings(threshold=threshold, num_bands=30, rows_per_band=4, seed=seed)
    find_duplicates(dataset, settings=options)
    sets, _ = sets_of(originals)
    wanted = similar_pairs(sets, threshold)
    found = found_clusters(dataset, Unit.TURNS)
    reached = sum(other in found.get(one, ()) for one, other in wanted)
    assert wanted
    assert reached >= options.recall(threshold) * len(wanted)
    assert pairs_of(found) <= pairs_of(clusters_of(wanted))


def test_each_row_says_how_similar_it_is_to_its_survivor(originals: dict[str, Texts], dataset: Dataset) -> None:
    summary = find_duplicates(dataset)
    sets, _ = sets_of(originals)
    rows = open_duplicates(dataset).scan(Unit.TURNS).collect().to_dicts()
    survivors = {row["cluster"]: (row["trajectory_id"], row["turn"]) for row in rows if row["survivor"]}
    for row in rows:
        name, number = row["trajectory_id"], row["turn"]
        other, other_number = survivors[row["cluster"]]
        same = originals[name][number - 1] == originals[other][other_number - 1]
        assert row["exact"] == same
        expected = 1.0 if same else similarity(sets[name, number], sets[other, other_number])
        assert row["similarity"] == expected
    assert summary.turns.num_clusters == len(survivors)
    assert summary.turns.num_exact == sum(row["exact"] and not row["survivor"] for row in rows)
    assert summary.turns.num_near == sum(not row["exact"] for row in rows)
    assert summary.turns.num_texts == sum(map(len, originals.values()))


def test_the_survivor_is_the_earliest_and_then_of_the_least_id(tmp_path: Path) -> None:
    same = [("ls", "a b c")]
    twice = [("first", "something else"), ("ls", "a b c")]
    dataset = recorded(tmp_path, {"late": twice, "b": same, "a": same})
    find_duplicates(dataset)
    rows = open_duplicates(dataset).scan(Unit.TURNS).collect().rows_by_key("trajectory_id", named=True, unique=True)
    assert {name: (row["turn"], row["survivor"]) for name, row in rows.items()} == {
        "a": (1, True),
        "b": (1, False),
        "late": (2, False),
    }


@pytest.mark.parametrize("no_time", [{}, {"timestamp": "1970-01-01T00:00:12Z"}])
def test_what_tells_no_time_is_a_copy_of_what_does(tmp_path: Path, no_time: dict[str, str]) -> None:
    for name, time in (("undated", no_time), ("dated", {"timestamp": "2026-05-01T00:00:00Z"})):
        call = {"id": "1", "function": {"name": "ls", "arguments": "{}"}}
        asked = {"role": "assistant", "tool_calls": [call], **time}
        answered = {"role": "tool", "tool_call_id": "1", "content": "a b c", **time}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"messages": [asked, answered] * 2, "id": name}))
    dataset = Dataset(tmp_path / "data")
    import_trajectories(dataset, "messages", [tmp_path / "undated.jsonl", tmp_path / "dated.jsonl"])
    find_duplicates(dataset)
    dated = (
        dataset.scan_trajectories().filter(pl.col("source").str.contains("/dated")).collect()["trajectory_id"].item()
    )
    for unit in Unit:
        rows = open_duplicates(dataset).scan(unit).filter("survivor").collect()
        assert rows["trajectory_id"].to_list() == [dated]


def test_silent_turns_are_copies_but_never_nearly_alike(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, {"a": [("", ""), ("!", "?"), ("", "")], "b": [("!", "??")]})
    summary = find_duplicates(dataset)
    assert (summary.turns.num_clusters, summary.turns.num_exact, summary.turns.num_near) == (1, 1, 0)


def test_a_data_set_without_duplicates_has_tables_without_rows(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, {"a": [("ls", "one")], "b": [("cat", "two")]})
    summary = find_duplicates(dataset)
    for found, unit in ((summary.turns, Unit.TURNS), (summary.trajectories, Unit.TRAJECTORIES)):
        assert (found.num_texts, found.num_clusters, found.largest_cluster) == (2, 0, 0)
        table = pq.read_table(open_duplicates(dataset).path(unit))
        assert table.num_rows == 0
        assert table.schema == SCHEMAS[unit]


def test_without_any_trajectory_there_are_no_texts(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, {"a": [("ls", "one")], "b": [("cat", "two")]})
    summary = find_duplicates(dataset, without=["a", "b"])
    assert (summary.turns.num_texts, summary.trajectories.num_texts) == (0, 0)
    assert find_duplicates(dataset, without=["b"]).turns.num_texts == 1


def files_found(dataset: Dataset) -> dict[str, bytes]:
    return files_of(dataset.folder / "curation")


def test_the_bytes_are_the_same_with_one_two_and_four_workers(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, near_texts(6, 12))
    found = []
    for number in (1, 2, 4):
        with LocalCluster(n_workers=number, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
            find_duplicates(dataset, workers=Workers(scheduler=cluster.scheduler_address, sizes=SMALL))
        found.append(files_found(dataset))
        shutil.rmtree(open_duplicates(dataset).folder)
    assert sorted(found[0]) == [
        f"default/duplicates/{name}"
        for name in ("checksums.json", "manifest.json", "trajectories.parquet", "turns.parquet")
    ]
    assert found[0] == found[1] == found[2]


def test_the_bytes_depend_neither_on_the_order_of_rows_nor_on_how_they_are_cut(tmp_path: Path) -> None:
    trajectories = near_texts(7, 12)
    plain, shuffled = recorded(tmp_path / "a", trajectories), recorded(tmp_path / "b", trajectories)
    order = np.random.default_rng(0)
    for part in shuffled.turn_parts():
        table = pq.read_table(part.path, partitioning=None)
        pq.write_table(table.take(pa.array(order.permutation(len(table)))), part.path, row_group_size=9)
    for dataset, sizes in ((plain, JobSizes()), (shuffled, SMALL)):
        find_duplicates(dataset, workers=Workers(number=1, sizes=sizes))
    # The manifest says of which turns the tables are, and other bytes of a part are other turns to it.
    one, other = files_found(plain), files_found(shuffled)
    names = ["default/duplicates/trajectories.parquet", "default/duplicates/turns.parquet"]
    assert [one[name] for name in names] == [other[name] for name in names]


def test_the_same_search_is_not_done_again_and_another_takes_its_place(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, near_texts(8, 12))
    first = find_duplicates(dataset)
    path = open_duplicates(dataset).path(Unit.TURNS)
    written = path.stat().st_mtime_ns
    assert find_duplicates(dataset) == first
    assert path.stat().st_mtime_ns == written
    other = find_duplicates(dataset, settings=DuplicateSettings(threshold=1.0))
    assert other.turns.num_near < first.turns.num_near
    assert open_duplicates(dataset).summary() == other
    assert not open_duplicates(dataset).work.exists()


def test_a_search_goes_on_with_the_pieces_it_had_done(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, near_texts(9, 12))
    workers = Workers(number=1, sizes=SMALL)
    expected = find_duplicates(dataset, workers=workers)
    bytes_expected = files_found(dataset)
    (open_duplicates(dataset).folder / "manifest.json").unlink()
    shutil.rmtree(open_duplicates(dataset).folder / ".pieces")
    part = Path(max(dataset.turn_parts()).path)
    whole = part.read_bytes()
    part.write_bytes(b"PAR1" + bytes(len(whole) // 3) + whole[4 + len(whole) // 3 :])
    with pytest.raises(DamagedFileError, match="copy it again"):
        find_duplicates(dataset, workers=workers)
    done = kept_of(open_duplicates(dataset).folder)
    assert done
    part.write_bytes(whole)
    assert find_duplicates(dataset, workers=workers) == expected
    assert done.items() <= kept_of(open_duplicates(dataset).folder).items()
    assert files_found(dataset) == bytes_expected


def test_of_a_data_set_that_has_grown_or_shrunk_only_what_is_new_is_signed(tmp_path: Path) -> None:
    trajectories = near_texts(10, 18)
    first, all_of_them = dict(list(trajectories.items())[:12]), recorded(tmp_path / "all", trajectories)
    dataset = recorded(tmp_path / "grown", first)
    find_duplicates(dataset)
    before = kept_of(open_duplicates(dataset).folder)
    for number, (name, turns) in enumerate(list(trajectories.items())[12:], start=12):
        record(dataset, name, turns, run="later", domain=("terminal", "mcp")[number % 2])
    compact(dataset, "later")
    grown = find_duplicates(dataset)
    assert grown.turns == find_duplicates(all_of_them).turns
    kept = kept_of(open_duplicates(dataset).folder)
    assert before.items() < kept.items()
    assert all("run=later" in name for name in kept.keys() - before.keys())
    for folder in (dataset.folder / table for table in ("turns", "trajectories")):
        for run in folder.glob("*/run=later"):
            shutil.rmtree(run)
    find_duplicates(dataset)
    assert kept_of(open_duplicates(dataset).folder) == before
    find_duplicates(dataset, settings=DuplicateSettings(seed=7))
    assert not before.keys() & kept_of(open_duplicates(dataset).folder).keys(), "another seed has other signatures"


@pytest.mark.parametrize("kind", ["signed", "stretches"])
@pytest.mark.parametrize("place", [200, -30, None])
def test_kept_signatures_that_were_changed_are_made_again(tmp_path: Path, kind: str, place: int | None) -> None:
    dataset = recorded(tmp_path, near_texts(11, 12))
    expected = find_duplicates(dataset)
    folder = open_duplicates(dataset).folder
    bytes_expected = files_found(dataset)
    (folder / "manifest.json").unlink()
    (folder / ".pieces" / "stray").write_text("")
    changed = next(folder.rglob(f"*.{kind}"))
    content = bytearray(changed.read_bytes())
    if place is not None:
        content[place] ^= 1
    changed.write_bytes(content if place is not None else content[:100])
    assert find_duplicates(dataset) == expected
    assert files_found(dataset) == bytes_expected


def test_nobody_reads_a_table_that_was_not_made(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, {"a": [("ls", "one")]})
    with pytest.raises(InputError, match="run: worldtape curate"):
        open_duplicates(dataset).scan(Unit.TURNS)


def test_a_manifest_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, {"a": [("ls", "one")]})
    find_duplicates(dataset)
    path = open_duplicates(dataset).folder / "manifest.json"
    path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    with pytest.raises(InputError, match="newer worldtape"):
        find_duplicates(dataset)


def test_the_schemas_are_the_golden_ones() -> None:
    texts = (f"{unit}\n{schema.to_string(show_schema_metadata=True)}\n" for unit, schema in SCHEMAS.items())
    assert "".join(texts) == GOLDEN.read_text()


def test_a_huge_bucket_is_compared_with_neighbours_only_and_the_summary_says_so(tmp_path: Path) -> None:
    rng = random.Random(0)
    base = sentence(rng, vocabulary(rng, 300), 200)
    turns = [("ls", f"{base} {number}") for number in range(30)]
    dataset = recorded(tmp_path, {"a": turns})
    summary: DuplicatesSummary = find_duplicates(dataset, settings=DuplicateSettings(neighbours=4))
    assert summary.turns.num_crowded > 0
    assert summary.turns.largest_cluster == 30, "neighbours chain the whole cluster together"


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
@settings(deadline=None)
def test_the_jaccard_index_is_that_of_the_sets(one: set[int], other: set[int]) -> None:
    arrays = [np.array(sorted(members), np.uint64) for members in (one, other)]
    assert jaccard(*arrays) == (len(one & other) / len(one | other) if one | other else 0.0)


@given(
    st.sets(st.integers(0, 300), max_size=200),
    st.sets(st.integers(0, 300), max_size=200),
    st.booleans(),
    st.floats(0.01, 1),
)
def test_two_sets_are_similar_where_their_jaccard_index_says_so(
    one: set[int], other: set[int], nearly_one: bool, threshold: float
) -> None:
    if nearly_one:
        other = one ^ set(list(other)[:5])
    ours, theirs = (np.array(sorted(members), np.uint64) for members in (one, other))
    index = jaccard(ours, theirs)
    for limit in (threshold, index or 1.0, np.nextafter(index, 1) or 1.0):
        assert are_similar(ours, theirs, limit) == (index >= limit)


@given(st.lists(st.lists(st.integers(0, 1), min_size=6, max_size=6), min_size=1, max_size=8))
@settings(deadline=None)
def test_keys_of_a_band_are_equal_where_all_its_entries_are(rows: Sequence[Sequence[int]]) -> None:
    keys = band_keys(np.array(rows, np.uint32), 3)
    for band, one, other in itertools.product((0, 1), range(len(rows)), range(len(rows))):
        own, others = (rows[row][3 * band : 3 * band + 3] for row in (one, other))
        assert (keys[band, one] == keys[band, other]) == (own == others)


def test_permutations_are_bijections_and_follow_the_seed() -> None:
    drawn = permutations(np.uint64(3), 120)
    assert (drawn[0] % 2 == 1).all()
    assert len(set(map(tuple, drawn.T.tolist()))) == 120
    assert not (drawn == permutations(np.uint64(4), 120)).any()


@pytest.fixture
def spoilt(make_dataset: Callable[[str], Dataset]) -> Dataset:
    """A data set in which a turn has no action, and another is not UTF-8."""
    dataset = make_dataset("spoilt")
    path = dataset.turn_parts()[0].path
    table = pq.read_table(path, partitioning=None)
    actions = [None, *table["action"].to_pylist()[1:]]
    observations = [text.encode() for text in table["observation"].to_pylist()]
    observations[1] = b"\xff\xfe broken \xce\xa3"
    broken = pa.array(observations, pa.binary()).view(pa.string())
    spoilt = table.drop(["action", "observation"])
    spoilt = spoilt.append_column("action", pa.array(actions, pa.string())).append_column("observation", broken)
    pq.write_table(spoilt, path)
    return dataset


def test_turns_without_a_text_or_of_broken_text_are_compared_as_they_are(spoilt: Dataset) -> None:
    summary = find_duplicates(spoilt)
    assert summary.turns.num_texts == len(spoilt.scan_turns().select("turn").collect())
