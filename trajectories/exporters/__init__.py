"""Our trajectories in other formats."""

from trajectories.exporters.atif import atif_document, export_atif

__all__ = ["atif_document", "export_atif"]
