"""Real recordings of others: after every event of them, our screen shows what xterm.js shows."""

from __future__ import annotations

import hashlib
from functools import partial

import pytest

from tests.trajectories.importers.import_support import case
from trajectories.importers.asciicast.reader import CastReader
from trajectories.importers.sources import opened
from trajectories.renderers import Screen

AS_XTERM = [
    # file, number of events, SHA-256 of the screens after each of them
    ("v2-bash-resize-kwok.cast", 714, "865de3f6d6644fe0ebb22957ee4232aead7a2f392e4d8a095e0d1c4973bae96a"),
    ("v2-broken-line.cast", 2, "81ab99b3e81fc67c572b8fe9c86d960337fb27aa0dad4a51655080d2a103daf0"),
    ("v2-cjk-prismer.cast", 159, "cd21da5955b74ccf74057716f08dba34ac394a960b9de042f3d74139ae84784f"),
    ("v2-input-and-markers-tcut.cast", 920, "8b98d352d5d20fde581b18adea7366d390a0edbe65416a5b471be60860957c58"),
    ("v2-repl-ipython.cast", 233, "a0b973fe017befe8319e9d0756419931f2bbb9d13ef5f289e0991bd4e2066075"),
    ("v2-tmux-marker.cast", 65, "320d2daa3cffaa80ba2933ec7f542b78e318cde2619eb997e1bb0204291f4bab"),
    ("v2-tui-htop.cast", 55, "20265fecad64f6d9e17f6953b7dc9c85180db60f58f6e97d26a97d452fcf6d3e"),
    ("v2-zsh-git-prompt.cast", 98, "010ab0ec5df1cdcd64fc78c9e5f701a99c367ece2cc6e15338120d23d7b641e9"),
    ("v3-comments-blank-lines.cast", 4, "19c8b6df4bf671b3038dc8a738e34767114c63aadffdcea83bbef25d6f93588e"),
    ("v3-emoji-table-hasscheck.cast", 788, "05440aecf62a9c08d1105342002105a31b60ab242236229ab6fd35b6b5af8b80"),
    ("v3-input-resize.cast", 5, "e12d0e825fda4bf12b30ec646a44d6e214b1e2f37bf644cd17e605aae31ca1a2"),
]
"""The screens are those of @xterm/headless 6.0.0, fed event by event, without blanks at the ends of rows and empty rows
at the end, each followed by a NUL."""


@pytest.mark.parametrize(("file", "num_events", "digest"), AS_XTERM)
def test_after_every_event_the_screen_is_that_of_xterm(file: str, num_events: int, digest: str) -> None:
    path = case(f"asciicast/{file}")
    reader = CastReader(partial(opened, path), str(path), lambda _line, _problem, _mend: None)
    events = list(reader)
    shown = hashlib.sha256()
    screen = Screen(reader.header.rows, reader.header.columns)
    for event in events:
        if event.kind == "o":
            screen.feed(event.data.encode())
        elif event.kind == "r":
            columns, rows = map(int, event.data.split("x"))
            screen.resize(rows, columns)
        shown.update(screen.text().encode() + b"\0")
    screen.close()
    assert (len(events), shown.hexdigest()) == (num_events, digest)
