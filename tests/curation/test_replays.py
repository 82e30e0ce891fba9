"""Volatile spans are what a replay has otherwise, in each recording's own text, whoever looks and in whatever order."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster

from curation import JobSizes
from curation.passes import Workers
from curation.replays import VolatileSettings, find_volatile, open_volatile
from curation.replays.table import SPANS
from tests.curation.recordings import DAWN, Texts, a_header, cut_row_groups, files_of, kept_of, record_turns, turn
from tests.curation.replay_support import marked
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


def test_texts_that_would_take_too_much_work_are_skipped_and_counted(tmp_path: Path) -> None:
    rng = random.Random(0)
    texts = [" ".join(rng.choices("abcdefgh", k=400)) for _ in range(2)]
    dataset = recorded(tmp_path, replays([texts[0], "at 1:00 or so"], [texts[1], "at 2:00 or so"]))
    summary = find_volatile(dataset, settings=VolatileSettings(max_cells=1000))
    assert (summary.num_skipped, summary.num_diverged) == (1, 0)
    assert found(dataset) == {("t0", 2): "at [1]:00 or so", ("t1", 2): "at [2]:00 or so"}


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
