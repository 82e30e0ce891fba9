"""Imports files into a run of a data set: all of them or, where that fails, none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from trajectories.dataset import Dataset
from trajectories.errors import InputError
from trajectories.importers.base import (
    Imported,
    Importer,
    NoTrajectory,
    Problem,
    Result,
    UnreadableError,
    open_importer,
)
from trajectories.importers.loss import LossReport
from trajectories.importers.staging import Staging, staged_import
from trajectories.model import JsonValue

_MAX_NAMED: Final = 100


class Progress(Protocol):
    """Told, after each trajectory, how many there are, and of which source they come."""

    def __call__(self, done: int, total: int | None, detail: str = "") -> None: ...


@dataclass(kw_only=True)
class ImportReport:
    """What an import came to."""

    source_format: str
    run: str
    num_sources: int = 0
    num_trajectories: int = 0
    """New ones, and so are ``num_turns``."""
    num_turns: int = 0
    num_present: int = 0
    """Trajectories that the run had already, or that came twice: not written again."""
    num_problems: int = 0
    problems: list[Problem] = field(default_factory=list)
    """The first hundred of them."""
    loss: LossReport = field(default_factory=LossReport)

    def note(self, problem: Problem) -> None:
        self.num_problems += 1
        if len(self.problems) < _MAX_NAMED:
            self.problems.append(problem)

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "format": self.source_format,
            "run": self.run,
            "sources": self.num_sources,
            "trajectories": self.num_trajectories,
            "turns": self.num_turns,
            "already_there": self.num_present,
            "unreadable": self.num_problems,
            "problems": [{"file": p.file, "line": p.line, "reason": p.reason} for p in self.problems],
            "loss": self.loss.as_json(),
        }


def import_trajectories(
    dataset: Dataset,
    source_format: str,
    paths: Sequence[Path],
    *,
    run: str | None = None,
    domain: str | None = None,
    licence: str = "",
    strict: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import files and folders of one format into a run (by default ``import-FORMAT``), whole or not at all.

    Importing the same again writes nothing: a trajectory that the run has is counted and passed over. What cannot be
    read is named in the report, and the rest is imported.

    Args:
        domain: takes the place of the domain that the importer would choose.
        licence: of the files, for every trajectory's row.
        strict: the first thing that cannot be read ends it.

    Raises:
        InputError: the format, a path or a name is wrong, or ``paths`` hold no trajectory that can be imported.
        UnreadableError: nothing of a file that was named can be read, or something cannot and ``strict`` is on.
        StorageError: the disk is full or fails.
    """
    importer = open_importer(source_format)
    report = ImportReport(source_format=source_format, run=run or f"import-{source_format}")
    sources = _sources(importer, source_format, paths)
    with staged_import(dataset, report.run) as staging:
        for source in sources:
            report.num_sources += 1
            for result in source.results(importer):
                if isinstance(result, Problem):
                    _refuse(result, report, strict=strict)
                elif isinstance(result, NoTrajectory):
                    report.loss.skip(result.kind)
                else:
                    _take(replace(result, domain=domain or result.domain), staging, report, licence)
                if progress is not None:
                    progress(report.num_trajectories, None, str(source.path))
        if not report.num_trajectories and not report.num_present:
            raise _nothing(report, paths)
    return report


@dataclass(frozen=True, slots=True)
class _Source:
    path: Path
    is_named: bool
    """By the user; else it was found in a folder."""

    def results(self, importer: Importer) -> Iterator[Result]:
        """Where nothing of it can be read, that is one problem, or an error where the user has named it."""
        try:
            yield from importer.read(self.path)
        except UnreadableError as error:
            if self.is_named:
                raise
            yield Problem(error.where or str(self.path), None, f"{error.what}{f'; {error.mend}' if error.mend else ''}")


def _sources(importer: Importer, source_format: str, paths: Iterable[Path]) -> list[_Source]:
    found: list[_Source] = []
    for path in paths:
        if path.is_dir():
            inside = [_Source(source, is_named=source == path) for source in importer.sources(path)]
            if not inside:
                raise InputError(f"the folder holds nothing of the format {source_format}", where=str(path))
            found += inside
        elif path.exists():
            found.append(_Source(path, is_named=True))
        else:
            raise InputError("there is no such file or folder", where=str(path), mend="check the path")
    return found


def _take(imported: Imported, staging: Staging, report: ImportReport, licence: str) -> None:
    header = imported.header(report.source_format, report.run, licence)
    if staging.add(imported, header):
        report.num_trajectories += 1
        report.num_turns += len(imported.turns)
        report.loss.add(imported.loss)
    else:
        report.num_present += 1


def _refuse(problem: Problem, report: ImportReport, *, strict: bool) -> None:
    if strict:
        raise UnreadableError(problem.reason, where=problem.place, mend="mend it, or import without --strict")
    report.note(problem)


def _nothing(report: ImportReport, paths: Sequence[Path]) -> InputError:
    where = ", ".join(map(str, paths[:3]))
    if not report.problems:
        return InputError(f"there is no trajectory of the format {report.source_format}", where=where)
    first = report.problems[0]
    return InputError(f"nothing can be imported: {first.reason}", where=first.place)
