"""Exact and near-duplicates among turns and whole trajectories: clusters with one survivor, as sidecar tables."""

from curation.duplicates.job import find_duplicates
from curation.duplicates.table import Duplicates, DuplicatesSummary, Unit, UnitSummary, open_duplicates
from curation.search_settings import DuplicateSettings

__all__ = [
    "DuplicateSettings",
    "Duplicates",
    "DuplicatesSummary",
    "Unit",
    "UnitSummary",
    "find_duplicates",
    "open_duplicates",
]
