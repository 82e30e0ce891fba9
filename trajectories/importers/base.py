"""What an importer is, and what it gives: whole trajectories in our words, or why there is none."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from trajectories.importers.loss import LossReport
from trajectories.importers.problems import Problem
from trajectories.model import (
    Ending,
    Header,
    JsonValue,
    Observation,
    Status,
    SystemPrompt,
    Turn,
    canonical_json,
)

AS_GIVEN: Final = "as-given@1"
"""The renderer of a text that is taken from a source as it stands there."""

NO_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands where a source tells no time; the loss report says so."""

_ID_DIGITS: Final = 20
_PLACE: Final = re.compile(r"datasets:|[^./\\]*[./\\]")
"""What tells a place from other names, for whoever reads the sources of rows."""


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
            source=self.source or _as_source(self.place),
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


def _as_source(place: str) -> str:
    """A place as the source of a row: a bare name is marked as that of a file (``./chats:1``), so that it is not taken
    for one that somebody else made up (``ECLI:1``).
    """
    return place if _PLACE.match(place) else f"./{place}"


@dataclass(frozen=True, slots=True)
class NoTrajectory:
    """A row that is well-formed and no trajectory, such as a line of metadata: counted under ``kind``."""

    kind: str


Result: TypeAlias = Imported | Problem | NoTrajectory


class Importer(Protocol):
    """One format: a module of this package.

    One that also reads collections by name has a ``SCHEME`` that those names begin with; they reach ``read`` as they
    are. One to which the folder matters in which a source was found has ``within(folder)``: the importer of what lies
    there.
    """

    def sources(self, folder: Path) -> Iterable[Path]:
        """What can be read (files, or folders that are one source) under a folder, in order."""

    def read(self, source: Path) -> Iterator[Result]:
        """The trajectories of a source, one in memory at a time.

        Raises ``UnreadableError`` where nothing of the source can be read.
        """
