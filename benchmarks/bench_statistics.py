"""How fast turns are judged on one core, beside the plain Python definition in the same run.

The texts are real: Python's own library, shown as terminal screens and wrapped in JSON as a tool would return it.
"""

from __future__ import annotations

import json
import random
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.table import Row, Table
from curation.filters import Filters
from curation.judgements import judge_pieces
from curation.pieces import cut
from curation.profile import CurationProfile
from curation.statistics import batch_statistics, turn_statistics
from trajectories import ErrorKind

_NUM_TURNS = 8000
_PLAIN_TURNS = 800
_TURNS_A_ROW_GROUP = 4000
_PASSES = 5
_MEGA = 1e6


def run() -> Table:
    """Measure; takes some ten seconds."""
    turns = sample_turns()
    some = turns.slice(0, _PLAIN_TURNS)
    plain = speed(some, lambda: _plain(some), passes=1)
    batch_statistics(some["action"], some["observation"])  # compiles, or loads what was compiled
    fast = speed(turns, lambda: batch_statistics(turns["action"], turns["observation"]), passes=_PASSES)
    with TemporaryDirectory() as folder:
        part = _write_part(turns, Path(folder))
        judged, filtered = (
            speed(turns, _judging(Path(folder), part, CurationProfile(filters=filters)), passes=_PASSES)
            for filters in (Filters.none(), Filters())
        )
    rows = [
        Row("plain Python definition", (f"{plain:.0f}",), 1.0),
        Row("batch_statistics, from Arrow arrays", (f"{fast:.0f}",), fast / plain, "300 MB/s"),
        Row("from zstd Parquet to sidecar Parquet", (f"{judged:.0f}",), judged / plain, "200 MB/s"),
        Row("the same with every filter of a terminal", (f"{filtered:.0f}",), filtered / plain),
    ]
    return Table("turn statistics, one core", ("MB/s of text",), "plain", rows)


def sample_turns() -> pa.Table:
    """Turns whose actions are commands and whose observations are, by turns, screens and JSON."""
    rng = random.Random(0)
    library = Path(sysconfig.get_path("stdlib"))
    text = "".join(path.read_text(errors="ignore") for path in sorted(library.glob("*.py"))[:150])
    actions, observations = [], []
    for number in range(_NUM_TURNS):
        start = rng.randrange(len(text) - 20_000)
        lines = text[start : start + rng.randrange(200, 20_000)].split("\n")
        keys = f"grep -rn '{lines[0][:30]}' src\n"
        actions.append(json.dumps([{"keystrokes": keys, "duration": 0.1}]))
        if number % 2:
            observations.append("\n".join(["user@box:/srv/app$ " + keys, *(line[:160] for line in lines[:40])]))
        else:
            found = [{"path": f"src/{place}.py", "line": place, "text": line} for place, line in enumerate(lines)]
            observations.append(json.dumps({"ok": True, "matches": found}))
    ids = [f"t{number // 20:06d}" for number in range(_NUM_TURNS)]
    places = pa.array([number % 20 + 1 for number in range(_NUM_TURNS)], pa.int32())
    return pa.table({"trajectory_id": ids, "turn": places, "action": actions, "observation": observations})


def _plain(turns: pa.Table) -> None:
    for action, observation in zip(turns["action"].to_pylist(), turns["observation"].to_pylist(), strict=True):
        turn_statistics(action, observation)


def _write_part(turns: pa.Table, folder: Path) -> str:
    """A part of a data set in which one turn of a hundred is a refused action; returns its path below ``turns``."""
    kinds = [ErrorKind.AGENT.value if number % 100 == 0 else None for number in range(len(turns))]
    turns = turns.append_column("error_kind", pa.array(kinds, pa.string()))
    turns = turns.append_column("truncated", pa.array([False] * len(turns)))
    part = "domain=terminal/run=bench/part-0.parquet"
    for table in ("turns", "trajectories"):
        (folder / table / part).parent.mkdir(parents=True)
    pq.write_table(turns, folder / "turns" / part, compression="zstd", row_group_size=_TURNS_A_ROW_GROUP)
    pq.write_table(turns.select(["trajectory_id"]), folder / "trajectories" / part)
    return part


def _judging(folder: Path, part: str, profile: CurationProfile) -> Callable[[], object]:
    """A run of the curation's own task over a turns part."""
    pieces = cut(folder / "turns", part, piece_bytes=2**40)

    def judge_anew() -> None:
        for piece in pieces:
            (folder / "work" / piece.file_name).unlink(missing_ok=True)
        judge_pieces(folder / "turns", folder / "work", pieces, profile)

    return judge_anew


def speed(turns: pa.Table, work: Callable[[], object], *, passes: int) -> float:
    """Megabytes of text a second of processor time, all threads together; the best of some passes."""
    num_bytes = sum(len(text.encode()) for name in ("action", "observation") for text in turns[name].to_pylist())
    seconds = []
    for _ in range(passes):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return num_bytes / _MEGA / min(seconds)
