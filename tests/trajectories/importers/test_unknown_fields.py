"""A field that an importer does not know changes no turn, and is counted as what had no place, wherever it stands."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import results, written
from trajectories import Turn
from trajectories.importers import Imported
from trajectories.importers.corpus import Corpus, CorpusSettings, Field
from trajectories.importers.loss import LossReport

_FILES = {"osworld": "traj.jsonl", "swe-agent": "a.traj", "agentworldbench": "os_test.jsonl"}
_ARGUMENTS = {"arguments", "args", "kwargs", "input", "action"}
"""Where calls have their arguments. Those of a call that is no turn are left out with it."""
_WHOLE = _ARGUMENTS | {"tools"}
"""What is taken whole into a turn: arguments, and tools that are the answer to a search of tools."""

_VALUES = st.text(min_size=1) | st.integers() | st.just({"a": [1]}) | st.just([None])
_Path = tuple[str | int, ...]


def _objects(value: object, path: _Path = ()) -> Iterator[_Path]:
    """The path to every object in a value."""
    if isinstance(value, dict):
        yield path
        for name, inner in value.items():
            yield from _objects(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _objects(inner, (*path, index))


def _with_field(rows: list[Any], path: _Path, name: str, value: object) -> list[Any]:
    changed = copy.deepcopy(rows)
    place: Any = changed
    for step in path:
        place = place[step]
    place[name] = value
    return changed


def _read(source_format: str, folder: Path, rows: list[Any]) -> list[Imported]:
    path = written(folder, _FILES.get(source_format, "a.jsonl"), *rows)
    if source_format == "corpus":
        found = list(Corpus(CorpusSettings(field=Field.LAW)).read(path))
    else:
        found = results(source_format, path)
    return [result for result in found if isinstance(result, Imported)]


def _turns(trajectories: list[Imported]) -> list[list[Turn]]:
    return [list(trajectory.turns) for trajectory in trajectories]


def _kept(trajectories: list[Imported]) -> str:
    """All that is kept of trajectories beside their turns, as text."""
    return repr([(found.tools, found.outcome, found.prompt, found.recording_header) for found in trajectories])


def _no_place(trajectories: list[Imported]) -> dict[str, int]:
    total = LossReport()
    for trajectory in trajectories:
        total.add(trajectory.loss)
    return dict(total.no_place)


def _is_of_something_left_out(path: _Path, without: dict[str, int]) -> bool:
    """Whether a place is within a field that is counted as a whole already, or is a call's arguments."""
    return any(step in _ARGUMENTS or any(kind.endswith(f".{step}") for kind in without) for step in path)


@pytest.mark.parametrize("source_format", samples.ROWS)
@settings(max_examples=5, deadline=None)
@given(name=st.from_regex(r"zz[a-z ]{1,9}", fullmatch=True), value=_VALUES)
def test_an_unknown_field_anywhere_changes_no_turn_and_is_counted(
    tmp_path_factory: pytest.TempPathFactory, source_format: str, name: str, value: object
) -> None:
    folder, rows = tmp_path_factory.getbasetemp() / "unknown", samples.ROWS[source_format]
    before = _read(source_format, folder, rows)
    for path in _objects(rows):
        after = _read(source_format, folder, _with_field(rows, path, name, value))
        is_kept = name in _kept(after)
        if _WHOLE.isdisjoint(path):
            assert _turns(after) == _turns(before), path
        elif name in repr(_turns(after)):
            is_kept = True
        if not is_kept and not _is_of_something_left_out(path, _no_place(before)):
            assert _no_place(after) != _no_place(before), path


def test_what_is_no_object_has_no_unknown_fields() -> None:
    loss = LossReport()
    loss.drop_unknown("row", ["a", 1, None, [{"b": 1}]], {"b": {"c": None}})
    assert not loss.as_json()
