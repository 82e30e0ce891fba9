"""Imports files into a run of a data set: all of them or, where that fails, none."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from trajectories.dataset import Dataset, is_name
from trajectories.errors import InputError
from trajectories.importers.base import Imported, Importer, NoTrajectory, Recorded, Result
from trajectories.importers.dead_sandboxes import marked_dead
from trajectories.importers.fetch import Fetching, check_paths
from trajectories.importers.formats import open_importer
from trajectories.importers.incoming import LIMITS, Limits
from trajectories.importers.loss import LossReport
from trajectories.importers.observed import marked_unchanged
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.stages import STAGED, Stages
from trajectories.importers.staging import Staging, staged_import
from trajectories.importers.surrogates import SHOWN_AS_REPLACEMENT, num_halves
from trajectories.model import JsonValue
from trajectories.urls import shown_url

_MAX_NAMED: Final = 100
_NO_LICENCE: Final = "neither it nor the import names a licence; give one with --licence"


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
    num_without_turns: int = 0
    """New ones in which no action was answered, such as a talk without calls of tools."""
    num_present: int = 0
    """Trajectories that the run had already, or that came twice: not written again."""
    num_problems: int = 0
    problems: list[Problem] = field(default_factory=list)
    """The first hundred of them."""
    loss: LossReport = field(default_factory=LossReport)
    stages: Stages = field(default_factory=Stages)
    """Of all that was read, also where the run had it already."""

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
            "without_turns": self.num_without_turns,
            "already_there": self.num_present,
            "unreadable": self.num_problems,
            "problems": [{"file": p.file, "line": p.line, "reason": p.told} for p in self.problems],
            "stages": self.stages.as_json(self.num_sources),
            "loss": self.loss.as_json(),
        }


def import_trajectories(
    dataset: Dataset,
    source_format: str,
    paths: Sequence[Path | str],
    *,
    run: str | None = None,
    domain: str | None = None,
    licence: str = "",
    strict: bool = False,
    importer: Importer | None = None,
    limits: Limits = LIMITS,
    progress: Progress | None = None,
) -> ImportReport:
    """Import sources of one format into a run (by default ``import-FORMAT``), whole or not at all.

    Importing the same again writes nothing: a trajectory that the run has is counted and passed over. What cannot be
    read is named in the report, and the rest is imported.

    Args:
        paths: files, folders, archives, and any URL of these that fsspec opens. What has to be fetched or unpacked,
            and what does not fit into memory, lies in the data set's folder meanwhile, and leaves no trace there.
        domain: takes the place of the domain that the importer would choose.
        licence: of the files, for the row of every trajectory that does not name its own.
        strict: the first thing that cannot be read ends it.
        importer: of that format, with settings of its own.
        limits: to what is fetched for one path.

    Raises:
        InputError: the format, a path or a name is wrong, or ``paths`` hold no trajectory that can be imported.
        UnreadableError: something cannot be read, and ``strict`` is on.
        StorageError: the disk is full or fails.
    """
    importer = importer or open_importer(source_format)
    report = ImportReport(source_format=source_format, run=run or f"import-{source_format}")
    fetching = Fetching(importer, dataset.folder, report.loss, limits, _teller(report, progress))
    check_paths(paths, importer)
    with staged_import(dataset, report.run) as staging, closing(_results(fetching, paths, report)) as results:
        for result, name in results:
            if isinstance(result, Imported) and result.needs_licence and not (result.licence or licence):
                result = Problem.at(result.place, _NO_LICENCE)
            if isinstance(result, Imported) and domain is None and not is_name(result.domain):
                result = Problem.at(result.place, f"{result.domain!r} cannot be a domain", "give one with --domain")
            if isinstance(result, Problem):
                _refuse(result, report, strict=strict)
            elif isinstance(result, NoTrajectory):
                report.loss.skip(result.kind)
            else:
                _take(result if domain is None else replace(result, domain=domain), staging, report, licence)
            if progress is not None:
                progress(report.num_trajectories, None, name)
        if not report.num_trajectories and not report.num_present:
            raise _nothing(report, paths)
    return report


def _results(
    fetching: Fetching, paths: Sequence[Path | str], report: ImportReport
) -> Generator[tuple[Result, str], None, None]:
    """All that the sources of all paths hold, and the name of the source of each."""
    for path in paths:
        with closing(fetching.sources(path)) as sources:
            for source in sources:
                report.num_sources += 1
                if isinstance(source, Problem):
                    yield source, source.file
                    continue
                name = source.name
                for result in source.results():
                    yield result, name


def _teller(report: ImportReport, progress: Progress | None) -> Callable[[str], None] | None:
    return None if progress is None else lambda detail: progress(report.num_trajectories, None, detail)


def _take(imported: Imported, staging: Staging, report: ImportReport, licence: str) -> None:
    prompt = imported.prompt
    told_before = (imported.instruction, prompt.task_description, prompt.action_space, prompt.demonstrations)
    imported.loss.infer(SHOWN_AS_REPLACEMENT, num_halves(*told_before))
    turns = marked_unchanged(imported.turns, imported.domain, imported.initial.text, imported.loss)
    if imported.recorded == Recorded():
        # What an export of ours tells is believed as it is.
        turns = marked_dead(turns, imported.loss)
    imported = replace(imported, turns=turns)
    if report.source_format in STAGED:
        report.stages.add(imported)
    header = imported.header(report.source_format, report.run, licence)
    if staging.add(imported, header):
        report.num_trajectories += 1
        report.num_turns += len(imported.turns)
        report.num_without_turns += not imported.turns
        report.loss.add(imported.loss)
    else:
        report.num_present += 1


def _refuse(problem: Problem, report: ImportReport, *, strict: bool) -> None:
    if strict:
        raise UnreadableError(problem.told, where=problem.place, mend="mend it, or import without --strict")
    report.note(problem)


def _nothing(report: ImportReport, paths: Sequence[Path | str]) -> InputError:
    where = ", ".join(shown_url(str(path)) for path in paths[:3])
    if report.problems:
        first = report.problems[0]
        return UnreadableError(f"nothing can be imported: {first.reason}", where=first.place, mend=first.mend)
    skipped = "; ".join(f"{count:,} x {kind}" for kind, count in report.loss.skipped.most_common(2))
    what = f"there is no trajectory of the format {report.source_format}"
    return InputError(f"{what}, only {skipped}" if skipped else what, where=where)
