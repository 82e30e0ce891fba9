"""Whatever a file holds: a reader gives trajectories that the store takes, problems, or the one error."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.trajectories.importers.import_support import store_rows
from tests.trajectories.importers.samples import ROWS, Json
from trajectories.importers import Imported, UnreadableError, open_importer

_NAMES = {"openhands": "a.jsonl", "osworld": "traj.jsonl", "agentworldbench": "os_test.jsonl", "swe-agent": "a.traj"}
_ODD: st.SearchStrategy[Json] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        2**70,
        1e308,
        "",
        "\ud800",
        "\x00",
        "x" * 300,
        [],
        {},
        [[]],
        [None],
        {"": {}},
        "NaN",
        "2026-01-01",
    ]
)
_FUZZ = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def _read(source_format: str, path: Path) -> None:
    with suppress(UnreadableError):
        for result in open_importer(source_format).read(path):
            if isinstance(result, Imported):
                store_rows(result)


@st.composite
def _mutated(draw: st.DrawFn, value: Json) -> Json:
    """The value with one of its parts replaced, removed or repeated."""
    if isinstance(value, dict | list) and value and draw(st.integers(0, 9)):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = draw(st.sampled_from(keys))
        copy = value.copy()
        change = draw(st.sampled_from(["inside", "inside", "inside", "remove", "repeat"]))
        if change == "inside":
            copy[key] = draw(_mutated(value[key]))
        elif change == "remove":
            del copy[key]
        elif isinstance(copy, list):
            copy.insert(key, copy[key])
        return copy
    return draw(_ODD)


@pytest.mark.parametrize("source_format", ROWS)
@_FUZZ
@given(data=st.data())
def test_a_mutated_source_never_surprises(tmp_path: Path, source_format: str, data: st.DataObject) -> None:
    rows = ROWS[source_format]
    for _ in range(data.draw(st.integers(1, 3))):
        rows = data.draw(_mutated(rows))
    lines = rows if isinstance(rows, list) else [rows]
    path = tmp_path / _NAMES.get(source_format, "a.jsonl")
    path.write_text("\n".join(json.dumps(line) for line in lines))
    _read(source_format, path)


@pytest.mark.parametrize("source_format", ROWS)
@settings(_FUZZ, max_examples=20)
@given(data=st.data())
def test_a_source_that_was_cut_or_scrambled_never_surprises(
    tmp_path: Path, source_format: str, data: st.DataObject
) -> None:
    indent = data.draw(st.sampled_from([None, 1]))
    whole = "\n".join(json.dumps(row, indent=indent) for row in ROWS[source_format]).encode()
    at = data.draw(st.integers(0, len(whole)))
    path = tmp_path / _NAMES.get(source_format, "a.jsonl")
    path.write_bytes(
        whole[:at] + data.draw(st.binary(max_size=4)) + whole[at + data.draw(st.integers(0, len(whole))) :]
    )
    _read(source_format, path)


@pytest.mark.parametrize("source_format", ROWS)
@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 100_000, b"[1,", b"1" * 5000, b"[]", b"{}", b"null"],
    ids=["empty", "blank", "no-utf8", "deep-list", "deep-object", "cut", "long-number", "no-rows", "no-fields", "null"],
)
def test_a_file_of_nonsense_never_surprises(tmp_path: Path, source_format: str, content: bytes) -> None:
    path = tmp_path / _NAMES.get(source_format, "a.jsonl")
    path.write_bytes(content)
    _read(source_format, path)
