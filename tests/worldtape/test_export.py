"""``worldtape export``: what is exported comes back by ``worldtape import``."""

from __future__ import annotations

from pathlib import Path

from tests.trajectories.importers import samples
from tests.trajectories.importers.import_support import written
from tests.worldtape.conftest import Worldtape


def test_what_is_exported_can_be_imported_again(worldtape: Worldtape, tmp_path: Path) -> None:
    chats = written(tmp_path, "chats.jsonl", samples.CHAT)
    imported = worldtape("import", "messages", chats, "--dataset", tmp_path / "data", "--json").json
    exported = worldtape("export", tmp_path / "data", tmp_path / "atif", "--json").json
    assert exported == {"format": "atif", "folder": str(tmp_path / "atif"), "trajectories": 1}
    again = worldtape("import", "atif", tmp_path / "atif", "--dataset", tmp_path / "again", "--json").json
    assert (again["trajectories"], again["turns"]) == (1, imported["turns"])


def test_there_must_be_something_to_export(worldtape: Worldtape, tmp_path: Path) -> None:
    finished = worldtape("export", tmp_path / "nowhere", tmp_path / "atif")
    assert finished.code == 2
    assert str(tmp_path / "nowhere") in finished.error
    assert not (tmp_path / "atif").exists()
