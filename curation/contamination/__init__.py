"""Benchmark items in the training data, by n-gram overlap."""

from curation.contamination.benchmark_files import (
    BenchmarkItem,
    benchmark_name,
    read_benchmark,
    require_benchmark,
    unread_files,
)
from curation.contamination.job import find_contamination
from curation.contamination.scan import Field
from curation.contamination.table import Contamination, ContaminationSummary, open_contamination
from curation.search_settings import ContaminationSettings

__all__ = [
    "BenchmarkItem",
    "Contamination",
    "ContaminationSettings",
    "ContaminationSummary",
    "Field",
    "benchmark_name",
    "find_contamination",
    "open_contamination",
    "read_benchmark",
    "require_benchmark",
    "unread_files",
]
