"""What a curation found, as one page to read and one JSON to compare; and what differs between two of them."""

from curation.report.against import OtherReport, find_report, read_report, write_comparison
from curation.report.comparing import Comparison, compare
from curation.report.facts import Report
from curation.report.packed import Packed
from curation.report.page import write_report

__all__ = [
    "Comparison",
    "OtherReport",
    "Packed",
    "Report",
    "compare",
    "find_report",
    "read_report",
    "write_comparison",
    "write_report",
]
