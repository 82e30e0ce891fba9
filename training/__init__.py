"""The bundled trainer: a readable loop over packed shards with the loss on kept observation tokens only."""

from training.config import TrainingConfig
from training.loop import StepMetrics, TrainingSummary, train

__all__ = ["StepMetrics", "TrainingConfig", "TrainingSummary", "train"]
