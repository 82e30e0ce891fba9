"""Our trajectories in other formats."""

from trajectories.exporters.atif import Exported, atif_document, export_atif

__all__ = ["Exported", "atif_document", "export_atif"]
