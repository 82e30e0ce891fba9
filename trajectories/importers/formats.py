"""The formats that can be imported. A new one is a module with the functions of an ``Importer``, and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, cast

from trajectories.errors import InputError
from trajectories.importers.base import Importer

FORMATS: Final[Mapping[str, str]] = {
    "atif": "trajectories.importers.atif",
    "adp": "trajectories.importers.adp",
    "messages": "trajectories.importers.messages",
    "sharegpt": "trajectories.importers.sharegpt",
    "responses": "trajectories.importers.responses",
    "swe-agent": "trajectories.importers.swe_agent",
    "openhands": "trajectories.importers.openhands",
    "openhands-v0": "trajectories.importers.openhands_v0",
    "osworld": "trajectories.importers.osworld",
    "agentworldbench": "trajectories.importers.agentworldbench",
    "claude-code": "trajectories.importers.claude_code",
    "codex": "trajectories.importers.codex",
    "gemini-cli": "trajectories.importers.gemini_cli",
    "asciicast": "trajectories.importers.asciicast",
    "corpus": "trajectories.importers.corpus",
}
"""Format → the module that reads it, imported when it is asked for."""


def open_importer(source_format: str) -> Importer:
    """The importer of a format. Raises ``InputError`` for a name that is none."""
    if source_format not in FORMATS:
        raise InputError(f"there is no format {source_format!r}", mend=f"known are: {', '.join(FORMATS)}")
    return cast("Importer", import_module(FORMATS[source_format]))
