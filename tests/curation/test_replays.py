"""Volatile spans are what a replay has otherwise, in each recording's own text, whoever looks and in whatever order."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster
from hypothesis import given
from hypothesis import strategies as st

from curation import JobSizes
from curation.passes import Workers
from curation.replays import VolatileSettings, find_volatile, open_volatile
from curation.replays.alignment import Block, common_blocks
from curation.replays.differences import Differences, Outcome
from curation.replays.shapes import shape
from curation.replays.spans import Spans, outside, runs, shifted, union
from curation.replays.table import SPANS
from tests.curation.recordings import DAWN, Texts, a_header, cut_row_groups, files_of, kept_of, record_turns, turn
from trajectories import DamagedFileError, Dataset, InputError, SystemPrompt, compact

GOLDEN = Path(__file__).parent / "golden" / "volatile.txt"
SMALL = JobSizes(task_bytes=500, in_process_bytes=0)


@dataclass(frozen=True)
class Recording:
    """A recording, and what of its header matters here."""

    texts: Texts
    task: str = "0" * 64
    initial: str = "$ "
    domain: str = "terminal"
    run: str = "r1"


def recorded(folder: Path, recordings: Mapping[str, Recording], *, rows_a_group: int = 4) -> Dataset:
    """A data set of these recordings, begun one after the other."""
    dataset = Dataset(folder)
    for number, (name, one) in enumerate(recordings.items()):
        header = a_header(
            name,
            run=one.run,
            domain=one.domain,
            task_sha256=one.task,
            prompt=SystemPrompt(initial_state=one.initial),
            started_at=DAWN + timedelta(hours=number),
        )
        record_turns(dataset, header, [turn(action, observation) for action, observation in one.texts])
    for run in sorted({one.run for one in recordings.values()}):
        compact(dataset, run)
    cut_row_groups(dataset, rows_a_group)
    return dataset


def replays(*observations: Sequence[str], actions: Sequence[str] = ("date", "ps", "ls")) -> dict[str, Recording]:
    """Recordings of the same actions."""
    return {
        f"t{number}": Recording(list(zip(actions, texts, strict=False))) for number, texts in enumerate(observations)
    }


def marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with its spans in brackets."""
    pieces, reached = [], 0
    for start, end in spans:
        pieces += [text[reached:start], "[", text[start:end], "]"]
        reached = end
    return "".join([*pieces, text[reached:]])


def spans_of(*texts: str, settings: VolatileSettings | None = None) -> list[Spans]:
    """The spans of texts that were observed in each other's stead, none of which has diverged."""
    differences = Differences(texts, settings or VolatileSettings())
    assert differences.outcomes == [None] * len(texts)
    return [differences.spans_of(number) for number in range(len(texts))]


def found(dataset: Dataset) -> dict[tuple[str, int], str]:
    """The observations that have volatile spans, with these in brackets, by trajectory and turn."""
    texts = {
        (row["trajectory_id"], row["turn"]): row["observation"] for row in dataset.scan_turns().collect().to_dicts()
    }
    rows = open_volatile(dataset).scan().collect().to_dicts()
    keys = [(row["trajectory_id"], row["turn"]) for row in rows]
    spans = [[(span["start"], span["end"]) for span in row["spans"]] for row in rows]
    return {key: marked(texts[key], of_key) for key, of_key in zip(keys, spans, strict=True)}


def test_what_a_replay_has_otherwise_is_volatile_in_both(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, replays(["today is 12:31:05\n$ ", "same"], ["today is 12:33:10\n$ ", "same"]))
    summary = find_volatile(dataset)
    assert found(dataset) == {
        ("t0", 1): "today is 12:[31]:[05]\n$ ",
        ("t1", 1): "today is 12:[33]:[10]\n$ ",
    }
    assert (summary.num_groups, summary.num_turns_compared, summary.num_turns_with_spans) == (1, 4, 2)
    assert (summary.code_points_volatile, summary.num_diverged, summary.num_skipped) == (8, 0, 0)


