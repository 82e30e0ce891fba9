"""What a curation found, as one page to read and one JSON to compare."""

from curation.report.page import write_report

__all__ = ["write_report"]
