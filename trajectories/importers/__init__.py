"""Other people's trajectories into ours, each with a report of what was lost."""

from trajectories.importers.base import Imported, Importer, NoTrajectory, Result
from trajectories.importers.corpus import Corpus, CorpusSettings, Field
from trajectories.importers.file_names import files_named
from trajectories.importers.formats import FORMATS, open_importer
from trajectories.importers.importing import ImportReport, import_trajectories
from trajectories.importers.incoming import LIMITS, Limits
from trajectories.importers.loss import LossReport
from trajectories.importers.problems import Problem, UnreadableError
from trajectories.importers.turn_list import TurnList, answer

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
