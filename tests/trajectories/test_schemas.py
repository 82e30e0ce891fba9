"""The store's schemas do not change unnoticed, and what version 1 wrote goes on being read."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from trajectories import Dataset, replay
from trajectories.schemas import SCHEMA_VERSION, TRAJECTORIES, TURNS

GOLDEN = Path(__file__).parent / "golden"


def described(schema: pa.Schema) -> dict[str, object]:
    return {
        "metadata": {key.decode(): value.decode() for key, value in schema.metadata.items()},
        "fields": [[field.name, str(field.type), "null" if field.nullable else "not null"] for field in schema],
    }


@pytest.mark.parametrize(("name", "schema"), [("turns", TURNS), ("trajectories", TRAJECTORIES)])
def test_a_schema_is_as_its_golden_file_says(name: str, schema: pa.Schema) -> None:
    golden = json.loads((GOLDEN / f"{name}.v{SCHEMA_VERSION}.json").read_text())
    assert described(schema) == golden, "a changed schema needs a new SCHEMA_VERSION, and its own golden file"


def test_a_data_set_of_version_1_is_read() -> None:
    dataset = Dataset(GOLDEN / "dataset-v1")
    trajectory = dataset.trajectory("golden-1")
    assert trajectory.row["status"] == "completed"
    assert trajectory.row["domain"] == "terminal"
    assert trajectory.turns["action"].to_list() == [
        '[{"keystrokes": "echo 1\\n", "duration": 1.0}]',
        '[{"keystrokes": "echo 2\\n", "duration": 1.0}]',
    ]
    assert trajectory.turns["observation"].to_list() == ["answer 1", "answer 2"]
    assert list(replay(dataset.recording("golden-1"))) == [(0, "$"), (1, "answer 1"), (2, "answer 2")]
    assert dataset.scan_turns().collect().height == 2
