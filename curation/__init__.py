"""Judge what was recorded: turn statistics, classes and the loss mask, as Dask jobs over sidecar tables."""

from curation.classes import Thresholds, TurnClass, classify
from curation.filters import Filters, Scope
from curation.job import ClassCount, CurationSummary, curate
from curation.keep import KeepRatios
from curation.passes import JobSizes
from curation.profile import CurationProfile, Draw
from curation.reasons import Reason
from curation.report import write_report
from curation.search_settings import Searches
from curation.sidecar import Sidecar, open_sidecar
from curation.statistics import TurnStatistics, batch_statistics, turn_statistics

__all__ = [
    "ClassCount",
    "CurationProfile",
    "CurationSummary",
    "Draw",
    "Filters",
    "JobSizes",
    "KeepRatios",
    "Reason",
    "Scope",
    "Searches",
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
