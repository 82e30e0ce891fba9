"""A report beside another: which other one is meant, whether it can be compared, and the page of the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from curation.manifest_files import refuse_newer
from curation.report.changes import Changes, changes
from curation.report.comparing import Comparison, compare
from curation.report.facts import SCHEMA_VERSION, Report, judgement_of
from curation.report.page import NAME, rendered, write_both
from curation.sidecar import Sidecar, open_sidecar
from trajectories.dataset import Dataset
from trajectories.errors import InputError

_MOST_BYTES = 2**26
_WRITE = "run: worldtape report DATASET"


@dataclass(frozen=True, slots=True)
class OtherReport:
    """A report to compare with, and its sidecar where that is of the same data set."""

    path: Path
    report: Report
    sidecar: Sidecar | None


class _Versioned(BaseModel):
    """What any version of a report has."""

    schema_version: int
    curation: str


def find_report(dataset: Dataset, name: str, against: str) -> OtherReport:
    """The report that ``against`` means: another curation of the data set by its name, the path of a ``report.json``,
    or the folder of another data set, whose curation of the same name it is then.

    Raises:
        InputError: there is none, it is not a report of this version, it is this curation's own, or it is older than
            the judgement it is of.
    """
    path = _path_of(dataset, name, against)
    sidecar = _sidecar_of(dataset, path)
    if sidecar is not None and sidecar.name == name:
        raise InputError("a curation cannot be compared with itself", where=str(path), mend="name another")
    report = read_report(path)
    manifest = sidecar.manifest() if sidecar else None
    if sidecar is not None and (manifest is None or judgement_of(manifest) != report.judgement):
        raise InputError(
            "the report is older than its curation", where=str(path), mend=f"{_WRITE} --name {sidecar.name}"
        )
    return OtherReport(path, report, sidecar)


def _path_of(dataset: Dataset, name: str, against: str) -> Path:
    given = Path(against)
    named = dataset.folder / "curation" / against
    if given.name == against and not against.startswith(".") and (named / "manifest.json").exists():
        return named / f"{NAME}.json"
    if given.is_dir():
        return given / "curation" / name / f"{NAME}.json"
    if given.exists():
        return given
    others = sorted(path.parent.name for path in (dataset.folder / "curation").glob("[!.]*/manifest.json"))
    raise InputError(
        f"there is no curation or report '{against}'",
        where=dataset.url,
        mend=f"name a report.json, a data set's folder, or one of: {', '.join(others)}",
    )


def _sidecar_of(dataset: Dataset, report: Path) -> Sidecar | None:
    """The sidecar that a report lies beside, where it is one of this data set."""
    folder = report.resolve().parent
    is_own = folder.parent == (dataset.folder / "curation").resolve() and report.name == f"{NAME}.json"
    return open_sidecar(dataset, folder.name) if is_own else None


def read_report(path: Path) -> Report:
    """A ``report.json`` of this version.

    Raises:
        InputError: there is none, or it is another file, or another version's.
    """
    if not path.is_file():
        raise InputError("there is no report", where=str(path), mend=f"{_WRITE} --name NAME")
    written = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else b""
    try:
        version = _Versioned.model_validate_json(written).schema_version
        refuse_newer(version, SCHEMA_VERSION, what="this report", where=str(path))
        if version < SCHEMA_VERSION:
            raise InputError("an older worldtape wrote this report", where=str(path), mend=_WRITE)
        return Report.model_validate_json(written)
    except ValidationError as error:
        raise InputError("this is no report of a curation", where=str(path), mend="name a report.json") from error


def write_comparison(sidecar: Sidecar, other: OtherReport) -> tuple[Path, Comparison]:
    """Write ``compare.html`` and ``compare.json`` beside the report of a curation, which has been written before.

    Returns the page's path, and what it says.

    Raises:
        InputError: the curation has no report.
        StorageError: the disk is full or fails.
    """
    this = read_report(sidecar.folder / f"{NAME}.json")
    moved: Changes | None = changes(sidecar, other.sidecar) if other.sidecar else None
    comparison = compare(this, other.report, moved)
    page = rendered("comparison.html.j2", comparison=comparison)
    return write_both(sidecar.folder / "compare", comparison.model_dump_json(indent=2), page), comparison
