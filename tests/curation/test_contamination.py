"""Benchmark items are found where texts quote them, and nowhere else, whoever looks and in whatever order."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st

from curation import JobSizes
from curation.contamination import (
    BenchmarkItem,
    ContaminationSettings,
    ContaminationSummary,
    Field,
    find_contamination,
    open_contamination,
    read_benchmark,
)
from curation.contamination.index import build_index
from curation.contamination.scan import hits_of
from curation.contamination.table import HITS
from curation.ngrams import ordered_words
from curation.passes import Workers
from tests.curation.labelled_quotations import Labelled, labelled_fixture
from tests.curation.quoted_texts import sentence, vocabulary
from tests.curation.recordings import Texts, cut_row_groups, files_of, record
from trajectories import Dataset, InputError, compact

GOLDEN = Path(__file__).parent / "golden" / "contamination.txt"
SMALL = JobSizes(task_bytes=20_000, in_process_bytes=0)


def recorded(folder: Path, trajectories: Mapping[str, Texts]) -> Dataset:
    dataset = Dataset(folder)
    for number, (name, turns) in enumerate(trajectories.items()):
        record(dataset, name, turns, domain=("terminal", "mcp")[number % 2])
    compact(dataset, "r1")
    cut_row_groups(dataset, 16)
    return dataset


def as_trajectories(texts: Iterable[Labelled]) -> dict[str, Texts]:
    """Ten turns a trajectory, the text in the action or in the observation."""
    turns = [("cat it", case.text) if place % 3 else (case.text, "done") for place, case in enumerate(texts)]
    return {f"t{start:04d}": turns[start : start + 10] for start in range(0, len(turns), 10)}


def written(path: Path, items: Mapping[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": name, "problem": text}) + "\n" for name, text in items.items()))
    return path


def test_quotations_are_found_and_look_alikes_are_not(tmp_path: Path) -> None:
    items, texts = labelled_fixture(seed=0)
    dataset = recorded(tmp_path / "data", as_trajectories(texts))
    find_contamination(dataset, [written(tmp_path / "bench.jsonl", items)])
    hits = open_contamination(dataset).scan().collect()
    found = {(f"{row['trajectory_id']}/{row['turn']}", row["item"]) for row in hits.to_dicts()}
    places = {f"t{place // 10 * 10:04d}/{place % 10 + 1}": case for place, case in enumerate(texts)}
    true = {(place, case.item) for place, case in places.items() if case.item}
    assert Counter(case.kind for case in texts).keys() == {
        *("verbatim", "re-wrapped", "escaped", "in part", "misspelt"),
        *("other order", "same words", "a phrase", "rewritten", "boilerplate"),
    }
    missed = Counter(places[place].kind for place, _ in true - found)
    wrong = Counter(places[place].kind for place, _ in found - true)
    assert len(true & found) / len(true) >= 0.99, f"recall; missed {missed}"
    assert len(true & found) / len(found) >= 0.99, f"precision; wrong {wrong}"


def test_a_hit_says_how_much_and_what(tmp_path: Path) -> None:
    rng = random.Random(0)
    words = vocabulary(rng, 300)
    item = rng.sample(words, 100)
    quoted = [*item[:30], "between", *item[50:70]]
    dataset = recorded(tmp_path / "data", {"a": [("cat", "ok"), ("x", " ".join(quoted))]})
    summary = find_contamination(dataset, [written(tmp_path / "bench.jsonl", {"q": " ".join(item)})])
    (hit,) = open_contamination(dataset).scan().collect().to_dicts()
    assert (hit["trajectory_id"], hit["turn"], hit["field"]) == ("a", 2, Field.OBSERVATION)
    assert (hit["domain"], hit["run"]) == ("terminal", "r1")
    assert (hit["source"], hit["item"]) == ("bench.jsonl", "q")
    assert (hit["num_ngrams"], hit["longest_run"]) == (18 + 8, 30)
    assert (hit["item_share"], hit["text_share"]) == (26 / 88, 26 / 39)
    assert (summary.num_hits, summary.num_turns, summary.num_trajectories) == (1, 1, 1)
    assert summary.items_found == {"bench.jsonl": 1}


def test_the_headers_of_trajectories_are_searched_as_turn_0(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data", {"a": [("ls", "ok")], "b": [("ls", "ok")]})
    task = "Count the errors in the log of the shop and say since when they have come, and from where."
    for part in dataset.trajectory_parts():
        table = pq.read_table(part.path, partitioning=None)
        place = table.schema.get_field_index("instruction")
        told = pa.array([task if name == "b" else "Look." for name in table["trajectory_id"].to_pylist()])
        pq.write_table(table.set_column(place, table.schema.field(place), told), part.path)
    benchmark = tmp_path / "tasks.txt"
    benchmark.write_text(task.upper().replace(" ", "\n"))
    find_contamination(dataset, [benchmark])
    (hit,) = open_contamination(dataset).scan().collect().to_dicts()
    assert (hit["trajectory_id"], hit["turn"], hit["field"]) == ("b", 0, Field.INSTRUCTION)
    assert (hit["source"], hit["item"], hit["item_share"], hit["text_share"]) == ("tasks.txt", "tasks.txt", 1.0, 1.0)


def item_hits(items: Mapping[str, str], text: str, options: ContaminationSettings) -> set[tuple[str, int, int]]:
    """(item, distinct n-grams, longest run in words) that the search finds in a text."""
    index, _ = build_index((BenchmarkItem("s", name, body) for name, body in items.items()), options)
    hits = hits_of(pa.chunked_array([pa.array([text])]), index, index.lookup(), options)
    return set(hits.select("item", "num_ngrams", "longest_run").rows())


def plain_hits(items: Mapping[str, str], text: str, options: ContaminationSettings) -> set[tuple[str, int, int]]:
    """The same, straight from the definition."""
    n = options.ngram_words

    def ngrams(of_text: str) -> list[tuple[str, ...]]:
        words = ordered_words(of_text)
        return [tuple(words[place : place + n]) for place in range(len(words) - n + 1)]

    counts = Counter(ngram for body in items.values() for ngram in set(ngrams(body)))
    found = set()
    for name, body in items.items():
        own = {ngram for ngram in ngrams(body) if counts[ngram] <= options.common_items}
        places = [ngram in own for ngram in ngrams(text)]
        num_ngrams = len(own.intersection(ngrams(text)))
        longest = max((len(run) for run in "".join("x" if hit else " " for hit in places).split()), default=0)
        if num_ngrams and (num_ngrams >= options.min_ngrams or num_ngrams / len(own) >= options.min_share):
            found.add((name, num_ngrams, longest + n - 1))
    return found


few_words = st.lists(st.sampled_from("abcdé"), max_size=14).map(" ".join)


@given(st.dictionaries(st.sampled_from("xyz"), few_words), few_words, st.integers(1, 3), st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_the_hits_are_those_of_the_definition(items: dict[str, str], text: str, n: int, common: int) -> None:
    options = ContaminationSettings(ngram_words=n, common_items=common, min_ngrams=3)
    assert item_hits(items, text, options) == plain_hits(items, text, options)


def test_rows_of_one_id_are_one_item_and_do_not_make_each_other_boilerplate(tmp_path: Path) -> None:
    text = sentence(random.Random(1), vocabulary(random.Random(1), 200), 60)
    rows = [{"id": "same", "prompt": [{"role": "user", "content": text}], "turn_idx": turn} for turn in range(20)]
    path = tmp_path / "terminal_test.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    dataset = recorded(tmp_path / "data", {"a": [("ls", text)]})
    summary = find_contamination(dataset, [path])
    assert summary.sources["terminal_test.jsonl"].num_items == 1
    assert summary.num_hits == 1


def test_the_summary_says_which_items_cannot_be_found(tmp_path: Path) -> None:
    words = vocabulary(random.Random(1), 200)
    common = sentence(random.Random(2), words, 30)
    items = {f"q{number}": common for number in range(6)} | {"short": "a few words", "long": " ".join(words[:50])}
    dataset = recorded(tmp_path / "data", {"a": [("ls", common)]})
    facts = find_contamination(dataset, [written(tmp_path / "b.jsonl", items)]).sources["b.jsonl"]
    assert (facts.num_items, facts.num_too_short, facts.num_only_common) == (8, 1, 6)
    assert (facts.num_ngrams, facts.num_common) == (38, 18)


def files_found(dataset: Dataset) -> dict[str, bytes]:
    return files_of(dataset.folder / "curation")


def test_the_bytes_are_the_same_with_one_two_and_four_workers_and_rows_in_any_order(tmp_path: Path) -> None:
    items, texts = labelled_fixture(seed=2, num_items=8)
    benchmark = written(tmp_path / "bench.jsonl", items)
    dataset = recorded(tmp_path / "data", as_trajectories(texts))
    find_contamination(dataset, [benchmark])
    found = [files_found(dataset)]
    for part in dataset.turn_parts():
        table = pq.read_table(part.path, partitioning=None)
        order = random.Random(0).sample(range(len(table)), len(table))
        pq.write_table(table.take(pa.array(order)), part.path, row_group_size=7)
    written(benchmark, dict(reversed(items.items())))
    for number in (1, 2, 4):
        shutil.rmtree(open_contamination(dataset).folder)
        with LocalCluster(n_workers=number, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
            workers = Workers(scheduler=cluster.scheduler_address, sizes=SMALL)
            find_contamination(dataset, [benchmark], workers=workers)
        found.append(files_found(dataset))
    assert sorted(found[0]) == ["default/contamination/hits.parquet", "default/contamination/manifest.json"]
    assert found[1] == found[2] == found[3]
    # The manifest says of which turns the table is, and other bytes of a part are other turns to it.
    assert found[0]["default/contamination/hits.parquet"] == found[1]["default/contamination/hits.parquet"]


def test_the_same_search_is_not_done_again_and_another_takes_its_place(tmp_path: Path) -> None:
    items, texts = labelled_fixture(seed=3, num_items=6)
    benchmark = written(tmp_path / "bench.jsonl", items)
    dataset = recorded(tmp_path / "data", as_trajectories(texts))
    first = find_contamination(dataset, [benchmark])
    before = open_contamination(dataset).path.stat().st_mtime_ns
    assert find_contamination(dataset, [benchmark]) == first
    assert open_contamination(dataset).path.stat().st_mtime_ns == before
    written(benchmark, {"other": "nothing of it is there"})
    other: ContaminationSummary = find_contamination(dataset, [benchmark])
    assert other.num_hits == 0
    assert open_contamination(dataset).summary() == other
    assert open_contamination(dataset).scan().collect().is_empty()
    assert not open_contamination(dataset).work.exists()


def test_the_schema_is_the_golden_one() -> None:
    assert HITS.to_string(show_schema_metadata=True) + "\n" == GOLDEN.read_text()


def test_nobody_reads_a_table_that_was_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run: worldtape curate"):
        open_contamination(Dataset(tmp_path)).scan()


def test_bad_benchmarks_are_one_clear_line(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data", {"a": [("ls", "one")]})
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": 1}\n{"id": \n')
    binary = tmp_path / "picture.png"
    binary.write_bytes(b"\x89PNG\0\0")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    twice = shutil.copy(bad, tmp_path / "other" / "bad.jsonl")
    for paths, message in (
        ([], "no benchmark"),
        ([tmp_path / "nowhere"], "no such benchmark"),
        ([bad], r"not JSON \(.*bad.jsonl, line 2\)"),
        ([binary], "no text"),
        ([tmp_path / "empty"], "holds no text"),
        ([bad, Path(twice)], "two benchmarks have one name"),
    ):
        with pytest.raises(InputError, match=message):
            find_contamination(dataset, paths)
    assert not open_contamination(dataset).folder.exists()


def test_benchmarks_are_read_as_they_are_published(tmp_path: Path) -> None:
    tasks = tmp_path / "bench" / "tasks"
    for name in ("hello", "world"):
        (tasks / name / "tests").mkdir(parents=True)
        (tasks / name / "task.yaml").write_text(f"instruction: say {name}")
        (tasks / name / "tests" / "test.py").write_text(f"assert {name!r}")
        (tasks / name / "data.bin").write_bytes(b"\0\1")
        (tasks / name / ".git").mkdir()
        (tasks / name / ".git" / "config").write_text("hidden")
    osworld = {"id": "0a1b", "instruction": "Mark the sums.", "config": [{"type": "launch", "arguments": ["calc"]}]}
    (tmp_path / "bench" / "0a1b.json").write_text(json.dumps(osworld))
    (tmp_path / "bench" / "rows.json").write_text(json.dumps(["plain", {"task_id": 7, "text": "seven"}]))
    rows = pa.table({"instance_id": ["django-1"], "problem_statement": ["It fails."], "hints": [None], "n": [3]})
    pq.write_table(rows, tmp_path / "bench" / "swe.parquet")
    assert list(read_benchmark(tmp_path / "bench")) == [
        BenchmarkItem("bench", "0a1b.json", "Mark the sums.\nlaunch\ncalc"),
        BenchmarkItem("bench", "rows.json#row 1", "plain"),
        BenchmarkItem("bench", "rows.json#7", "seven"),
        BenchmarkItem("bench", "swe.parquet#django-1", "It fails."),
        BenchmarkItem("bench", "tasks/hello", "instruction: say hello\nassert 'hello'"),
        BenchmarkItem("bench", "tasks/world", "instruction: say world\nassert 'world'"),
    ]
    assert list(read_benchmark(tasks / "hello")) == [
        BenchmarkItem("hello", "hello", "instruction: say hello\nassert 'hello'")
    ]
    assert list(read_benchmark(tmp_path / "bench" / "swe.parquet")) == [
        BenchmarkItem("swe.parquet", "django-1", "It fails.")
    ]
