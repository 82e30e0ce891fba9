"""Other people's trajectories into ours, each with a report of what was lost."""

from trajectories.importers.base import (
    FORMATS,
    Imported,
    Importer,
    NoTrajectory,
    Problem,
    Result,
    TurnList,
    UnreadableError,
    answer,
    files_named,
    open_importer,
)
from trajectories.importers.importing import ImportReport, import_trajectories
from trajectories.importers.loss import LossReport

__all__ = [
    "FORMATS",
    "ImportReport",
    "Imported",
    "Importer",
    "LossReport",
    "NoTrajectory",
    "Problem",
    "Result",
    "TurnList",
    "UnreadableError",
    "answer",
    "files_named",
    "import_trajectories",
    "open_importer",
]
