"""``worldtape import``: the report, and what happens to what cannot be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from curation import curate, open_sidecar
from tests.trajectories.importers import samples
from tests.trajectories.importers.fetch_support import archive, served
from tests.trajectories.importers.import_support import written
from tests.worldtape.conftest import Worldtape, files_below
from trajectories import Dataset
from trajectories.importers import FORMATS, Field


def test_the_report_names_what_was_lost_and_what_could_not_be_read(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", samples.CHAT, "{broken")
    finished = worldtape("import", "messages", path, "--dataset", tmp_path / "data")
    assert finished.code == 0
    assert "content that is no text" in finished.out
    assert f"import: not imported: {path}:2: " in finished.err


def test_the_report_as_json_counts_everything(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", samples.CHAT, "{broken")
    arguments = ("import", "messages", path, "--dataset", tmp_path / "data", "--run", "theirs", "--json")
    report = worldtape(*arguments).json
    assert (report["run"], report["trajectories"], report["turns"], report["unreadable"]) == ("theirs", 1, 3, 1)
    assert report["problems"][0]["line"] == 2
    assert report["loss"]["inferred"]["time of a turn"] == 3
    assert report["stages"] == {}
    assert worldtape(*arguments).json["already_there"] == 1


def test_the_report_tells_what_came_into_and_out_of_each_stage(worldtape: Worldtape, tmp_path: Path) -> None:
    events = [[0.1, "o", "$ "], [0.2, "o", "l"], [0.3, "o", "s"], [0.4, "o", "\r\na\r\n$ "], [0.5, "?", "noise"]]
    more = [[0.6, "o", "pwd"], [0.7, "o", "\r\n/\r\n$ "], [0.8, "i", "\x1b[1;1R"]]
    header = {"version": 2, "width": 40, "height": 10}
    one = written(tmp_path, "one.cast", header, *events, *more)
    broken = written(tmp_path, "broken.cast", {"version": 9})
    arguments = ("import", "asciicast", one, broken, "--dataset", tmp_path / "data", "--licence", "MIT")
    assert "What passed the stages" in worldtape(*arguments).out
    stages = worldtape(*arguments, "--json").json["stages"]
    assert [(name, counts["in"], counts["out"]) for name, counts in stages.items()] == [
        ("fetch", 2, 1),
        ("denoise", 8, 6),
        ("segment", 6, 2),
        ("align", 2, 2),
        ("score", 2, 2),
    ]


def test_a_pointer_in_place_of_a_file_is_one_line_and_exit_code_2(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "traj.jsonl", "version https://git-lfs.github.com/spec/v1", "oid sha256:0", "size 9")
    finished = worldtape("import", "osworld", path, "--dataset", tmp_path / "data")
    assert finished.code == 2
    assert str(path) in finished.error
    assert finished.error.endswith("run: git lfs pull")
    assert not (tmp_path / "data").exists()


def test_a_strict_import_stops_at_what_it_cannot_read(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", samples.CHAT, "{broken")
    finished = worldtape("import", "messages", path, "--dataset", tmp_path / "data", "--strict")
    assert finished.code == 2
    assert f"{path}:2" in finished.error
    assert not files_below(tmp_path / "data")


def test_a_domain_of_ones_own_is_told_to_be_none_of_the_known(worldtape: Worldtape, tmp_path: Path) -> None:
    arguments = ("import", "messages", written(tmp_path, "chats.jsonl", samples.CHAT), "--dataset", tmp_path / "data")
    assert "import: 'termnal' is none of terminal, " in worldtape(*arguments, "--domain", "termnal").err
    assert "is none of" not in worldtape(*arguments, "--domain", "terminal").err


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", "messages", "{file}", "--dataset"),
        ("curate",),
        ("report",),
        ("pack", "--tokenizer", "{file}", "--context", "16"),
    ],
)
def test_a_data_set_at_a_url_is_refused_and_no_folder_takes_its_place(
    worldtape: Worldtape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    path = written(tmp_path, "chats.jsonl", samples.CHAT)
    monkeypatch.chdir(tmp_path)
    finished = worldtape(*(argument.format(file=path) for argument in arguments), "memory://bucket/data")
    assert finished.code == 2
    assert "memory://bucket/data" in finished.error
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_trajectory_that_two_runs_have_is_shown_of_the_run_that_is_named(
    worldtape: Worldtape, tmp_path: Path
) -> None:
    path, data = written(tmp_path, "chats.jsonl", samples.CHAT), tmp_path / "data"
    for name in ("one", "two"):
        worldtape("import", "messages", path, "--dataset", data, "--run", name)
    (trajectory_id,) = {row["trajectory_id"] for row in worldtape("inspect", data, "--json").json["trajectories"]}
    for beginning in (trajectory_id, trajectory_id[:-3]):
        refused = worldtape("inspect", data, beginning)
        assert refused.code == 2
        assert refused.error.endswith("say which run: one, two")
        shown = worldtape("inspect", data, beginning, "--run", "two", "--json").json
        assert shown["trajectory"]["run"] == "two"
        assert len(shown["turns"]) == 3
    assert worldtape("inspect", data, trajectory_id, "--run", "three").code == 2


def test_an_empty_name_is_not_the_working_folder(
    worldtape: Worldtape, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "chats.jsonl", samples.CHAT)
    monkeypatch.chdir(tmp_path)
    for arguments in (("", "--dataset", "data"), (path, "--dataset", "")):
        finished = worldtape("import", "messages", *arguments)
        assert (finished.code, "is empty" in finished.error) == (2, True)
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arguments", "near", "known"),
    [
        (("atiff",), "there is no format 'atiff'; did you mean 'atif'? ", FORMATS),
        (("corpus", "--field", "laww"), "there is no field 'laww'; did you mean 'law'? ", Field),
        (("corpus", "--field", "☃"), "there is no field '☃'; ", Field),
    ],
)
def test_an_unknown_name_is_one_line_with_the_nearest_and_all(
    worldtape: Worldtape, tmp_path: Path, arguments: tuple[str, ...], near: str, known: Iterable[str]
) -> None:
    source_format, *options = arguments
    finished = worldtape("import", source_format, tmp_path, "--dataset", tmp_path / "data", *options)
    assert (finished.code, finished.out) == (2, "")
    assert finished.err == f"worldtape: {near}known are: {', '.join(known)}\n"


def test_texts_are_imported_with_the_licence_and_the_columns_that_the_options_name(
    worldtape: Worldtape, tmp_path: Path
) -> None:
    row = {"heading": "Act", "words": "A law.", "nr": 1, "on": "2001-02-03", "terms": "MIT", "from": "gazette"}
    path = written(tmp_path, "laws.jsonl", row)
    keys = {"text": "words", "title": "heading", "id": "nr", "date": "on", "licence": "terms", "source": "from"}
    options = [part for role, key in keys.items() for part in (f"--{role}-key", key)]
    finished = worldtape("import", "corpus", path, "--dataset", tmp_path / "data", "--field", "law", *options)
    assert finished.code == 0
    assert "request for the document" in finished.out
    (stored,) = Dataset(tmp_path / "data").scan_trajectories().collect().to_dicts()
    assert (stored["domain"], stored["licence"], stored["source"]) == ("corpus-law", "MIT", "gazette")
    assert (stored["task_id"], str(stored["started_at"].date())) == ("1", "2001-02-03")


def test_the_source_of_a_collection_can_be_named(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "laws.jsonl", {"text": "A law."})
    options = ("--field", "law", "--licence", "MIT", "--source", "gazette")
    assert worldtape("import", "corpus", path, "--dataset", tmp_path / "data", *options).code == 0
    (stored,) = Dataset(tmp_path / "data").scan_trajectories().collect().to_dicts()
    assert (stored["source"], stored["split_group"]) == (f"gazette: {path}:1", "gazette")


def test_texts_without_a_field_or_without_a_licence_are_refused_in_one_line(
    worldtape: Worldtape, tmp_path: Path
) -> None:
    path = written(tmp_path, "laws.jsonl", {"text": "A law."})
    without_field = worldtape("import", "corpus", path, "--dataset", tmp_path / "data", "--licence", "MIT")
    assert (without_field.code, "--field with one of: industrial-control" in without_field.error) == (2, True)
    without_licence = worldtape("import", "corpus", path, "--dataset", tmp_path / "data", "--field", "law")
    assert (without_licence.code, "give one with --licence" in without_licence.error) == (2, True)
    assert not (tmp_path / "data").exists()


def test_an_option_of_texts_is_refused_for_another_format(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "chats.jsonl", samples.CHAT)
    finished = worldtape("import", "messages", path, "--dataset", tmp_path / "data", "--title-key", "x")
    assert (finished.code, "--title-key is for the format corpus" in finished.error) == (2, True)


def test_a_url_and_an_archive_are_imported_as_files_are(worldtape: Worldtape, tmp_path: Path) -> None:
    written(tmp_path / "served", "chats.jsonl", samples.CHAT)
    packed = archive(tmp_path / "x.zip", {"chats.jsonl": (tmp_path / "served" / "chats.jsonl").read_bytes()})
    with served(tmp_path / "served") as url:
        arguments = ("import", "messages", f"{url}/chats.jsonl", packed, "--dataset", tmp_path / "data", "--json")
        report = worldtape(*arguments).json
    assert (report["sources"], report["trajectories"], report["already_there"]) == (2, 1, 1)
    missing = worldtape("import", "messages", f"{url}/none.jsonl", "--dataset", tmp_path / "data")
    assert missing.code == 1
    assert f"({url}/none.jsonl)" in missing.error


def test_imported_texts_are_curated_and_in_the_loss(worldtape: Worldtape, tmp_path: Path) -> None:
    laws = ({"text": f"Law {number}. " + "Water is free of charge here. " * 9} for number in range(4))
    path, data = written(tmp_path, "laws.jsonl", *laws), tmp_path / "data"
    assert worldtape("import", "corpus", path, "--dataset", data, "--field", "law", "--licence", "MIT").code == 0
    curate(Dataset(data))
    judged = open_sidecar(Dataset(data)).scan().collect()
    assert judged.select("class", "kept").unique().rows() == [("retrieval", True)]
