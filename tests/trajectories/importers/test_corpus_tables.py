"""Collections as Parquet files, and by the names that the ``datasets`` library knows."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.trajectories.importers.corpus_support import document, documents, problems, results, text, title
from tests.trajectories.importers.import_support import store_rows, written
from trajectories import Dataset, InputError, MissingExtraError
from trajectories.importers import Corpus, CorpusSettings, Field, Imported, UnreadableError, import_trajectories
from trajectories.importers.corpus.hub import HubName

_MEBIBYTE = 2**20
ROWS: list[dict[str, Any]] = [
    {
        "id": 1,
        "title": "Water Act",
        "text": "Water is free.",
        "date": date(1883, 5, 1),
        "metadata": {"license": "CC0-1.0", "pages": 3},
        "embedding": [0.1, 0.2],
    },
    {"id": 2, "title": None, "text": "# Fire Act\nFire is not.", "date": None, "metadata": None, "embedding": None},
]


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path_factory.getbasetemp() / "hf"))


def _parquet(path: Path, rows: list[dict[str, Any]] | pa.Table, **options: Any) -> Path:
    pq.write_table(rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows), path, **options)
    return path


def test_a_row_of_a_parquet_file_is_a_document(tmp_path: Path) -> None:
    water, fire = documents(_parquet(tmp_path / "laws.parquet", ROWS))
    assert (title(water), text(water), water.licence) == ("Water Act", "Water is free.", "CC0-1.0")
    assert water.began == datetime(1883, 5, 1, tzinfo=UTC)
    assert (title(fire), fire.licence, fire.place) == ("Fire Act", "", f"{tmp_path}/laws.parquet:2")
    assert water.loss.no_place == {"row.embedding": 1, "row.metadata.pages": 1}


def test_values_that_json_does_not_have_are_understood(tmp_path: Path) -> None:
    row = {
        "text": b"a text in bytes",
        "created": datetime(2020, 1, 2, 3, tzinfo=UTC),
        "id": Decimal("17.5"),
        "metadata": {"license": [b"MIT"]},
    }
    found = document(_parquet(tmp_path / "a.parquet", [row]))
    assert (text(found), found.source_id, found.licence) == ("a text in bytes", "17.5", "MIT")
    assert found.began == datetime(2020, 1, 2, 3, tzinfo=UTC)


def test_bytes_that_are_no_text_are_a_problem(tmp_path: Path) -> None:
    (problem,) = problems(_parquet(tmp_path / "a.parquet", [{"text": b"\xff"}, {"text": b"a"}]))
    assert (problem.line, "'text' is not UTF-8" in problem.reason) == (1, True)


def test_a_string_that_is_not_utf8_costs_its_row(tmp_path: Path) -> None:
    strings = pa.array([b"one", b"t\xffo", b"three"]).cast(pa.string(), safe=False)
    path = _parquet(tmp_path / "a.parquet", pa.table({"text": strings}))
    (problem,) = problems(path)
    assert (problem.line, "utf-8" in problem.reason) == (2, True)
    assert [text(found) for found in results(path) if isinstance(found, Imported)] == ["one", "three"]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"nonsense" * 100])
def test_a_file_that_is_no_parquet_is_one_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(UnreadableError, match=r"the Parquet file cannot be read.*a\.parquet"):
        results(tmp_path / "a.parquet")


def test_a_parquet_file_without_a_text_says_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"no column of a text, but words.*--text-key"):
        results(_parquet(tmp_path / "a.parquet", [{"words": "A."}]))
    assert text(document(tmp_path / "a.parquet", text_key="words")) == "A."


def test_a_row_group_of_any_size_takes_the_memory_of_some_rows(tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    rows = [{"text": os.urandom(5_000).hex(), "embedding": list(range(100))} for _ in range(10_000)]
    _parquet(path, rows, compression="none", row_group_size=len(rows))
    del rows
    assert pq.read_metadata(path).num_row_groups == 1
    assert path.stat().st_size > 90 * _MEBIBYTE
    before = pa.default_memory_pool()
    measured = pa.proxy_memory_pool(before)
    pa.set_memory_pool(measured)
    try:
        corpus = Corpus(CorpusSettings())
        assert sum(1 for _ in corpus.read(path)) == 10_000
    finally:
        pa.set_memory_pool(before)
    assert 0 < measured.max_memory() < 25 * _MEBIBYTE


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_mutated_parquet_file_never_surprises(tmp_path: Path, data: st.DataObject) -> None:
    path = _parquet(tmp_path / "a.parquet", ROWS)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with suppress(UnreadableError):
        for result in results(path):
            if isinstance(result, Imported):
                store_rows(result)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("datasets:org/name", ("org/name", None, None)),
        ("datasets:org/name/config", ("org/name", "config", None)),
        ("datasets:org/name/config:test", ("org/name", "config", "test")),
        ("datasets:name:validation", ("name", None, "validation")),
    ],
)
def test_a_name_is_of_a_data_set_a_configuration_and_a_split(name: str, expected: tuple[str | None, ...]) -> None:
    assert HubName.parse(name) == expected


@pytest.mark.parametrize("name", ["datasets:", "datasets::train"])
def test_a_name_of_nothing_is_an_error(name: str) -> None:
    with pytest.raises(InputError, match=r"datasets:NAME\[/CONFIG\]\[:SPLIT\]"):
        HubName.parse(name)


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A data set without a script: two splits, told by their names."""
    folder = tmp_path / "gazette"
    folder.mkdir()
    _parquet(folder / "train-0.parquet", ROWS)
    _parquet(folder / "test-0.parquet", ROWS[:1])
    return folder


def test_a_data_set_of_the_datasets_library_is_streamed_into_a_run(collection: Path, tmp_path: Path) -> None:
    corpus = Corpus(CorpusSettings(field=Field.LAW))
    name = f"datasets:{collection}"
    report = import_trajectories(Dataset(tmp_path / "data"), "corpus", [name], importer=corpus, licence="MIT")
    assert (report.num_trajectories, report.num_problems) == (2, 0)
    rows = Dataset(tmp_path / "data").scan_trajectories().collect()
    assert sorted(rows["source"]) == [f"{name}:1", f"{name}:2"]
    assert set(rows["split_group"]) == {str(collection)}
    again = import_trajectories(Dataset(tmp_path / "data"), "corpus", [f"{name}:train"], importer=corpus, licence="MIT")
    assert (again.num_trajectories, again.num_present) == (0, 2)


def test_a_split_can_be_named(collection: Path) -> None:
    assert len(documents(Path(f"datasets:{collection}:test"))) == 1
    with pytest.raises(InputError, match=r"there is no split 'dev'.*there are: test, train|train, test"):
        results(Path(f"datasets:{collection}:dev"))


def test_a_data_set_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError) as failure:
        results(Path(f"datasets:{tmp_path}/none"))
    assert "\n" not in str(failure.value)


def test_rows_of_a_data_set_that_are_no_documents_are_problems(tmp_path: Path) -> None:
    written(tmp_path / "laws", "train.jsonl", {"text": "A.", "page": 1})
    name = f"datasets:{tmp_path}/laws"
    (problem,) = problems(Path(name), text_key="page")
    assert (problem.file, problem.line) == (name, 1)
    assert "not a string" in problem.reason


def test_without_the_library_a_name_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"worldtape\[corpora\]"):
        results(Path("datasets:org/name"))
