"""The table of findings: what stands where, no value, the same bytes however the search was made."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation import JobSizes
from curation.passes import Workers
from curation.secrets import find, find_secrets, open_secrets
from curation.secrets.table import FINDINGS
from tests.curation.recordings import a_header, cut_row_groups, files_of, record, record_turns, turn
from trajectories import Dataset, InputError, SystemPrompt, compact

GOLDEN = Path(__file__).parent.parent / "golden" / "secrets.txt"
SMALL = JobSizes(task_bytes=500, in_process_bytes=0)
ADDRESS = "jane.doe" + "@" + "acme-industries.com"
KEY = "AKIA" + "QYLPMN5HHHFPZAM2"
"""Both are put together here, so that nobody takes this file for a leak."""


def recorded(folder: Path) -> Dataset:
    dataset = Dataset(folder)
    record_turns(
        dataset,
        a_header("a", prompt=SystemPrompt(initial_state=f"mail for {ADDRESS}")),
        [turn("cat key", f"the key is {KEY}"), turn("ls", "nothing here")],
    )
    record(dataset, "b", [("mail", f"to {ADDRESS}, and {ADDRESS}")] * 3, domain="mcp")
    record(dataset, "c", [("ls", "nothing at all")] * 20)
    compact(dataset, "r1")
    cut_row_groups(dataset, 3)
    return dataset


def test_every_finding_has_a_row_that_says_where_it_stands(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data")
    summary = find_secrets(dataset)
    rows = open_secrets(dataset).scan().sort("domain", "trajectory_id", "turn", "start").collect().to_dicts()
    places = [(row["trajectory_id"], row["turn"], row["field"], row["kind"]) for row in rows]
    assert places == [
        *(("b", number, "observation", "email") for number in (1, 1, 2, 2, 3, 3)),
        ("a", 0, "initial_state", "email"),
        ("a", 1, "observation", "aws-key"),
    ]
    assert rows[-1]["start"] == len("the key is ")
    assert rows[-1]["end"] == rows[-1]["start"] + len(KEY)
    (expected,) = find(f"the key is {KEY}")
    assert rows[-1]["rule"] == expected.rule
    assert (summary.num_findings, summary.num_turns, summary.num_trajectories) == (8, 4, 2)
    email = summary.kinds["email"]
    assert summary.num_before_turns == email.num_before_turns == 1
    assert summary.kinds["aws-key"].num_before_turns == 0
    assert (email.num_findings, email.num_turns, email.num_trajectories) == (7, 3, 2)
    assert email.by_domain == {"mcp": 6, "terminal": 1}
    assert summary.num_texts == 25 * 2 + 3 * 6


def test_no_value_is_in_any_file(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data")
    find_secrets(dataset)
    for name in open_secrets(dataset).parts():
        table = pq.read_table(open_secrets(dataset).folder / name, partitioning=None)
        assert table.schema.remove_metadata().equals(FINDINGS.remove_metadata())
        assert KEY not in str(table.to_pylist())
        assert ADDRESS not in str(table.to_pylist())
    manifest = (open_secrets(dataset).folder / "manifest.json").read_text()
    assert KEY not in manifest
    assert ADDRESS not in manifest


def test_the_bytes_do_not_depend_on_workers_or_how_the_work_is_cut(tmp_path: Path) -> None:
    found = []
    for name, workers in (("one", Workers(number=1)), ("two", Workers(number=2, sizes=SMALL))):
        dataset = recorded(tmp_path / name)
        find_secrets(dataset, workers=workers)
        found.append(files_of(dataset.folder / "curation"))
    assert found[0] == found[1]
    assert len(found[0]) == 4


def test_of_a_data_set_that_has_grown_the_new_parts_are_searched_alone(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data")
    first = find_secrets(dataset)
    folder = open_secrets(dataset).folder
    before = {part: (folder / part).stat().st_mtime_ns for part in open_secrets(dataset).parts()}
    assert find_secrets(dataset) == first
    record(dataset, "d", [("mail", f"to {ADDRESS}")], run="r2")
    compact(dataset, "r2")
    second = find_secrets(dataset)
    assert second.num_findings == first.num_findings + 1
    assert {part: (folder / part).stat().st_mtime_ns for part in before} == before
    shutil.rmtree(dataset.folder / "turns/domain=terminal/run=r2")
    shutil.rmtree(dataset.folder / "trajectories/domain=terminal/run=r2")
    assert find_secrets(dataset) == first


SEARCH = """
import sys
from curation import JobSizes
from curation.passes import Workers
from curation.secrets import find_secrets
from trajectories import Dataset
find_secrets(Dataset(sys.argv[1]), workers=Workers(number=1, sizes=JobSizes(task_bytes=1)))
"""


def test_a_search_that_was_killed_goes_on_with_what_it_had_done(tmp_path: Path) -> None:
    dataset, twin = recorded(tmp_path / "one"), recorded(tmp_path / "other")
    find_secrets(twin)
    with subprocess.Popen([sys.executable, "-c", SEARCH, dataset.url]) as job:
        until(lambda: any(open_secrets(dataset).work.rglob("*.parquet.*")) or job.poll() is not None)
        job.send_signal(signal.SIGKILL)
    find_secrets(dataset)
    assert files_of(dataset.folder / "curation") == files_of(twin.folder / "curation")


def test_a_damaged_part_that_a_killed_search_has_left_is_made_again(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data")
    find_secrets(dataset)
    folder = open_secrets(dataset).folder
    whole = files_of(folder)
    for written_last in ("checksums.json", "manifest.json"):
        (folder / written_last).unlink()
    part = folder / open_secrets(dataset).parts()[0]
    content = bytearray(part.read_bytes())
    content[len(content) // 3] ^= 1
    part.write_bytes(content)
    find_secrets(dataset)
    assert files_of(folder) == whole


def until(event: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not event():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def put(dataset: Dataset, observations: pa.Array) -> None:
    """Give the turns of the one trajectory from the ``mcp`` domain other observations."""
    part = next(part.path for part in dataset.turn_parts() if part.domain == "mcp")
    table = pq.read_table(part, partitioning=None)
    place = table.schema.get_field_index("observation")
    table = table.set_column(place, pa.field("observation", pa.string()), observations)
    pq.write_table(table, part, use_dictionary=False)


def test_what_is_missing_or_not_utf_8_is_no_obstacle(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data")
    texts = [None, f"\xff {ADDRESS} \0".encode("latin-1"), b"\0" * 1000]
    put(dataset, pa.array(texts, pa.binary()).view(pa.string()))
    find_secrets(dataset)
    (row,) = open_secrets(dataset).scan().filter(domain="mcp").collect().to_dicts()
    assert (row["turn"], row["kind"], row["start"]) == (2, "email", 2)


def test_an_observation_of_200_megabytes_is_searched_to_its_end(tmp_path: Path) -> None:
    dataset = recorded(tmp_path / "data")
    line = "drwxr-xr-x 2 root root 4096 Nov 30 12:00 some folder\n"
    before = line * (200_000_000 // len(line))
    put(dataset, pa.array(["", before + ADDRESS, None], pa.string()))
    find_secrets(dataset)
    (row,) = open_secrets(dataset).scan().filter(domain="mcp").collect().to_dicts()
    assert (row["start"], row["end"]) == (len(before), len(before) + len(ADDRESS))


def test_nobody_reads_a_table_that_was_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run: worldtape curate"):
        open_secrets(recorded(tmp_path / "data")).scan()


def test_the_schema_is_the_golden_one() -> None:
    assert f"{FINDINGS.to_string(show_schema_metadata=True)}\n" == GOLDEN.read_text()
