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
from trajectories.importers.corpus import Corpus, CorpusSettings, Field
from trajectories.importers.importing import ImportReport, import_trajectories
from trajectories.importers.incoming import LIMITS, Limits
from trajectories.importers.loss import LossReport

__all__ = [
    "FORMATS",
    "LIMITS",
    "Corpus",
    "CorpusSettings",
    "Field",
    "ImportReport",
    "Imported",
    "Importer",
    "Limits",
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
