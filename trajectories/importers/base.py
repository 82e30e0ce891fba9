"""What an importer is, and what it gives: whole trajectories in our words, or why there is none.

A format is a module with two functions (:class:`Importer`) and a line in ``FORMATS``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, TypeAlias, cast

from trajectories.errors import InputError
from trajectories.importers.json_text import count_numbers_as_written
from trajectories.importers.loss import LossReport
from trajectories.importers.observed import marked_truncated
from trajectories.importers.refusals import marked_refused
from trajectories.importers.spooled_turns import SpooledTurns
from trajectories.model import (
    Action,
    Ending,
    ErrorKind,
    Header,
    JsonValue,
    Observation,
    Status,
    SystemPrompt,
    Turn,
    canonical_json,
)

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

AS_GIVEN: Final = "as-given@1"
"""The renderer of a text that is taken from a source as it stands there."""

NO_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands where a source tells no time; the loss report says so."""

_ID_DIGITS: Final = 20
_COMPRESSED: Final = ("", ".gz", ".zst", ".bz2", ".xz")


class UnreadableError(InputError):
    """A source, or one trajectory of it, is not what its format allows. The one error that readers raise."""


class ContradictionError(UnreadableError):
    """A source contradicts itself so that no turn of it is sure, the earlier ones neither."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A trajectory, or what should have been one, that cannot be imported."""

    file: str
    line: int | None
    """From 1, in a file of lines; in an array, which element; None where it is the whole file."""
    reason: str
    mend: str | None = None

    @classmethod
    def at(cls, place: str, reason: str, mend: str | None = None) -> Problem:
        """The problem at what ``place`` gives for it."""
        file, _, line = place.rpartition(":")
        if file and line.isdecimal():
            return cls(file, int(line), reason, mend)
        return cls(place, None, reason, mend)

    @property
    def place(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.told}"

    @property
    def told(self) -> str:
        """The reason, and how to mend it."""
        return f"{self.reason}; {self.mend}" if self.mend else self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """How a trajectory was recorded: what an export of ours tells of it, and other sources do not."""

    task_sha256: str = ""
    """By default that of the domain, instruction and task description."""
    seed: int = 0
    attempt: int = 1
    engine: str | None = None
    image_digest: str | None = None
    device_kind: str | None = None
    network: str = "unknown"
    collector_version: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One trajectory of a source. ``digest`` and ``source_id`` decide its id: the same source, the same id."""

    domain: str
    digest: str
    """Hex hash of the bytes, or of the JSON, that it was read from."""
    source_id: str
    """The source's own name for it: may be empty, not unique, and hold any character."""
    place: str
    """The file, and the line or element in it."""
    source: str = ""
    """Where it is from, if the source says so itself; else ``place`` is what stands in the row."""
    licence: str = ""
    """Its own, which then counts before that of the import."""
    needs_licence: bool = False
    """Whether it is a problem if neither it nor the import has one."""
    split_group: str = ""
    """What must not be in two pools; by default its task."""
    task_id: str = ""
    """By default ``source_id``."""
    instruction: str
    turns: Sequence[Turn]
    loss: LossReport
    started_at: datetime | None = None
    """None where the source does not tell: then the first turn's."""
    ended_at: datetime | None = None
    """None where the source does not tell: then the last turn's."""
    status: Status = Status.COMPLETED
    outcome: Mapping[str, JsonValue] = field(default_factory=dict)
    error: str | None = None
    initial: Observation = field(default_factory=lambda: Observation(text="", renderer=AS_GIVEN))
    prompt: SystemPrompt = field(default_factory=SystemPrompt)
    tools: Sequence[Mapping[str, JsonValue]] = ()
    agent: str = ""
    model: str | None = None
    sandbox: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    recording_header: Mapping[str, JsonValue] = field(default_factory=dict)
    screenshots: Mapping[int, Path] = field(default_factory=dict)
    """Turn → the image of what was visible after it."""
    recorded: Recorded = field(default_factory=Recorded)

    def trajectory_id(self, source_format: str) -> str:
        """Safe in a file name, the same on every machine; 80 bits of a SHA-256."""
        identity = canonical_json([source_format, self.source_id, self.digest])
        digest = hashlib.sha256(identity.encode(errors="surrogatepass")).hexdigest()[:_ID_DIGITS]
        return f"{re.sub(r'[^a-z0-9]', '', self.domain)}-{digest}"

    def header(self, source_format: str, run: str, licence: str) -> Header:
        recorded = self.recorded
        task = canonical_json([self.domain, self.instruction, self.prompt.task_description])
        task_sha256 = recorded.task_sha256 or hashlib.sha256(task.encode(errors="surrogatepass")).hexdigest()
        return Header(
            trajectory_id=self.trajectory_id(source_format),
            run=run,
            domain=self.domain,
            task_id=self.task_id or self.source_id or task_sha256[:_ID_DIGITS],
            task_sha256=task_sha256,
            instruction=self.instruction,
            prompt=self.prompt,
            policy=self.agent or "unknown",
            seed=recorded.seed,
            attempt=recorded.attempt,
            engine=recorded.engine,
            image_digest=recorded.image_digest,
            device_kind=recorded.device_kind,
            sandbox=self.sandbox or "unknown",
            started_at=self.began,
            tools=self.tools,
            model=self.model,
            versions=self.versions,
            network=recorded.network,
            licence=self.licence or licence,
            source=self.source or self.place,
            source_format=source_format,
            loss_report=self.loss.as_json(),
            split_group=self.split_group or task_sha256,
            collector_version=recorded.collector_version,
            host=recorded.host,
            recording_header=self.recording_header,
        )

    @property
    def began(self) -> datetime:
        return self.started_at or (self.turns[0].started_at if self.turns else NO_TIME)

    def ending(self) -> Ending:
        last = self.turns[-1] if self.turns else None
        ended_at = last.started_at + timedelta(seconds=last.duration_s) if last else self.began
        return Ending(status=self.status, ended_at=self.ended_at or ended_at, outcome=self.outcome, error=self.error)