def test_what_differs_in_one_replay_is_volatile_in_all(tmp_path: Path) -> None:
    """Also in those that happen to say the same as the first."""
    dataset = recorded(
        tmp_path, replays(["pid 17 of 80, é"], ["pid 17 of 80, é"], ["pid 17 of 90, é"], ["pid 4711 of 80, é"])
    )
    find_volatile(dataset)
    assert found(dataset) == {
        ("t0", 1): "pid [17] of [80], é",
        ("t1", 1): "pid [17] of [80], é",
        ("t2", 1): "pid [17] of [90], é",
        ("t3", 1): "pid [4711] of [80], é",
    }
    assert open_volatile(dataset).scan().collect()["num_replays"].to_list() == [3] * 4


def test_turns_are_replays_as_long_as_the_same_is_done(tmp_path: Path) -> None:
    one = Recording([("date", "it is 12:01 now"), ("ls", "a 1"), ("date", "it is 12:02 now")])
    other = Recording([("date", "it is 13:51 now"), ("pwd", "/ 2"), ("date", "it is 13:52 now")])
    dataset = recorded(tmp_path, {"a": one, "b": other})
    find_volatile(dataset)
    assert found(dataset) == {("a", 1): "it is [12]:[01] now", ("b", 1): "it is [13]:[51] now"}


@pytest.mark.parametrize(
    "other", [{"task": "1" * 64}, {"domain": "mcp"}, {"initial": "another machine $ "}], ids=["task", "domain", "state"]
)
def test_recordings_of_another_task_domain_or_initial_state_are_no_replays(
    tmp_path: Path, other: Mapping[str, str]
) -> None:
    texts = ([("date", "it is 12:01 now")], [("date", "it is 12:02 now")])
    dataset = recorded(tmp_path, {"a": Recording(texts[0]), "b": Recording(texts[1], **other)})
    assert find_volatile(dataset).num_groups == 0
    assert found(dataset) == {}


def test_texts_of_a_collection_are_no_recordings_of_a_world(tmp_path: Path) -> None:
    texts = ([("Statute", "Article 7. The penalty is 100 euros.")], [("Statute", "Article 7. It is abolished.")])
    dataset = recorded(tmp_path, {f"t{k}": Recording(text, domain="corpus-law") for k, text in enumerate(texts)})
    assert find_volatile(dataset).num_groups == 0


def test_initial_states_are_the_same_whatever_the_time_and_the_machine_s_name_in_them(tmp_path: Path) -> None:
    states = ("Mar 5 12:31 root@4f2a91bc:~$ ", "Mar 17  9:05 root@00c1dd0f:~$ ")
    recordings = {
        f"t{number}": Recording([("date", f"it is 12:0{number} now")], initial=state, run=f"r{number}")
        for number, state in enumerate(states)
    }
    dataset = recorded(tmp_path, recordings)
    find_volatile(dataset)
    assert found(dataset) == {("t0", 1): "it is 12:[00] now", ("t1", 1): "it is 12:[01] now"}


def test_environments_that_have_diverged_are_no_replays_from_there_on(tmp_path: Path) -> None:
    dataset = recorded(
        tmp_path,
        replays(
            ["at 1:00", "everything is fine at 1:05", "still 1:10 o'clock here"],
            ["at 2:00", "bash: no such command", "still 2:10 o'clock here"],
            ["at 3:00", "everything is fine at 3:05", "still 3:10 o'clock here"],
        ),
    )
    summary = find_volatile(dataset)
    assert found(dataset) == {
        ("t0", 1): "at [1]:00",
        ("t1", 1): "at [2]:00",
        ("t2", 1): "at [3]:00",
        ("t0", 2): "everything is fine at [1]:05",
        ("t2", 2): "everything is fine at [3]:05",
        ("t0", 3): "still [1]:10 o'clock here",
        ("t2", 3): "still [3]:10 o'clock here",
    }
    assert summary.num_diverged == 1


