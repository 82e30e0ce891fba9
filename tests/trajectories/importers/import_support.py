"""Sources to import, made here, and what was made of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from trajectories.importers import Imported, NoTrajectory, Problem, open_importer
from trajectories.rows import end_row, start_row, turn_row
from trajectories.schemas import TRAJECTORIES, TURNS

_ROOT = Path(__file__).parents[3]
CASES = Path(os.environ.get("WORLDTAPE_CASES", _ROOT / ".." / "shared" / "cases")) / "import"


def case(name: str) -> Path:
    """A recording of another project; the test is skipped where they are not at hand."""
    path = CASES / name
    if not path.exists():
        pytest.skip("the recordings of other projects are not here")
    return path


def written(folder: Path, name: str, *rows: object) -> Path:
    """A file with one JSON value a line; a string is a line as it is."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def results(source_format: str, path: Path) -> list[Imported | Problem | NoTrajectory]:
    importer = open_importer(source_format)
    sources = importer.sources(path) if path.is_dir() else [path]
    return [result for source in sources for result in importer.read(source)]


def imported(source_format: str, path: Path) -> list[Imported]:
    """The trajectories of sources without a problem."""
    found = results(source_format, path)
    assert not [result for result in found if isinstance(result, Problem)]
    return [result for result in found if isinstance(result, Imported)]


def only(source_format: str, path: Path) -> Imported:
    (trajectory,) = imported(source_format, path)
    return trajectory


def actions(trajectory: Imported) -> list[str]:
    return [turn.action.text for turn in trajectory.turns]


def answers(trajectory: Imported) -> list[str]:
    return [turn.observation.text for turn in trajectory.turns]


def first_line(text: str) -> str:
    return text.split("\n", 1)[0]


def store_rows(trajectory: Imported) -> None:
    """Make the rows of a trajectory as the store holds them; fails where a column would not take a value."""
    header = trajectory.header("test", "run", "")
    row = start_row(header, trajectory.initial) | end_row(trajectory.ending())
    row |= {"num_turns": len(trajectory.turns), "redactions_json": "{}"}
    pa.RecordBatch.from_pylist([row], schema=TRAJECTORIES).validate(full=True)
    turns = [turn_row(header.trajectory_id, turn, None) for turn in trajectory.turns]
    pa.RecordBatch.from_pylist(turns, schema=TURNS).validate(full=True)
