"""How fast, and in how much memory, a large data set is curated, beside datatrove filtering some of the same rows.

The data set is synthetic from real texts: every turn is another stretch of Python's own library, shown as a terminal
screen or wrapped in JSON as a tool would return it. It has 10 GB of text; ``WORLDTAPE_BENCH_GB`` makes it smaller. It
is written to the folder for temporary files, and removed at the end.
"""

from __future__ import annotations

import json
import os
import random
import sysconfig
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from datatrove.data import Document
from datatrove.pipeline.filters import GopherQualityFilter

from benchmarks.datatrove_words import Blanks
from benchmarks.table import Row, Table
from curation import CurationProfile, Filters, JobSizes, Searches, curate
from curation.spread import own_cluster
from trajectories import Dataset
from trajectories.schemas import TRAJECTORIES, TURNS

_MEGA = 1e6
_PART_BYTES = 256 * 10**6
_GROUP_BYTES = 64 * 2**20
_WARMING_BYTES = 16 * 10**6
_TURNS_A_TRAJECTORY = 20
_PEER_BYTES = 20 * 10**6
_SAMPLE_EVERY_S = 0.25
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_NOTHING = {pa.string(): "", pa.bool_(): False}


class Measured(NamedTuple):
    """One curation: wall-clock seconds, and the most memory that one of its processes, or all together, had in use.

    Files that are mapped into memory do not count: the kernel takes their pages back when it needs them.
    """

    seconds: float
    largest_process: int
    all_processes: int


def run() -> Table:
    """Measure; takes some ten minutes for 10 GB on two cores."""
    num_bytes = int(float(os.environ.get("WORLDTAPE_BENCH_GB", "10")) * 1e9)
    statistics = CurationProfile(searches=Searches(secrets=False, duplicates=False))
    with TemporaryDirectory() as folder:
        dataset = Dataset(folder)
        written = _write(dataset, num_bytes)
        peer = _datatrove(dataset)
        curate(dataset, name="compiles", profile=statistics, workers=1, sizes=JobSizes(in_process_bytes=2**60))
        alone = _curated(dataset, "alone", statistics, in_process=True)
        one = _on_cluster(dataset, "one", statistics, workers=1)
        two = _on_cluster(dataset, "two", statistics, workers=2)
        plain = CurationProfile(searches=Searches(secrets=False, duplicates=False), filters=Filters.none())
        unfiltered = _on_cluster(dataset, "unfiltered", plain, workers=2)
        started = _curated(dataset, "started", statistics)
        everything = _curated(dataset, "everything", CurationProfile())

    def row(what: str, found: Measured, target: str = "") -> Row:
        rate = written / _MEGA / found.seconds
        memory = (f"{found.largest_process / _MEGA:.0f}", f"{found.all_processes / _MEGA:.0f}")
        return Row(what, (f"{rate:.0f}", *memory), rate / peer, target)

    overhead = one.seconds / alone.seconds - 1
    scaling = one.seconds / two.seconds / 2
    rows = [
        Row("datatrove: Gopher's quality filter, one process", (f"{peer:.1f}", "", ""), 1.0),
        row("statistics and filters, in this process", alone),
        row(f"the same, one Dask worker ({overhead:+.1%} of the time)", one, "+5 %"),
        row(f"the same, two Dask workers ({scaling:.0%} of linear)", two, "85 %"),
        row("statistics without filters, two Dask workers", unfiltered),
        row("statistics and filters, two workers started for it", started),
        row("everything: also secrets and duplicates, started for it", everything),
    ]
    title = f"curation of {written / 1e9:.1f} GB, from zstd Parquet in row groups of {_GROUP_BYTES >> 20} MiB"
    return Table(title, ("MB/s of text", "MB in a process", "MB in all"), "datatrove", rows)


def _curated(
    dataset: Dataset,
    name: str,
    profile: CurationProfile,
    *,
    in_process: bool = False,
    scheduler: str | None = None,
    task_bytes: int = JobSizes().task_bytes,
) -> Measured:
    """In this process, on a cluster that runs, or else with two workers that are started for it."""
    sizes = JobSizes(task_bytes=task_bytes, in_process_bytes=2**60 if in_process else 0)
    workers = 1 if in_process else 2
    with _memory_watched() as peaks:
        start = time.perf_counter()
        curate(dataset, name=name, profile=profile, workers=workers, scheduler=scheduler, sizes=sizes)
        seconds = time.perf_counter() - start
    return Measured(seconds, *peaks)