def test_those_that_diverged_from_the_first_may_be_replays_of_one_another(tmp_path: Path) -> None:
    odd = ["out of order", "out of order"]
    usual = (["it works", f"it is {hour}:00 as usual"] for hour in (1, 2))
    dataset = recorded(tmp_path, replays(odd, *usual))
    summary = find_volatile(dataset)
    assert found(dataset) == {("t1", 2): "it is [1]:00 as usual", ("t2", 2): "it is [2]:00 as usual"}
    assert summary.num_diverged == 2


def test_how_much_may_differ_can_be_set(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, replays(["4711"], ["4712"]))
    assert find_volatile(dataset).num_diverged == 1
    summary = find_volatile(dataset, settings=VolatileSettings(max_differing=1.0))
    assert summary.num_diverged == 0
    assert found(dataset) == {("t0", 1): "[4711]", ("t1", 1): "[4712]"}


def test_trajectories_left_out_take_no_part(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, replays(["at 1:00 or so"], ["at 2:00 or so"], ["at 3:00 or so"]))
    find_volatile(dataset, without=["t1"])
    assert found(dataset) == {("t0", 1): "at [1]:00 or so", ("t2", 1): "at [3]:00 or so"}


def test_what_is_not_utf_8_counts_as_python_decodes_it(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, replays(["x 1 and more"], ["x 2 and more"]))
    path = dataset.turn_parts()[0].path
    table = pq.read_table(path, partitioning=None)
    broken = pa.array([b"\xff\xe2\x82 1 and more", b"\xff\xe2\x82 2 and more"], pa.binary()).view(pa.string())
    place = table.schema.get_field_index("observation")
    pq.write_table(table.set_column(place, table.schema.field(place), broken), path)
    find_volatile(dataset)
    spans = open_volatile(dataset).scan().collect()["spans"].to_list()
    assert spans == [[{"start": 3, "end": 4}]] * 2


SHELL = """$ ls -l
total {total}
-rw-r--r-- 1 user user {size} Mar {day:>2} {hour}:{minute} notes.txt
-rw-r--r-- 1 user user 40 Mar {day:>2} {hour}:07 {name}
$ """


def test_lines_are_found_again_though_all_of_them_have_changed() -> None:
    one = SHELL.format(total=8, size=12, day=5, hour="09", minute="31", name="tmp.aB3xY")
    other = SHELL.format(total=12, size=12, day=17, hour="11", minute="02", name="tmp.q91Zz")
    spans, others = spans_of(one, other)
    assert (
        marked(one, spans)
        == """$ ls -l
total [8]
-rw-r--r-- 1 user user 12 Mar[  5] [09]:[31] notes.txt
-rw-r--r-- 1 user user 40 Mar[  5] [09]:07 tmp.[aB3xY]
$ """
    )
    assert (
        marked(other, others)
        == """$ ls -l
total [12]
-rw-r--r-- 1 user user 12 Mar[ 17] [11]:[02] notes.txt
-rw-r--r-- 1 user user 40 Mar[ 17] [11]:07 tmp.[q91Zz]
$ """
    )


def test_a_line_that_only_one_has_is_volatile_as_a_whole() -> None:
    one, other = "start\nwarning: slow disk\ndone and well\n", "start\ndone and well\n"
    spans, others = spans_of(one, other)
    assert marked(one, spans) == "start\n[warning: slow disk\n]done and well\n"
    assert others == []


LINES = st.lists(st.text("ab 1:\n", max_size=6), max_size=8).map("\n".join)


