"""Benchmark items are found where texts quote them, and nowhere else, whoever looks and in whatever order."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster
from hypothesis import given, settings
from hypothesis import strategies as st

from curation import JobSizes, curate
from curation.contamination import (
    BenchmarkItem,
    ContaminationSettings,
    ContaminationSummary,
    Field,
    benchmark_name,
    find_contamination,
    open_contamination,
    read_benchmark,
)
from curation.contamination.index import build_index
from curation.contamination.scan import hits_of
from curation.contamination.table import HITS
from curation.ngrams import ordered_words
from curation.passes import Workers
from tests.curation.labelled_quotations import Labelled, labelled_fixture, labelled_rows
from tests.curation.quoted_texts import sentence, vocabulary
from tests.curation.recordings import Texts, cut_row_groups, files_of, kept_of, record
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
    assert Counter(case.kind for case in texts).keys() == {
        *("verbatim", "re-wrapped", "escaped", "in part", "misspelt"),
        *("cut into rows", "cut and alone", "numbered", "numbered in JSON", "numbered, then cut"),
        *("other order", "same words", "a phrase", "rewritten", "boilerplate"),
    }
    assert_right(dataset, texts)


def test_a_short_task_in_a_row_of_many_fields_is_found_and_its_technical_fields_are_not(tmp_path: Path) -> None:
    benchmarks, texts = labelled_rows(seed=0)
    dataset = recorded(tmp_path / "data", as_trajectories(texts))
    paths = []
    for name, rows in benchmarks.items():
        paths.append(tmp_path / name)
        paths[-1].write_text(json.dumps(rows) if name.endswith(".json") else "\n".join(map(json.dumps, rows)))
    summary = find_contamination(dataset, paths)
    assert summary.items_found == {name: len(rows) for name, rows in benchmarks.items()}
    assert Counter(case.kind for case in texts).keys() == {
        *("verbatim", "re-wrapped", "escaped", "alone", "a long field in part"),
        *("cut into rows", "cut and alone", "numbered", "numbered in JSON", "numbered, then cut"),
        *("other order", "same words", "a phrase", "boilerplate", "technical"),
    }
    assert_right(dataset, texts)


def assert_right(dataset: Dataset, texts: list[Labelled]) -> None:
    """Precision and recall of what was found, each hit once."""
    hits = open_contamination(dataset).scan().collect()
    assert hits.select("trajectory_id", "turn", "source", "item").is_unique().all()
    found = {(f"{row['trajectory_id']}/{row['turn']}", row["item"]) for row in hits.to_dicts()}
    places = {f"t{place // 10 * 10:04d}/{place % 10 + 1}": case for place, case in enumerate(texts)}
    true = {(place, case.item) for place, case in places.items() if case.item}
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


Items = Mapping[str, Iterable[str]]
"""The texts of each item."""


def item_hits(items: Items, text: str, options: ContaminationSettings) -> set[tuple[str, int, int]]:
    """(item, distinct n-grams, longest run in words) that the search finds in a text."""
    index, _ = build_index((BenchmarkItem("s", name, body) for name, own in items.items() for body in own), options)
    hits = hits_of(pa.chunked_array([pa.array([text])]), index, index.lookup(), options)
    return set(hits.select("item", "num_ngrams", "longest_run").rows())


def plain_hits(items: Items, text: str, options: ContaminationSettings) -> set[tuple[str, int, int]]:
    """The same, straight from the definition."""
    n = options.ngram_words

    def ngrams(of_text: str) -> list[tuple[str, ...]]:
        words = ordered_words(of_text)
        return [tuple(words[place : place + n]) for place in range(len(words) - n + 1)]

    counts = Counter(ngram for bodies in items.values() for ngram in set(chain(*map(ngrams, bodies))))
    found = set()
    for name, bodies in items.items():
        parts = [{ngram for ngram in ngrams(body) if counts[ngram] <= options.common_items} for body in bodies]
        own = set(chain(*parts))
        places = [ngram in own for ngram in ngrams(text)]
        num_ngrams = len(own.intersection(ngrams(text)))
        longest = max((len(run) for run in "".join("x" if hit else " " for hit in places).split()), default=0)
        shares = [len(part.intersection(ngrams(text))) / len(part) for part in parts if part]
        if num_ngrams >= options.min_ngrams or max(shares, default=0) >= options.min_share:
            found.add((name, num_ngrams, longest + n - 1))
    return found


few_words = st.lists(st.sampled_from("abcdé"), max_size=14).map(" ".join)


@given(
    st.dictionaries(st.sampled_from("xyz"), st.lists(few_words, max_size=3)),
    few_words,
    st.integers(1, 3),
    st.integers(1, 3),
)
@settings(deadline=None, max_examples=100)
def test_the_hits_are_those_of_the_definition(items: dict[str, list[str]], text: str, n: int, common: int) -> None:
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


def test_an_item_is_too_short_only_where_all_of_its_texts_are(tmp_path: Path) -> None:
    words = vocabulary(random.Random(1), 40)
    rows: list[dict[str, object]] = [
        {"id": "short", "task": " ".join(words[:8]), "more": " ".join(words[8:18]), "config": {"app": "calc"}},
        {"id": "one is long", "task": " ".join(words[20:34]), "app": "calc"},
        {"id": "lines", "task": [" ".join(words[:8]), " ".join(words[8:16])]},
        {"id": "nothing", "n": 3},
        {"id": "a name", "path": "/".join(words[:20]), "task": "Open it."},
    ]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    dataset = recorded(tmp_path / "data", {"a": [("ls", " ".join(words))], "b": [("ls", "/".join(words))]})
    summary = find_contamination(dataset, [path])
    assert (summary.sources["rows.json"].num_items, summary.sources["rows.json"].num_too_short) == (5, 3)
    found = open_contamination(dataset).scan().collect()
    assert set(found["item"]) == {"one is long", "lines"}


def test_two_fields_of_one_item_in_one_text_are_one_hit(tmp_path: Path) -> None:
    words = vocabulary(random.Random(1), 60)
    first, second, rest = " ".join(words[:14]), " ".join(words[14:28]), " ".join(words[28:])
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([{"id": "q", "first": first, "second": second, "rest": rest}]))
    dataset = recorded(tmp_path / "data", {"a": [("ls", f"{second}\n.. changed ..\n{first}")]})
    find_contamination(dataset, [path])
    (hit,) = open_contamination(dataset).scan().collect().to_dicts()
    assert (hit["item"], hit["num_ngrams"], hit["longest_run"], hit["item_share"]) == ("q", 4, 14, 4 / 24)


@pytest.mark.parametrize("name", ["task.yaml", "task.toml", "task.json", "instruction.md"])
def test_the_task_of_a_folder_is_found_whatever_lies_beside_it(tmp_path: Path, name: str) -> None:
    words = vocabulary(random.Random(1), 400)
    task = " ".join(words[:14])
    (tmp_path / "bench" / "one").mkdir(parents=True)
    (tmp_path / "bench" / "one" / "run.sh").write_text(" ".join(words[200:]))
    values = {"author": "A. N. Other", "instruction": task, "tags": ["a", "b"], "about": " ".join(words[14:200])}
    as_toml = "\n".join(f"{key} = {json.dumps(value)}" for key, value in values.items())
    as_yaml = f"author: A. N. Other\ninstruction: |-\n  {task[:40]}\n  {task[40:]}\nabout: {values['about']}\n"
    written_as = {"task.yaml": as_yaml, "task.toml": as_toml, "task.json": json.dumps(values), "instruction.md": task}
    (tmp_path / "bench" / "one" / name).write_text(written_as[name])
    text = f"{task[:40]} {task[40:]}" if name == "task.yaml" else task
    dataset = recorded(tmp_path / "data", {"a": [("ls", f"so {text} then")]})
    assert find_contamination(dataset, [tmp_path / "bench"]).items_found == {"bench": 1}


def test_what_is_not_what_its_ending_says_is_text(tmp_path: Path) -> None:
    for name in ("task.yaml", "task.toml", "task.json"):
        (tmp_path / name).write_text("@ no such thing")
    texts = [item.text for item in read_benchmark(tmp_path)]
    assert texts == ["@ no such thing"] * 3


def test_items_of_other_scripts_are_found_plain_and_quoted_as_json(tmp_path: Path) -> None:
    items = {
        "de": "Öffne die Größentabelle, zähle für jede Straße die Häuser über fünf Stockwerke und färbe sie grün.",
        "zh": "请打开桌面上的销售表格，计算每个部门第二季度的总收入，并把结果按从高到低的顺序写入名为汇总的工作表。",
        "ja": "デスクトップにある売上表を開き、部門ごとの合計を計算して新しいシートに書き込んでください。",
        "el": "Άνοιξε τον ΠΊΝΑΚΑ ΤΗΣ πόλης και μέτρησε πόσα σπίτια έχει ο κάθε ΔΡΌΜΟΣ της πάνω από πέντε ορόφους",
    }
    turns = [turn for text in items.values() for turn in (("say", text), ("say", json.dumps({"text": f"a {text}\n"})))]
    other = "请打开桌面上的文档，把第一段的标题改成红色，然后将文件另存为另一种格式并发送给部门的所有同事。"
    dataset = recorded(tmp_path / "data", {"a": [*turns, ("say", other)]})
    path = tmp_path / "bench.jsonl"
    path.write_text(
        "".join(json.dumps({"id": name, "task": text, "app": "calc"}) + "\n" for name, text in items.items())
    )
    find_contamination(dataset, [path])
    found = set(open_contamination(dataset).scan().select("turn", "item").collect().rows())
    assert found == {(2 * place + turn, name) for place, name in enumerate(items) for turn in (1, 2)}


def test_a_part_without_any_row_has_no_hits(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data", {"a": [("ls", "ok")], "b": [("ls", "ok")]})
    for part in (*dataset.trajectory_parts(), *dataset.turn_parts()):
        table = pq.read_table(part.path, partitioning=None)
        if "domain=mcp" in str(part.path):
            pq.write_table(table.slice(0, 0), part.path)
    assert find_contamination(dataset, [written(tmp_path / "bench.jsonl", {"q": "nothing"})]).num_hits == 0
    assert open_contamination(dataset).scan().collect_schema().names() == HITS.names


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
    names = ("checksums.json", "hits.parquet", "manifest.json")
    assert sorted(found[0]) == [f"default/contamination/{name}" for name in names]
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


def test_of_a_data_set_that_has_grown_only_the_new_parts_are_searched(tmp_path: Path) -> None:
    items, texts = labelled_fixture(seed=4, num_items=6)
    benchmark = written(tmp_path / "bench.jsonl", items)
    trajectories = as_trajectories(texts)
    names = sorted(trajectories)
    dataset = recorded(tmp_path / "grown", {name: trajectories[name] for name in names[:-2]})
    find_contamination(dataset, [benchmark])
    folder = open_contamination(dataset).folder
    before = kept_of(folder)
    for name in names[-2:]:
        record(dataset, name, trajectories[name], run="later")
    compact(dataset, "later")
    found = find_contamination(dataset, [benchmark])
    kept = kept_of(folder)
    assert before.items() < kept.items()
    assert all("run=later" in name for name in kept.keys() - before.keys())
    damaged = next(path for path in (folder / ".pieces").rglob("*") if path.is_file())
    damaged.write_bytes(damaged.read_bytes()[:100])
    (folder / "manifest.json").unlink()
    assert find_contamination(dataset, [benchmark]) == found
    shutil.rmtree(folder)
    assert find_contamination(dataset, [benchmark]) == found
    written(benchmark, {"other": "nothing of it is there"})
    find_contamination(dataset, [benchmark])
    assert not kept.keys() & kept_of(folder).keys(), "other benchmarks have other hits"


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
        ([Path("/dev/null")], "this is neither"),
        ([bad], r"not JSON \(.*bad.jsonl, line 2\)"),
        ([binary], "no text"),
        ([tmp_path / "empty"], "holds no text"),
        ([bad, Path(twice)], "two benchmarks have one name"),
    ):
        with pytest.raises(InputError, match=message):
            find_contamination(dataset, paths)
    assert not open_contamination(dataset).folder.exists()


def test_a_benchmark_whose_name_is_no_unicode_text_is_known_again_and_told_from_others(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data", {"a": [("ls", "one")]})
    first, second = (tmp_path / os.fsdecode(b"b" + byte + b"nch.jsonl") for byte in (b"\xff", b"\xfe"))
    for path in (first, second):
        path.write_text(json.dumps({"id": "q1", "problem": "some plain words"}))
    assert [curate(dataset, benchmarks=[first]).num_turns for _ in range(2)] == [1, 1]
    summary = open_contamination(dataset).summary()
    assert summary is not None
    assert [*summary.sources] == [benchmark_name(first)] == ["b?nch.jsonl"]
    with pytest.raises(InputError, match=r"two benchmarks have one name \(b\?nch\.jsonl\)"):
        find_contamination(dataset, [first, second])


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
        BenchmarkItem("bench", "0a1b.json", "Mark the sums."),
        BenchmarkItem("bench", "rows.json#row 1", "plain"),
        BenchmarkItem("bench", "rows.json#7", "seven"),
        BenchmarkItem("bench", "swe.parquet#django-1", "It fails."),
        BenchmarkItem("bench", "tasks/hello", "instruction: say hello"),
        BenchmarkItem("bench", "tasks/hello", "say hello"),
        BenchmarkItem("bench", "tasks/hello", "assert 'hello'"),
        BenchmarkItem("bench", "tasks/world", "instruction: say world"),
        BenchmarkItem("bench", "tasks/world", "say world"),
        BenchmarkItem("bench", "tasks/world", "assert 'world'"),
    ]
    assert list(read_benchmark(tasks / "hello")) == [
        BenchmarkItem("hello", "hello", text) for text in ("instruction: say hello", "say hello", "assert 'hello'")
    ]
    assert list(read_benchmark(tmp_path / "bench" / "swe.parquet")) == [
        BenchmarkItem("swe.parquet", "django-1", "It fails.")
    ]