def _on_cluster(dataset: Dataset, name: str, profile: CurationProfile, *, workers: int) -> Measured:
    """On a cluster of so many workers, which have curated before."""
    with (
        own_cluster(workers) as cluster,
        TemporaryDirectory() as folder,
    ):
        some = Dataset(folder)
        _write(some, _WARMING_BYTES, group_bytes=_WARMING_BYTES // 16)
        _curated(some, "warm", profile, scheduler=cluster.scheduler_address, task_bytes=1)
        return _curated(dataset, name, profile, scheduler=cluster.scheduler_address)


@contextmanager
def _memory_watched() -> Iterator[list[int]]:
    """The most memory in use by one process of ours, and by all of them, while the block ran."""
    peaks = [0, 0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_SAMPLE_EVERY_S):
            sizes = [_in_use(process) for process in (us, *us.children(recursive=True))]
            peaks[0], peaks[1] = max(peaks[0], *sizes), max(peaks[1], sum(sizes))

    us = psutil.Process()
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        ended.set()
        thread.join()


def _in_use(process: psutil.Process) -> int:
    try:
        memory = process.memory_info()
        return int(memory.rss - memory.shared)
    except psutil.NoSuchProcess:
        return 0


def _write(dataset: Dataset, num_bytes: int, *, group_bytes: int = _GROUP_BYTES) -> int:
    """Write a data set of about so much text; returns how much it is."""
    library = Path(sysconfig.get_path("stdlib"))
    text = "".join(path.read_text(errors="ignore") for path in sorted(library.rglob("*.py"))[:1500])
    rng = random.Random(0)
    written = 0
    for number in range(-(-num_bytes // _PART_BYTES)):
        written += _write_part(dataset, number, text, rng, min(_PART_BYTES, num_bytes - written), group_bytes)
    return written


def _write_part(dataset: Dataset, number: int, text: str, rng: random.Random, num_bytes: int, group_bytes: int) -> int:
    place = Path(f"domain=terminal/run=bench/part-{number:016x}.parquet")
    turns, trajectories = (dataset.folder / table / place for table in ("turns", "trajectories"))
    for path in (turns, trajectories):
        path.parent.mkdir(parents=True, exist_ok=True)
    written, num_turns = 0, 0
    ids: list[str] = []
    with pq.ParquetWriter(turns, TURNS, compression="zstd") as writer:
        while written < num_bytes:
            group, size = _turns(text, rng, number, num_turns, min(group_bytes, num_bytes - written))
            writer.write_table(group, row_group_size=len(group))
            ids += group["trajectory_id"].to_pylist()
            num_turns += len(group)
            written += size
    names = sorted({*ids})
    counts = Counter(ids)
    columns: dict[str, list[str] | list[int]] = {
        "trajectory_id": names,
        "num_turns": [counts[name] for name in names],
        "status": ["completed"] * len(names),
    }
    pq.write_table(_whole(TRAJECTORIES, columns), trajectories)
    return written


def _turns(text: str, rng: random.Random, part: int, first: int, num_bytes: int) -> tuple[pa.Table, int]:
    """A row group of turns from the ``first`` of their part on, and the bytes of its texts."""
    ids: list[str] = []
    places: list[int] = []
    actions: list[str] = []
    observations: list[str] = []
    size = 0
    while size < num_bytes:
        number = first + len(ids)
        start = rng.randrange(len(text) - 20_000)
        lines = text[start : start + rng.randrange(200, 20_000)].split("\n")
        keys = f"grep -rn '{lines[0][:30]}' src\n"
        if number % 2:
            observation = "\n".join(["user@box:/srv/app$ " + keys, *(line[:160] for line in lines[:40])])
        else:
            found = [{"path": f"src/{place}.py", "line": place, "text": line} for place, line in enumerate(lines)]
            observation = json.dumps({"ok": True, "matches": found})
        ids.append(f"terminal-{part:06d}-{number // _TURNS_A_TRAJECTORY:08d}")
        places.append(number % _TURNS_A_TRAJECTORY + 1)
        actions.append(json.dumps([{"keystrokes": keys, "duration": 0.1}]))
        observations.append(observation)
        size += len(actions[-1].encode()) + len(observation.encode())
    columns: dict[str, list[str] | list[int]] = {
        "trajectory_id": ids,
        "turn": places,
        "action": actions,
        "observation": observations,
    }
    return _whole(TURNS, columns), size


def _whole(schema: pa.Schema, columns: dict[str, list[str] | list[int]]) -> pa.Table:
    """A table of a schema of the store, of which only some columns say anything."""
    size = len(columns["trajectory_id"])

    def column(field: pa.Field) -> pa.Array:
        if field.name in columns:
            return pa.array(columns[field.name], field.type)
        if field.nullable:
            return pa.nulls(size, field.type)
        value = _BEGAN if pa.types.is_timestamp(field.type) else _NOTHING.get(field.type, 0)
        return pa.repeat(pa.scalar(value, field.type), size)

    return pa.table([column(field) for field in schema], schema=schema)


def _datatrove(dataset: Dataset) -> float:
    """Megabytes a second at which its quality filter reads texts: the nearest it has to statistics and filters."""
    with pq.ParquetFile(dataset.turn_parts()[0].path) as part:
        texts = part.read_row_group(0, columns=["observation"])["observation"].to_pylist()
    some: list[Document] = []
    num_bytes = 0
    for number, text in enumerate(texts):
        if num_bytes >= _PEER_BYTES:
            break
        some.append(Document(text=text, id=str(number)))
        num_bytes += len(text.encode())
    quality = GopherQualityFilter(language=Blanks())
    return num_bytes / _MEGA / _seconds(lambda: [quality.filter(document) for document in some])


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