@given(LINES, LINES)
def test_blocks_are_the_same_in_both_texts_and_in_order(one: str, other: str) -> None:
    blocks = common_blocks(one, other, 10**6)
    assert blocks is not None
    reached = (0, 0)
    for block in blocks:
        assert block.size > 0
        assert (block.first, block.second) >= reached
        assert block.first >= reached[0]
        assert block.second >= reached[1]
        assert one[block.first : block.first + block.size] == other[block.second : block.second + block.size]
        reached = block.first + block.size, block.second + block.size


@given(LINES, st.lists(LINES, max_size=4))
def test_the_volatile_characters_are_all_that_tells_replays_apart(reference: str, others: list[str]) -> None:
    """Without their spans all of them are the same text."""
    spans, *of_others = spans_of(reference, *others, settings=VolatileSettings(max_differing=1.0))
    left = "".join(reference[start:end] for start, end in outside(spans, len(reference)))
    for other, own in zip(others, of_others, strict=True):
        assert "".join(other[start:end] for start, end in outside(own, len(other))) == left


def plainly(reference: str, others: Sequence[str], settings: VolatileSettings) -> list[Spans | Outcome]:
    """What `Differences` finds, with all that any two texts have in common in memory at once."""
    found: list[tuple[list[Block], Spans, Spans] | Outcome] = []
    for other in others:
        blocks = common_blocks(reference, other, settings.max_cells)
        if blocks is None:
            found.append(Outcome.SKIPPED)
            continue
        spans = outside([(block.first, block.first + block.size) for block in blocks], len(reference))
        own = outside([(block.second, block.second + block.size) for block in blocks], len(other))
        sizes = [(sum(end - start for start, end in spans), len(reference))]
        sizes += [(sum(end - start for start, end in own), len(other))]
        has_diverged = any(differing > settings.max_differing * size for differing, size in sizes)
        found.append(Outcome.DIVERGED if has_diverged else (blocks, spans, own))
    everywhere = union(one[1] for one in found if not isinstance(one, Outcome))
    of_others = (one if isinstance(one, Outcome) else union([one[2], shifted(everywhere, one[0])]) for one in found)
    return [everywhere, *of_others]


@given(
    LINES,
    st.lists(LINES, max_size=4),
    st.builds(VolatileSettings, max_differing=st.sampled_from([0.2, 0.5, 1.0]), max_cells=st.sampled_from([5, 10**6])),
)
def test_what_texts_have_in_common_may_wait_elsewhere(
    reference: str, others: list[str], settings: VolatileSettings
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("curation.replays.differences._IN_MEMORY", 50)
        differences = Differences([reference, *others], settings)
        found = [outcome or differences.spans_of(number) for number, outcome in enumerate(differences.outcomes)]
    assert found == plainly(reference, others, settings)


def test_memory_does_not_grow_with_the_number_of_replays() -> None:
    def log(seed: int) -> str:
        rng = random.Random(seed)
        return "".join(f"{rng.randrange(10**8):08d} line {line} of the log\n" for line in range(300))

    def peak(num_replays: int) -> int:
        tracemalloc.start()
        differences = Differences(map(log, range(1 + num_replays)), VolatileSettings())
        assert all(len(differences.spans_of(number)) > 250 for number in range(1 + num_replays))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("curation.replays.differences._IN_MEMORY", 0)
        few, many = peak(3), peak(15)
    assert many - few < 12 * 1000


@given(st.lists(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=5), max_size=3))
def test_spans_are_sets_of_code_points(drawn: list[list[tuple[int, int]]]) -> None:
    several = [union([[(start, start + size)] for start, size in spans]) for spans in drawn]
    points = {point for spans in several for start, end in spans for point in range(start, end)}
    united = union(several)
    assert {point for start, end in united for point in range(start, end)} == points
    assert all(end < start for (_, end), (start, _) in itertools.pairwise(united))
    assert {point for start, end in outside(united, 40) for point in range(start, end)} == set(range(40)) - points
    assert runs(np.isin(np.arange(40), list(points))) == united
    moved = shifted(united, [(3, 103, 10), (15, 120, 4)])
    assert {point for start, end in moved for point in range(start, end)} == {
        point + there - here
        for here, there, size in ((3, 103, 10), (15, 120, 4))
        for point in points
        if here <= point < here + size
    }


