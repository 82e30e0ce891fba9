"""The learning rate over a run."""

import math

from training.config import TrainingConfig


def learning_rate(step: int, config: TrainingConfig) -> float:
    """The rate of optimiser step ``step`` (the first is 1): linear warm-up, then a cosine down to its final ratio.

    The cosine spans ``num_steps``. A run resumed with more of them goes on along the longer run's curve: where the
    shorter one had ended low, the rate jumps up again, and the whole is not what one run of that length would have
    been.
    """
    if step <= config.num_warmup_steps:
        return config.learning_rate * step / config.num_warmup_steps
    num_decay_steps = max(1, config.num_steps - config.num_warmup_steps)
    progress = min(1.0, (step - config.num_warmup_steps) / num_decay_steps)
    floor = config.final_learning_rate_ratio
    return config.learning_rate * (floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * progress)))
