"""``worldtape export``: what is exported comes back by ``worldtape import``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.curation.recordings import DAWN, a_header, turn
from tests.curation.secrets.test_detector import key
from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import written
from tests.worldtape.conftest import Worldtape
from trajectories import Dataset, Ending, JournalWriter, Observation, Status, compact
from trajectories.recording import EventSpool, RawEvent


def test_what_is_exported_can_be_imported_again(worldtape: Worldtape, tmp_path: Path) -> None:
    chats = written(tmp_path, "chats.jsonl", samples.CHAT)
    imported = worldtape("import", "messages", chats, "--dataset", tmp_path / "data", "--json").json
    exported = worldtape("export", tmp_path / "data", tmp_path / "atif", "--json").json
    told = {"format": "atif", "folder": str(tmp_path / "atif"), "trajectories": 1}
    assert exported == {**told, "no_place": {}, "redactions": {}}
    again = worldtape("import", "atif", tmp_path / "atif", "--dataset", tmp_path / "again", "--json").json
    assert (again["trajectories"], again["turns"]) == (1, imported["turns"])


def test_what_is_exported_has_placeholders_for_secrets_unless_they_are_asked_for(
    worldtape: Worldtape, tmp_path: Path
) -> None:
    token = f"ghp_{key()}"
    call = {"id": "1", "function": {"name": "run", "arguments": json.dumps({"command": f"login {token}"})}}
    answer = {"role": "tool", "tool_call_id": "1", "content": f"{token} is good"}
    messages = [{"role": "user", "content": "log in"}, {"role": "assistant", "tool_calls": [call]}, answer]
    worldtape(
        "import", "messages", written(tmp_path, "a.jsonl", {"messages": messages}), "--dataset", tmp_path / "data"
    )
    told = worldtape("export", tmp_path / "data", tmp_path / "safe")
    assert "placeholders stand for secrets and personal data: 2 github-token" in told.err
    worldtape("export", tmp_path / "data", tmp_path / "whole", "--with-secrets")
    (safe,), (whole,) = ([path.read_text() for path in (tmp_path / name).rglob("*.json")] for name in ("safe", "whole"))
    assert (safe.count(token), safe.count("[secret:github-token:1]")) == (0, 2)
    assert whole.count(token) == 2


def test_what_the_format_has_no_place_for_is_counted(worldtape: Worldtape, tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "data")
    events = EventSpool()
    events.append(RawEvent(0.0, "o", "hello\r\n"))
    with JournalWriter(dataset, a_header("t"), Observation(text="$ ", renderer="plain@1")) as journal:
        journal.append(replace(turn("echo hello", "hello", raw=events), number=1))
        journal.end(Ending(status=Status.COMPLETED, ended_at=DAWN))
    compact(dataset, "r1")
    told = worldtape("export", dataset.folder, tmp_path / "out").err
    assert "export: atif has no place for 1 recording, which stay in the data set" in told


def test_there_must_be_something_to_export(worldtape: Worldtape, tmp_path: Path) -> None:
    finished = worldtape("export", tmp_path / "nowhere", tmp_path / "atif")
    assert finished.code == 2
    assert str(tmp_path / "nowhere") in finished.error
    assert not (tmp_path / "atif").exists()


def test_an_unknown_run_is_one_line_with_the_nearest_and_nothing_is_written(
    worldtape: Worldtape, tmp_path: Path
) -> None:
    chats = written(tmp_path, "chats.jsonl", samples.CHAT)
    worldtape("import", "messages", chats, "--dataset", tmp_path / "data", "--run", "monday")
    refused = worldtape("export", tmp_path / "data", tmp_path / "atif", "--run", "mondai")
    assert (refused.code, refused.out) == (2, "")
    assert refused.error == "worldtape: there is no run 'mondai'; did you mean 'monday'? known are: monday"
    assert not (tmp_path / "atif").exists()
    assert worldtape("export", tmp_path / "data", tmp_path / "atif", "--run", "monday").code == 0