def test_texts_that_would_take_too_much_work_are_skipped_and_counted(tmp_path: Path) -> None:
    rng = random.Random(0)
    texts = [" ".join(rng.choices("abcdefgh", k=400)) for _ in range(2)]
    dataset = recorded(tmp_path, replays([texts[0], "at 1:00 or so"], [texts[1], "at 2:00 or so"]))
    summary = find_volatile(dataset, settings=VolatileSettings(max_cells=1000))
    assert (summary.num_skipped, summary.num_diverged) == (1, 0)
    assert found(dataset) == {("t0", 2): "at [1]:00 or so", ("t1", 2): "at [2]:00 or so"}


def test_ten_megabytes_whose_every_line_has_its_time_are_compared_line_by_line() -> None:
    """No step looks at more pairs than there are cells for, so this cannot take quadratic time."""
    one, other = (
        "".join(f"{hour}:{line % 60:02} GET /page{line} {'x' * 500}\n" for line in range(20_000)) for hour in (1, 2)
    )
    assert len(one) > 10**7
    spans, others = spans_of(one, other)
    assert marked(one[:40], spans[:1]).startswith("[1]:00 GET /page0 xx")
    assert len(spans) == len(others) == 20_000


def test_shapes_lose_words_with_digits_and_the_width_of_columns() -> None:
    assert shape("Mar  5 12:31 tmp.aB3 v1.2-rc\tx\n\n") == "Mar 0 0 0 0 x\n\n"
    assert shape("no figures") == "no figures"


def many(num_recordings: int) -> dict[str, Recording]:
    """Recordings of four tasks in two domains and three runs, replays of each other as far as they go."""
    rng = random.Random(7)
    words = ["ok", "done", "ready", "file", "server"]
    scripts = [[(f"do {rng.choice(words)}", " ".join(rng.choices(words, k=6))) for _ in range(6)] for _ in range(4)]
    recordings = {}
    for number in range(num_recordings):
        script = scripts[number % 4]
        texts = [
            (action, f"{text} at {rng.randint(10, 99)}:{rng.randint(10, 99)}" if turn % 2 else text)
            for turn, (action, text) in enumerate(script[: rng.randint(1, 6)])
        ]
        recordings[f"t{number:03d}"] = Recording(
            texts, task=str(number % 4), domain=("terminal", "mcp")[number % 2], run=f"r{number % 3}"
        )
    return recordings


def files_found(dataset: Dataset) -> dict[str, bytes]:
    return files_of(dataset.folder / "curation")


