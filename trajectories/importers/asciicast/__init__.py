"""asciicast v2 and v3: sessions of a terminal, with the keys that were typed where those were recorded.

A recording goes through five stages, and only turns that pass them all enter: *fetch* (``importers.fetch``: files,
archives, URLs), *denoise* (broken lines, unknown events, replies of the terminal, sizes that change nothing),
*segment* (what was entered), *align* (each action was on the screen as it was entered), *score* (how sure that is).
What each stage left out stands in the loss report under its name, and in the trajectory's outcome.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from trajectories.importers.asciicast.entries import EntryKind, Plan
from trajectories.importers.asciicast.prompts import THRESHOLD
from trajectories.importers.asciicast.reader import CastReader
from trajectories.importers.asciicast.segmenter import Segmentation, segment
from trajectories.importers.asciicast.turns import PlayedCast, play
from trajectories.importers.base import Imported, Result
from trajectories.importers.file_names import files_named
from trajectories.importers.loss import LossReport
from trajectories.importers.problems import Problem
from trajectories.importers.sources import opened
from trajectories.importers.surrogates import SHOWN_AS_REPLACEMENT
from trajectories.model import JsonValue, SystemPrompt

_CHUNK_BYTES: Final = 2**20
_MOST_PROBLEMS: Final = 100

_TASK_DESCRIPTION: Final = """\
The environment is a terminal of {rows} rows and {columns} columns at which somebody works. Each observation is the \
screen as it is visible before the next action, with blanks at the ends of lines and empty lines below the last one \
left out; what has scrolled off the top is gone."""

_ACTION_SPACE: Final = """\
An action is a JSON array of {"keystrokes": string, "duration": seconds}, performed in order; one observation follows \
the last. Keystrokes are typed as they are, and a newline presses Enter. Duration is how long the screen is watched."""

sources = files_named("*.cast")


def read(source: Path) -> Iterator[Result]:
    """The recording that a file is; a line of it that cannot be read is a problem of its own.

    Raises ``UnreadableError`` where nothing of the source can be read.
    """
    problems = _Problems(str(source))
    reader = CastReader(partial(opened, source), str(source), problems.note)
    segmentation = segment(reader)
    problems.is_closed = True
    yield from problems.found
    loss = LossReport()
    loss.skip("denoise: unreadable line beyond those named", problems.num_beyond)
    yield _imported(source, reader, segmentation, loss)


class _Problems:
    """The broken lines of a recording, the first hundred by name; the file is read several times, and told of once."""

    def __init__(self, place: str) -> None:
        self._place = place
        self.found: list[Problem] = []
        self.num_beyond = 0
        self.is_closed = False

    def note(self, line: int, reason: str, mend: str | None) -> None:
        if self.is_closed:
            return
        if len(self.found) < _MOST_PROBLEMS:
            self.found.append(Problem(self._place, line, reason, mend))
        else:
            self.num_beyond += 1


def _imported(source: Path, reader: CastReader, segmentation: Segmentation, loss: LossReport) -> Imported:
    header, counts = reader.header, reader.counts
    num_planned = len(segmentation.plan.turns)
    passes = segmentation.score >= THRESHOLD
    plan = segmentation.plan if passes and num_planned else Plan(hidden=segmentation.plan.hidden)
    num_events = counts.events.total()
    played = play(reader, plan)
    _report(loss, reader, segmentation, played, num_below_score=0 if passes else num_planned)
    return Imported(
        domain="terminal",
        digest=_digest(source),
        source_id="",
        place=str(source),
        instruction=header.title,
        turns=played.turns,
        loss=loss,
        started_at=header.started_at,
        outcome=_outcome(num_events, segmentation, played, counts.exit_status),
        initial=played.initial,
        prompt=SystemPrompt(
            task_description=_TASK_DESCRIPTION.format(rows=header.rows, columns=header.columns),
            action_space=_ACTION_SPACE,
        ),
        versions={"asciicast": str(header.version)},
        recording_header={**header.fields, "version": 2, "width": header.columns, "height": header.rows},
    )


def _digest(source: Path) -> str:
    """SHA-256 of what the file holds, unpacked, in hex."""
    digest = hashlib.sha256()
    with opened(source) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _report(
    loss: LossReport,
    reader: CastReader,
    segmentation: Segmentation,
    played: PlayedCast,
    *,
    num_below_score: int,
) -> None:
    """Say what was lost, inferred and left out, stage by stage."""
    counts, left_out = reader.counts, segmentation.plan.left_out
    for key in reader.header.unknown_keys:
        loss.drop(f"header.{key[:60]}")
    for kind, count in counts.unknown_kinds.items():
        loss.skip(f"denoise: event of the unknown kind {kind!r}", count)
    loss.skip("denoise: comment of the file", counts.comments)
    loss.skip("denoise: resize to the size it has", counts.repeated_sizes)
    loss.skip("denoise: reply of the terminal", segmentation.num_replies)
    loss.infer(SHOWN_AS_REPLACEMENT, counts.replaced_surrogates)
    loss.infer("time of an event that is before the one above, or absurd, taken as the same", counts.wrong_times)
    for entry_kind in EntryKind:
        loss.skip(f"segment: {entry_kind}", left_out[entry_kind])
    loss.skip("segment: line that looks typed, and is not at a prompt", segmentation.num_doubtful)
    loss.skip("segment: full-screen program whose keys were not recorded", segmentation.num_full_screen)
    loss.skip("segment: line beyond those that are judged", segmentation.num_unjudged)
    loss.skip("align: turn whose action is not on the screen, or after one", played.num_unaligned)
    loss.skip(f"score: turn of a recording below {THRESHOLD}", num_below_score)
    if not played.turns:
        loss.skip("segment: recording of which no action can be told")
    loss.infer("action from the keys" if segmentation.from_keys else "action from a prompt", len(played.turns))
    if reader.header.started_at is None:
        loss.infer("time of the recording")


def _outcome(
    num_events: int, segmentation: Segmentation, played: PlayedCast, exit_status: str | None
) -> dict[str, JsonValue]:
    """What each stage let through, and how the session ended where the recording says so."""
    num_planned = len(segmentation.plan.turns) + played.num_unaligned
    outcome: dict[str, JsonValue] = {
        "events": num_events,
        "turns_segmented": num_planned,
        "turns_aligned": num_planned - played.num_unaligned,
        "score": round(segmentation.score, 4),
        "turns_entered": len(played.turns),
    }
    return outcome if exit_status is None else {**outcome, "exit_status": exit_status}
