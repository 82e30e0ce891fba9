"""Rows of a collection as documents: what stands in which column, whose licence counts, what is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trajectories.importers import samples
from tests.trajectories.importers.corpus_support import document, documents, problems, skipped, text, title
from tests.trajectories.importers.import_support import store_rows, written
from trajectories import Dataset
from trajectories.importers import Corpus, CorpusSettings, Field, ImportReport, UnreadableError, import_trajectories
from trajectories.importers.base import NO_TIME
from trajectories.importers.corpus.documents import as_date


def _import(data: Path, *paths: Path, licence: str = "CC-BY-4.0", strict: bool = False) -> ImportReport:
    corpus = Corpus(CorpusSettings(field=Field.LAW))
    return import_trajectories(Dataset(data), "corpus", paths, importer=corpus, licence=licence, strict=strict)


def _row(folder: Path, row: object, **settings: Any) -> Any:
    return document(written(folder, "laws.jsonl", row), **settings)


def test_a_document_is_a_trajectory_of_one_turn(tmp_path: Path) -> None:
    _import(tmp_path / "data", written(tmp_path, "laws.jsonl", *samples.LAWS))
    data = Dataset(tmp_path / "data")
    rows = {row["task_id"]: row for row in data.scan_trajectories().collect().to_dicts()}
    assert {row["domain"] for row in rows.values()} == {"corpus-law"}
    assert {row["num_turns"] for row in rows.values()} == {1}
    water = rows["7"]
    assert (water["licence"], water["source"], water["split_group"]) == (
        "CC0-1.0",
        "https://laws.example/water",
        "laws.example",
    )
    assert water["started_at"] == datetime(1883, 5, 1, tzinfo=UTC)
    (turn,) = data.trajectory(water["trajectory_id"]).turns.to_dicts()
    assert turn["action"] == '{"name": "read_document", "arguments": {"title": "Water Act"}}'
    assert turn["observation"] == "1. Water is free.\n2. Wells are not."
    assert (turn["renderer"], turn["bytes_total"]) == ("corpus-text@1", 35)
    assert "about law" in water["task_description"]
    assert "read_document" in water["action_space"]


def test_every_document_is_a_task_of_its_own(tmp_path: Path) -> None:
    """Also where two have one title, so that none is taken for another attempt at the same."""
    _import(tmp_path / "data", written(tmp_path, "laws.jsonl", *({"title": "Act", "text": f"Law {n}"} for n in "abc")))
    rows = Dataset(tmp_path / "data").scan_trajectories().collect()
    assert rows["task_id"].n_unique() == rows["task_sha256"].n_unique() == 3


def test_an_import_again_adds_nothing_and_the_bytes_are_the_same(tmp_path: Path) -> None:
    path = written(tmp_path, "laws.jsonl", *samples.LAWS)
    for name in ("one", "two"):
        assert _import(tmp_path / name, path).num_trajectories == 3
    again = _import(tmp_path / "one", path)
    assert (again.num_trajectories, again.num_present) == (0, 3)
    one, two = ({str(p.relative_to(d)): p.read_bytes() for p in d.rglob("*.parquet")} for d in _both(tmp_path))
    assert one == two


def _both(folder: Path) -> list[Path]:
    return [folder / "one", folder / "two"]


@pytest.mark.parametrize(
    ("row", "licence"),
    [
        ({"licence": "MIT"}, "MIT"),
        ({"license": "MIT"}, "MIT"),
        ({"LICENSE": " MIT "}, "MIT"),
        ({"metadata": {"license": "MIT"}}, "MIT"),
        ({"meta": '{"licence": "MIT"}'}, "MIT"),
        ({"license": ["MIT", "CC0-1.0"]}, "MIT, CC0-1.0"),
        ({"license": "unknown"}, "CC-BY-4.0"),
        ({"license": None}, "CC-BY-4.0"),
        ({}, "CC-BY-4.0"),
    ],
)
def test_the_licence_of_a_row_counts_before_that_of_the_import(
    row: dict[str, object], licence: str, tmp_path: Path
) -> None:
    assert _row(tmp_path, {"text": "A law.", **row}).header("corpus", "run", "CC-BY-4.0").licence == licence


def test_a_row_without_any_licence_is_a_problem_and_the_others_are_imported(tmp_path: Path) -> None:
    path = written(tmp_path, "laws.jsonl", {"text": "Whose?"}, {"text": "Ours.", "license": "MIT"})
    report = _import(tmp_path / "data", path, licence="")
    assert (report.num_trajectories, report.num_problems) == (1, 1)
    assert (report.problems[0].file, report.problems[0].line) == (str(path), 1)
    assert report.problems[0].reason.startswith("neither it nor the import names a licence")
    with pytest.raises(UnreadableError, match="licence"):
        _import(tmp_path / "strict", path, licence="", strict=True)


@pytest.mark.parametrize(
    ("row", "settings", "source", "group"),
    [
        ({"url": "https://a.example/x?y=1"}, {}, "https://a.example/x?y=1", "a.example"),
        ({"source": "gazette"}, {}, "gazette", "gazette"),
        ({"source": "gazette", "url": "https://a.example/x"}, {}, "https://a.example/x", "gazette"),
        ({"metadata": {"source": "gazette"}}, {}, "gazette", "gazette"),
        ({"source": "gazette"}, {"source": "all-laws"}, "gazette", "all-laws"),
        ({}, {"source": "all-laws"}, "all-laws: {place}", "all-laws"),
        ({}, {}, "{place}", "laws"),
        ({"origin": "gazette"}, {"source_key": "origin"}, "gazette", "gazette"),
        ({"url": "https://[broken"}, {}, "https://[broken", "laws"),
    ],
)
def test_a_document_names_its_source_and_is_grouped_by_its_collection(
    row: dict[str, object], settings: dict[str, str], source: str, group: str, tmp_path: Path
) -> None:
    found = _row(tmp_path, {"text": "A law.", **row}, **settings)
    header = found.header("corpus", "run", "")
    assert header.source == source.format(place=found.place)
    assert header.split_group == group


def test_the_documents_of_a_folder_are_one_collection(tmp_path: Path) -> None:
    for name in ("in/a.jsonl", "b.jsonl"):
        written(tmp_path / "gazette", name, {"text": name})
    assert {found.split_group for found in documents(tmp_path / "gazette")} == {"gazette"}


@pytest.mark.parametrize(
    "order", [("gazette", "gazette/a.jsonl", "b.jsonl"), ("b.jsonl", "gazette", "gazette/a.jsonl")]
)
def test_a_collection_is_the_same_whatever_was_imported_before(order: tuple[str, ...], tmp_path: Path) -> None:
    groups = {"gazette": "gazette", "gazette/a.jsonl": "a", "b.jsonl": "b"}
    for name in ("gazette/a.jsonl", "b.jsonl"):
        written(tmp_path, name, {"text": f"Law {name}."})
    for name in order:
        data = tmp_path / f"data of {groups[name]}"
        import_trajectories(Dataset(data), "corpus", [tmp_path / name], licence="CC0-1.0")
        assert set(Dataset(data).scan_trajectories().collect()["split_group"]) == {groups[name]}
    _import(tmp_path / "data of all", *(tmp_path / name for name in order))
    rows = Dataset(tmp_path / "data of all").scan_trajectories().collect()
    assert set(rows["split_group"]) == {"gazette", "b"}, "a document belongs to what was named first"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"title": " The\n Act "}, "The Act"),
        ({"headline": "The Act"}, "The Act"),
        ({"metadata": {"title": "The Act"}}, "The Act"),
        ({"text": "# The Act\n\nOne."}, "The Act"),
        ({"id": 17}, "17"),
        ({"url": "https://a.example/act"}, "https://a.example/act"),
        ({"source": "gazette"}, "gazette, document 1"),
        ({}, "laws, document 1"),
    ],
)
def test_the_request_names_a_title(row: dict[str, object], expected: str, tmp_path: Path) -> None:
    found = _row(tmp_path, {"text": "A law.", **row})
    assert title(found) == expected
    is_told = "title" in str(row) or "headline" in row or "text" in row
    assert found.loss.inferred["title of the document"] == int(not is_told)


@pytest.mark.parametrize("name", ["text", "content", "body", "document", "article", "raw_content", "Text"])
def test_the_usual_names_of_the_text_are_known(name: str, tmp_path: Path) -> None:
    assert text(_row(tmp_path, {name: "A law."})) == "A law."


def test_columns_of_other_names_can_be_named(tmp_path: Path) -> None:
    row = {"t": "Act", "info": {"words": "A law.", "when": "2001-02-03", "nr": 5, "terms": "MIT", "more": 1}}
    keys = {"text": "info.words", "title": "t", "id": "info.nr", "date": "info.when", "licence": "info.terms"}
    found = _row(tmp_path, row, **{f"{role}_key": key for role, key in keys.items()})
    assert (title(found), text(found), found.source_id, found.licence) == ("Act", "A law.", "5", "MIT")
    assert found.began == datetime(2001, 2, 3, tzinfo=UTC)
    assert found.loss.no_place == {"row.info.more": 1}


def test_what_had_no_place_and_what_was_decided_is_told(tmp_path: Path) -> None:
    row = {"text": "A law.", "court": "x", "empty": "", "date": "soon", "id": [1], "metadata": {"page": 3}}
    found = _row(tmp_path, row)
    assert found.loss.no_place == {
        "row.court": 1,
        "row.metadata.page": 1,
        "row.date that is no date": 1,
        "row.id that is no name": 1,
    }
    assert found.loss.inferred == {
        "request for the document": 1,
        "title of the document": 1,
        "time of a turn": 1,
        "duration of a turn": 1,
    }
    assert found.began == NO_TIME


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"text": 5}, "the text in 'text' is not a string, but a number"),
        ({"text": ["a"]}, "not a string, but a list"),
        ({"text": "A law.", "license": 4}, "the licence in 'license' is not a string"),
        ({"words": "A law."}, "there is no column of a text, but words; name it with --text-key"),
        ([1], "the row is not an object"),
    ],
)
def test_a_row_that_contradicts_itself_is_a_problem(row: object, reason: str, tmp_path: Path) -> None:
    (problem,) = problems(written(tmp_path, "laws.jsonl", row, {"text": "A law."}))
    assert problem.line == 1
    assert reason in problem.reason


def test_a_named_column_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    (problem,) = problems(written(tmp_path, "laws.jsonl", {"text": "A law."}), text_key="body")
    assert problem.reason == "the row has no column 'body', but text"


def test_a_line_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "laws.jsonl"
    path.write_bytes(b'{"text": "A law."}\n{"text": "\xff"}\n')
    (problem,) = problems(path)
    assert (problem.line, "UTF-8" in problem.reason) == (2, True)


def test_an_id_that_is_there_twice_with_different_texts_is_a_problem(tmp_path: Path) -> None:
    rows = [{"id": 1, "text": "A."}, {"id": 1, "text": "A."}, {"id": 1, "text": "B."}, {"id": "2", "text": "A."}]
    report = _import(tmp_path / "data", written(tmp_path, "laws.jsonl", *rows))
    assert (report.num_trajectories, report.num_present) == (2, 1)
    assert [(problem.line, problem.reason) for problem in report.problems] == [
        (3, "the id '1' is there twice, with other texts")
    ]


def test_the_same_id_in_two_files_is_two_documents(tmp_path: Path) -> None:
    paths = [written(tmp_path, f"{name}.jsonl", {"id": 1, "text": name}) for name in "ab"]
    assert _import(tmp_path / "data", *paths).num_trajectories == 2


def test_a_document_is_the_same_wherever_its_row_lies(tmp_path: Path) -> None:
    one = document(written(tmp_path, "a.jsonl", {"text": "A law."}))
    _, two = documents(written(tmp_path, "b.json", [{"text": "Another."}, {"text": "A law."}]))
    assert one.trajectory_id("corpus") == two.trajectory_id("corpus")


@pytest.mark.parametrize("row", [{"text": ""}, {"text": None}, {"text": " \n"}])
def test_a_row_without_a_text_is_counted(row: object, tmp_path: Path) -> None:
    assert skipped(written(tmp_path, "laws.jsonl", row, {"text": "A law."})) == ["document without a text"]


def test_a_text_beyond_the_limit_is_a_problem(tmp_path: Path) -> None:
    path = written(tmp_path, "laws.jsonl", {"text": "ä" * 600}, {"text": "x" * 1024}, {"text": "x" * 9000})
    found = problems(path, max_document_bytes=1024)
    assert [problem.line for problem in found] == [1, 3]
    assert found[0].reason == "the text is longer than 0.000976562 MiB; divide it"


def test_half_a_surrogate_pair_is_told(tmp_path: Path) -> None:
    found = _row(tmp_path, '{"text": "half \\ud800"}')
    assert found.loss.inferred["half a surrogate pair shown as U+FFFD"] == 1
    store_rows(found)


@pytest.mark.parametrize(
    ("value", "date"),
    [
        ("1883-05-01", datetime(1883, 5, 1, tzinfo=UTC)),
        ("2020-01-02T03:04:05+02:00", datetime(2020, 1, 2, 1, 4, 5, tzinfo=UTC)),
        ("1999", datetime(1999, 1, 1, tzinfo=UTC)),
        (1999, datetime(1999, 1, 1, tzinfo=UTC)),
        ("1999-07", datetime(1999, 7, 1, tzinfo=UTC)),
        (1_577_934_245, datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("1999-13", None),
        ("0000", None),
        ("May", None),
        (-5, None),
        (10**400, None),
        (True, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_date_is_a_time_a_day_a_month_or_a_year(value: object, date: datetime | None) -> None:
    assert as_date(value) == date  # type: ignore[arg-type]


@given(st.text(min_size=1).filter(str.strip), st.text())
def test_a_text_is_kept_as_it_is(tmp_path_factory: pytest.TempPathFactory, content: str, name: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_text(json.dumps({"text": content, "title": name}) + "\n")
    found = document(path)
    assert text(found) == content
    assert title(found)
    store_rows(found)
