"""ATIF 1.0 to 1.8 (Harbor), and the Agent Data Protocol's dialect of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from trajectories.importers.atif_kept import (
    EXPORTED,
    KEPT_OF_TRAJECTORY,
    Kept,
    kept_prompt,
    kept_recording,
    kept_versions,
)
from trajectories.importers.atif_steps import Steps
from trajectories.importers.base import Imported, Result
from trajectories.importers.file_names import files_named, packed_file
from trajectories.importers.loss import LossReport, whole
from trajectories.importers.packing import unpacked_name
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.sources import Row, read_document, read_rows
from trajectories.importers.tools import action_space, domain_of, tool_objects
from trajectories.importers.values import Object, as_object, as_text, instant, objects, plain, sub
from trajectories.model import Status, SystemPrompt

_files = files_named("*.json", "*.jsonl")
_VERSION: Final = re.compile(r"ATIF-v1\.[0-8]")
_CONTINUATION: Final = re.compile(r"\.cont-\d+(?=\.json$)", re.IGNORECASE)
_FIELDS: Final = whole(
    *("schema_version", "session_id", "trajectory_id", "steps", "continued_trajectory_ref", "subagent_trajectories"),
    agent=whole("name", "version", "model_name", "tool_definitions"),
    extra={EXPORTED: KEPT_OF_TRAJECTORY},
)
_MAX_DEPTH: Final = 20
"""Of subagents in subagents."""


def sources(folder: Path) -> Iterable[Path]:
    """Every JSON file that is not the continuation of another."""
    files = _files(folder)
    names = {_unpacked(path) for path in files}
    return [path for path in files if (base := _base(path)) == _unpacked(path) or base not in names]


def read(source: Path) -> Iterator[Result]:
    """A trajectory a document, element or line, with what continues it; subagents that act are their own."""
    for row in read_rows(source):
        if isinstance(row, Problem):
            yield row
            continue
        try:
            yield from _trajectories(row)
        except UnreadableError as error:
            yield row.problem(str(error))


def _base(path: Path) -> Path:
    return path.with_name(_CONTINUATION.sub("", unpacked_name(path.name)))


def _unpacked(path: Path) -> Path:
    return path.with_name(unpacked_name(path.name))


def _trajectories(row: Row) -> list[Imported]:
    parts = [as_object(row.value, "the trajectory")]
    loss = LossReport()
    digest = hashlib.sha256(row.digest.encode())
    for continuation in _continuations(parts[0], Path(row.file), loss):
        parts.append(as_object(continuation.value, "the continuation"))
        digest.update(continuation.digest.encode())
    return _with_subagents(parts, digest.hexdigest(), row.place, loss, depth=0)


def _continuations(document: Object, file: Path, loss: LossReport) -> Iterator[Row]:
    """The files that go on where this one ends, each named by the one before and beside it."""
    seen = {file.resolve()}
    while reference := as_text(document.get("continued_trajectory_ref"), "continued_trajectory_ref"):
        named = (file.parent / reference).resolve()
        following = packed_file(named) if file.parent.resolve() in named.parents else None
        if following in seen:
            raise UnreadableError("the trajectory continues itself", where=reference)
        if following is None:
            loss.skip("continuation whose file is not there")
            return
        seen.add(following)
        row = read_document(following)
        yield row
        document = as_object(row.value, "the continuation")


def _with_subagents(parts: list[Object], digest: str, place: str, loss: LossReport, *, depth: int) -> list[Imported]:
    if depth > _MAX_DEPTH:
        raise UnreadableError(f"subagents are nested more than {_MAX_DEPTH} deep")
    main = _imported(parts, digest, place, loss)
    found = [main]
    inner = [subagent for part in parts for subagent in objects(part.get("subagent_trajectories"), "subagents")]
    for number, subagent in enumerate(inner, 1):
        name = f"subagent-{number}"
        ours = _with_subagents([subagent], f"{digest}/{name}", f"{place}#{name}", LossReport(), depth=depth + 1)
        main.loss.skip("subagent that does not act", int(not ours[0].turns))
        found += [trajectory for trajectory in ours if trajectory.turns]
    return found


def _imported(parts: list[Object], digest: str, place: str, loss: LossReport) -> Imported:
    document = parts[0]
    agent = sub(document, "agent")
    steps = Steps(loss, agent=plain(agent.get("name")))
    for part in parts:
        version = as_text(part.get("schema_version"), "schema_version")
        if not _VERSION.fullmatch(version):
            raise UnreadableError(f"the schema version {version!r} is none of ATIF-v1.0 to ATIF-v1.8")
        loss.drop_unknown("trajectory", part, _FIELDS)
        steps.read(objects(part.get("steps"), "steps"))
    turns = steps.finish()
    tools = tool_objects(agent.get("tool_definitions"), loss)
    kept = Kept.of(document, "trajectory", loss)
    status = kept.one_of("status", Status)
    loss.infer("status", int(status is None))
    return Imported(
        domain=kept.text("domain") or domain_of(steps.tool_names, loss),
        digest=digest,
        source_id=plain(document.get("trajectory_id")) or plain(document.get("session_id")),
        place=place,
        source=kept.text("source"),
        licence=kept.text("licence"),
        split_group=kept.text("split_group"),
        task_id=kept.text("task_id"),
        instruction=steps.instruction,
        turns=turns,
        loss=loss,
        started_at=kept.taken("started_at", instant) or steps.started_at,
        ended_at=kept.taken("ended_at", instant),
        status=status or Status.COMPLETED,
        outcome=kept.inner("outcome").values,
        error=kept.text("error") or None,
        prompt=kept_prompt(kept) or SystemPrompt(task_description=steps.system, action_space=action_space(tools)),
        tools=tools,
        agent=plain(agent.get("name")),
        model=plain(agent.get("model_name")) or None,
        sandbox=kept.text("sandbox"),
        versions=kept_versions(kept) if kept else _versions(agent),
        recorded=kept_recording(kept),
    )


def _versions(agent: Object) -> dict[str, str]:
    name, version = plain(agent.get("name")), plain(agent.get("version"))
    return {name: version} if name and version else {}
