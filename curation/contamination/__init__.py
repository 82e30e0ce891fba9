"""Benchmark items in the training data, by n-gram overlap, and whether pools of data have sources in common."""

from curation.contamination.benchmark_files import BenchmarkItem, read_benchmark, require_benchmark, unread_files
from curation.contamination.job import find_contamination
from curation.contamination.pools import Key, Violation, disjoint_groups
from curation.contamination.scan import Field
from curation.contamination.table import Contamination, ContaminationSummary, open_contamination
from curation.search_settings import ContaminationSettings

__all__ = [
    "BenchmarkItem",
    "Contamination",
    "ContaminationSettings",
    "ContaminationSummary",
    "Field",
    "Key",
    "Violation",
    "disjoint_groups",
    "find_contamination",
    "open_contamination",
    "read_benchmark",
    "require_benchmark",
    "unread_files",
]
