"""How fast secrets and personal data are found on one core, beside detect-secrets in the same run.

The texts are the turns of the statistics benchmark: real ones, which speak of passwords, tokens and addresses often.
"""

from __future__ import annotations

import pyarrow as pa
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import default_settings

from benchmarks.bench_statistics import sample_turns, speed
from benchmarks.table import Row, Table
from curation.secrets import find, redact_trajectory

_NUM_TURNS = 4000
_PEER_TURNS = 16
_TURNS_A_TRAJECTORY = 20
_PASSES = 3


def run() -> Table:
    """Measure; takes some ten seconds."""
    turns = sample_turns().slice(0, _NUM_TURNS)
    some = turns.slice(0, _PEER_TURNS)
    find("")  # compiles, or loads what was compiled
    peer = speed(some, lambda: _detect_secrets(_texts(some)), passes=1)
    found = speed(turns, lambda: [find(text) for text in _texts(turns)], passes=_PASSES)
    redacted = speed(turns, lambda: _redact(_texts(turns)), passes=_PASSES)
    rows = [
        Row("detect-secrets, line by line", (f"{peer:.2f}",), 1.0),
        Row("curation.secrets.find", (f"{found:.0f}",), found / peer, "30 MB/s, goal 100"),
        Row("curation.secrets.redact_trajectory", (f"{redacted:.0f}",), redacted / peer),
    ]
    return Table("secrets and personal data, one core", ("MB/s of text",), "detect-secrets", rows)


def _texts(turns: pa.Table) -> list[str]:
    """Actions and observations, those of a turn after each other."""
    pairs = zip(turns["action"].to_pylist(), turns["observation"].to_pylist(), strict=True)
    return [text for pair in pairs for text in pair]


def _detect_secrets(texts: list[str]) -> None:
    with default_settings():
        for text in texts:
            for line in text.split("\n"):
                list(scan_line(line))


def _redact(texts: list[str]) -> None:
    step = 2 * _TURNS_A_TRAJECTORY
    for first in range(0, len(texts), step):
        redact_trajectory(texts[first : first + step])