@dataclass(frozen=True, slots=True)
class NoTrajectory:
    """A row that is well-formed and no trajectory, such as a line of metadata: counted under ``kind``."""

    kind: str


Result: TypeAlias = Imported | Problem | NoTrajectory


class Importer(Protocol):
    """One format: a module of this package.

    One that also reads collections by name has a ``SCHEME`` that those names begin with; they reach ``read`` as they
    are.
    """

    def sources(self, folder: Path) -> Iterable[Path]:
        """What can be read (files, or folders that are one source) under a folder, in order."""

    def read(self, source: Path) -> Iterator[Result]:
        """The trajectories of a source, one in memory at a time.

        Raises ``UnreadableError`` where nothing of the source can be read.
        """


def open_importer(source_format: str) -> Importer:
    """The importer of a format. Raises ``InputError`` for a name that is none."""
    if source_format not in FORMATS:
        raise InputError(f"there is no format {source_format!r}", mend=f"known are: {', '.join(FORMATS)}")
    return cast("Importer", import_module(FORMATS[source_format]))


def files_named(*patterns: str) -> Callable[[Path], list[Path]]:
    """``Importer.sources`` of a format whose sources are files with such names, compressed or not."""
    names = [pattern + suffix for pattern in patterns for suffix in _COMPRESSED]

    def sources(folder: Path) -> list[Path]:
        return sorted({path for name in names for path in folder.rglob(name) if path.is_file()})

    return sources


class TurnList:
    """Makes turns out of actions and answers: numbers them, and notes the times that the source does not tell."""

    def __init__(self, loss: LossReport) -> None:
        self._loss = loss
        self._latest_start = NO_TIME
        self.turns = SpooledTurns()

    def add(
        self,
        action: Action,
        observation: Observation,
        *,
        started_at: datetime | None = None,
        duration_s: float | None = None,
        ended_at: datetime | None = None,
        is_noop: bool | None = None,
        state_before: str | None = None,
        tells_outcome: bool = False,
    ) -> Turn:
        """Add a turn; the duration is given, or runs from ``started_at`` to ``ended_at``, or is noted as unknown.

        Args:
            tells_outcome: whether the source says itself if the observation was cut, and whose fault an error was; else
                its text may show it.
        """
        if started_at is None:
            self._loss.infer("time of a turn")
        elif duration_s is None and ended_at is not None and ended_at >= started_at:
            duration_s = (ended_at - started_at).total_seconds()
        if duration_s is None:
            self._loss.infer("duration of a turn")
        numbers = count_numbers_as_written(action.payload)
        self._loss.infer("number that JSON cannot hold kept as a string", numbers)
        if not tells_outcome:
            observation = marked_truncated(marked_refused(action, observation, self._loss), self._loss)
        self._latest_start = started_at or self._latest_start
        turn = Turn(
            number=len(self.turns) + 1,
            action=action,
            observation=observation,
            started_at=self._latest_start,
            duration_s=duration_s or 0.0,
            state_before=state_before,
            is_noop=is_noop,
        )
        self.turns.append(turn)
        return turn


def answer(
    text: str,
    *,
    exit_code: int | None = None,
    timed_out: bool = False,
    truncated: bool = False,
    error_kind: ErrorKind | None = None,
    error: str | None = None,
    tree_status: str | None = None,
) -> Observation:
    """An observation whose text is taken as it stands in the source."""
    return Observation(
        text=text,
        renderer=AS_GIVEN,
        bytes_total=len(text.encode(errors="surrogatepass")),
        exit_code=exit_code,
        timed_out=timed_out,
        truncated=truncated,
        error_kind=error_kind,
        error=error,
        tree_status=tree_status,
    )
