"""What a training run is: a frozen description that says everything and checks itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from trajectories import InputError, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """How to train. One optimiser step sees ``packs_per_micro_batch × num_micro_batches`` packs.

    Raises:
        InputError: a value out of its range.
    """

    model: str = "tiny"
    """A preset (``tiny``), a checkpoint folder or Hub name, or a ``config.json`` (weights drawn from ``seed``)."""
    num_steps: int = 100
    """Over so many steps the learning rate falls; asking for more on resumption lifts it (``learning_rate``)."""
    packs_per_micro_batch: int = 1
    num_micro_batches: int = 1
    learning_rate: float = 3e-4
    final_learning_rate_ratio: float = 0.1
    num_warmup_steps: int = 10
    weight_decay: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.95
    max_gradient_norm: float = 1.0
    seed: int = 0
    checkpoint_every: int = 100
    num_kept_checkpoints: int = 2

    def __post_init__(self) -> None:
        for name in (
            "num_steps",
            "packs_per_micro_batch",
            "num_micro_batches",
            "checkpoint_every",
            "num_kept_checkpoints",
        ):
            self._require(getattr(self, name) >= 1, name, "at least 1")
        self._require(self.learning_rate > 0, "learning_rate", "above 0")
        self._require(0 <= self.final_learning_rate_ratio <= 1, "final_learning_rate_ratio", "between 0 and 1")
        self._require(self.num_warmup_steps >= 0, "num_warmup_steps", "0 or more")
        self._require(self.weight_decay >= 0, "weight_decay", "0 or more")
        self._require(0 <= self.beta1 < 1 and 0 <= self.beta2 < 1, "beta1, beta2", "in [0, 1)")
        self._require(self.max_gradient_norm > 0, "max_gradient_norm", "above 0")

    def _require(self, holds: bool, name: str, rule: str) -> None:
        if not holds:
            raise InputError(f"training: {name} must be {rule}", mend="change it and start again")

    @property
    def num_packs_per_step(self) -> int:
        return self.packs_per_micro_batch * self.num_micro_batches

    def to_json(self) -> dict[str, JsonValue]:
        return asdict(self)
