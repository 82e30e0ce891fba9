"""Judge what was recorded: turn statistics, classes and the loss mask, as Dask jobs over sidecar tables."""

from curation.classes import Thresholds, TurnClass, classify
from curation.job import ClassCount, CurationSummary, JobSizes, curate
from curation.keep import KeepRatios
from curation.profile import CurationProfile
from curation.report import write_report
from curation.sidecar import Reason, Sidecar, open_sidecar
from curation.statistics import TurnStatistics, batch_statistics, turn_statistics

__all__ = [
    "ClassCount",
    "CurationProfile",
    "CurationSummary",
    "JobSizes",
    "KeepRatios",
    "Reason",
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