def test_the_bytes_are_the_same_with_one_two_and_four_workers(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, many(24))
    files = []
    for number in (1, 2, 4):
        with LocalCluster(n_workers=number, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
            summary = find_volatile(dataset, workers=Workers(scheduler=cluster.scheduler_address, sizes=SMALL))
        files.append(files_found(dataset))
        shutil.rmtree(open_volatile(dataset).folder)
    assert summary.num_turns_with_spans > 20
    names = ("checksums.json", "manifest.json", "spans.parquet")
    assert sorted(files[0]) == [f"default/volatile/{name}" for name in names]
    assert files[0] == files[1] == files[2]


def test_the_bytes_do_not_depend_on_how_the_turns_are_cut(tmp_path: Path) -> None:
    fine, coarse = recorded(tmp_path / "a", many(24), rows_a_group=1), recorded(tmp_path / "b", many(24))
    find_volatile(fine, workers=Workers(number=1, sizes=SMALL))
    find_volatile(coarse)
    # The manifest says of which turns the table is, and other bytes of a part are other turns to it.
    assert open_volatile(fine).path.read_bytes() == open_volatile(coarse).path.read_bytes()


def test_the_same_search_is_not_done_again_and_another_takes_its_place(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, many(12))
    first = find_volatile(dataset)
    path = open_volatile(dataset).path
    written = path.stat().st_mtime_ns
    assert find_volatile(dataset) == first
    assert path.stat().st_mtime_ns == written
    other = find_volatile(dataset, settings=VolatileSettings(max_differing=0.01))
    assert other.num_diverged > first.num_diverged
    assert other.fingerprint != first.fingerprint
    assert open_volatile(dataset).summary() == other
    assert not open_volatile(dataset).work.exists()


def test_a_search_goes_on_with_the_pieces_it_had_done(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, many(12))
    workers = Workers(number=1, sizes=SMALL)
    expected = find_volatile(dataset, workers=workers)
    bytes_expected = files_found(dataset)
    (open_volatile(dataset).folder / "manifest.json").unlink()
    shutil.rmtree(open_volatile(dataset).folder / ".pieces")
    part = Path(max(dataset.turn_parts()).path)
    whole = part.read_bytes()
    part.write_bytes(whole[:4] + bytes(100) + whole[104:])
    with pytest.raises(DamagedFileError, match="copy it again"):
        find_volatile(dataset, workers=workers)
    kept = kept_of(open_volatile(dataset).folder)
    done = {name: written for name, written in kept.items() if name.endswith(".turns")}
    assert done
    part.write_bytes(whole)
    assert find_volatile(dataset, workers=workers) == expected
    assert done.items() <= kept_of(open_volatile(dataset).folder).items()
    assert files_found(dataset) == bytes_expected


def test_of_a_data_set_that_has_grown_only_what_is_new_is_digested(tmp_path: Path) -> None:
    whole = recorded(tmp_path / "whole", many(12))
    expected = find_volatile(whole)
    dataset = recorded(tmp_path / "grown", many(12))
    aside = tmp_path / "aside"
    for table in ("turns", "trajectories"):
        part = min((dataset.folder / table).rglob("*.parquet"))
        (aside / table).parent.mkdir(exist_ok=True)
        part.rename(aside / table)
        (aside / f"{table}.path").write_text(str(part))
    find_volatile(dataset)
    before = kept_of(open_volatile(dataset).folder)
    for table in ("turns", "trajectories"):
        (aside / table).rename((aside / f"{table}.path").read_text())
    assert find_volatile(dataset) == expected
    assert before.items() < kept_of(open_volatile(dataset).folder).items()
    damaged = next(open_volatile(dataset).folder.rglob("*.headers"))
    damaged.write_bytes(damaged.read_bytes()[:50])
    (open_volatile(dataset).folder / "manifest.json").unlink()
    assert find_volatile(dataset) == expected


def test_a_data_set_without_replays_has_a_table_without_rows(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, {"a": Recording([("ls", "one 1")]), "b": Recording([("cat", "one 2")])})
    summary = find_volatile(dataset)
    assert (summary.num_groups, summary.num_turns_compared, summary.num_turns_with_spans) == (0, 0, 0)
    table = pq.read_table(open_volatile(dataset).path, partitioning=None)
    assert table.num_rows == 0
    assert table.schema.equals(SPANS, check_metadata=True)


def test_nobody_reads_a_table_that_was_not_made(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, {"a": Recording([("ls", "one")])})
    with pytest.raises(InputError, match="run: worldtape curate"):
        open_volatile(dataset).scan()


def test_a_manifest_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, {"a": Recording([("ls", "one")])})
    find_volatile(dataset)
    path = open_volatile(dataset).folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 2}))
    with pytest.raises(InputError, match="newer worldtape"):
        find_volatile(dataset)


def test_the_schema_is_the_golden_one() -> None:
    assert SPANS.to_string(show_schema_metadata=True) + "\n" == GOLDEN.read_text()
