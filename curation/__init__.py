"""Judge what was recorded: turn statistics, classes and the loss mask, as Dask jobs over sidecar tables."""

from curation.classes import Thresholds, TurnClass, classify
from curation.filters import Filters, Scope
from curation.job import ClassCount, CurationSummary, JobSizes, curate
from curation.keep import KeepRatios
from curation.profile import CurationProfile
from curation.reasons import Reason
from curation.report import write_report
from curation.sidecar import Sidecar, open_sidecar
from curation.statistics import TurnStatistics, batch_statistics, turn_statistics

__all__ = [
    "ClassCount",
    "CurationProfile",
    "CurationSummary",
    "Filters",
    "JobSizes",
    "KeepRatios",
    "Reason",
    "Scope",
    "Sidecar",
    "Thresholds",
    "TurnClass",
    "TurnStatistics",
    "batch_statistics",
    "classify",
    "curate",
    "open_sidecar",
    "turn_statistics",
    "write_report",
]
