"""The bundled trainer: one loop over packed shards, loss on the kept observation tokens only."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import PreTrainedModel

from sharding import PackedDataset
from training.batches import next_batch
from training.checkpoint import (
    RunState,
    checkpoints,
    drop_old_checkpoints,
    load_optimiser,
    read_state,
    save_checkpoint,
)
from training.config import TrainingConfig
from training.loss import Loss, loss_for
from training.model import build_model
from training.schedule import learning_rate
from trajectories import DamagedFileError, InputError, JsonValue, WorldtapeError
from trajectories.files import storage_errors, written_whole

METRICS = "metrics.jsonl"
_SEED_STRIDE = 0x9E3779B97F4A7C15
"""Keeps the seeds of steps apart from each other and from those of other runs."""
_MAY_CHANGE = frozenset({"num_steps", "checkpoint_every", "num_kept_checkpoints"})


@dataclass(frozen=True, slots=True)
class StepMetrics:
    """One optimiser step, a line of ``metrics.jsonl``."""

    step: int
    loss: float
    """Mean negative log-likelihood of the step's supervised tokens, in nats."""
    learning_rate: float
    gradient_norm: float
    """Before clipping."""
    num_supervised_tokens: int
    num_tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class TrainingSummary:
    """What a run came to."""

    first: StepMetrics
    last: StepMetrics
    checkpoint: Path
    num_parameters: int
    device: str


def train(
    dataset: PackedDataset,
    output: Path,
    config: TrainingConfig,
    *,
    resume: bool = False,
    on_step: Callable[[StepMetrics], None] | None = None,
) -> TrainingSummary:
    """Train a causal language model on packs, and leave checkpoints and ``metrics.jsonl`` in ``output``.

    Args:
        dataset: an endless, seeded iterator over packs; its position is saved and restored.
        output: a new folder, or with ``resume`` one that holds a run: its last checkpoint is then continued exactly.

    Raises:
        InputError: the folder holds a run already (or none to resume), or the model does not fit the shards.
        DamagedFileError: the checkpoint to go on from is not what was written; or a token id is out of range, where
            the shards were opened without comparing their checksums.
        WorldtapeError: the loss or the gradient became infinite or no number; the last checkpoint stands.
        StorageError: the disk is full or fails; the last checkpoint stands.
    """
    _refuse_many_processes()
    start = _find_start(output, config, resume)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    made_by = dataset.shards.manifest
    model = build_model(
        str(start.checkpoint) if start else config.model,
        vocabulary_size=made_by.tokenizer.vocabulary_size,
        seed=config.seed,
    )
    if model.generation_config is not None:
        model.generation_config.eos_token_id = made_by.chat_template.stop_token_id  # where a served model stops
    loss_of = loss_for(model)
    model.to(device)  # type: ignore[arg-type]  # the wrapper's stub binds self wrongly
    model.train()
    optimiser = _build_optimiser(model, config)
    first_step = 1
    if start is not None:
        dataset.load_state_dict(start.state.data)
        load_optimiser(start.checkpoint, model, optimiser)
        first_step = start.state.step + 1
    history = _Metrics(output / METRICS, keep_until=first_step - 1)
    checkpoint = start.checkpoint if start else None
    for step in range(first_step, config.num_steps + 1):
        metrics = _train_step(model, loss_of, optimiser, dataset, config, step, device)
        history.append(metrics)
        if on_step is not None:
            on_step(metrics)
        if step % config.checkpoint_every == 0 or step == config.num_steps:
            run_state = RunState(step, dataset.state_dict(), config.to_json())
            tokenizer = dataset.shards.tokenizer_folder
            checkpoint = save_checkpoint(output, model, optimiser, run_state, tokenizer=tokenizer)
            drop_old_checkpoints(output, config.num_kept_checkpoints)
    assert checkpoint is not None
    return TrainingSummary(
        history.rows[0], history.rows[-1], checkpoint, sum(p.numel() for p in model.parameters()), device.type
    )


def _train_step(
    model: PreTrainedModel,
    loss_of: Loss,
    optimiser: torch.optim.AdamW,
    dataset: PackedDataset,
    config: TrainingConfig,
    step: int,
    device: torch.device,
) -> StepMetrics:
    """One optimiser step: every micro-batch is divided by the same number, the step's supervised tokens.

    (A mean of micro-batch means would weigh a token by how few its neighbours are.)
    """
    started = time.perf_counter()
    torch.manual_seed((config.seed + step * _SEED_STRIDE) % 2**63)
    batches = [next_batch(dataset, config.packs_per_micro_batch) for _ in range(config.num_micro_batches)]
    num_supervised = sum(batch.num_targets for batch in batches)
    rate = learning_rate(step, config)
    for group in optimiser.param_groups:
        group["lr"] = rate
    total = 0.0
    for batch in batches:
        if batch.num_targets:
            loss = loss_of(model, batch.to(device)) / num_supervised
            loss.backward()
            total += loss.item()
    norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), config.max_gradient_norm))
    if not (math.isfinite(total) and math.isfinite(norm)):
        raise WorldtapeError(
            f"training diverged: the loss is {total}, its gradient {norm}",
            where=f"step {step}",
            mend="start again with a lower learning rate or a longer warm-up",
        )
    optimiser.step()
    optimiser.zero_grad()
    return StepMetrics(
        step=step,
        loss=total,
        learning_rate=rate,
        gradient_norm=norm,
        num_supervised_tokens=num_supervised,
        num_tokens=sum(batch.input_ids.numel() for batch in batches),
        seconds=time.perf_counter() - started,
    )


def _build_optimiser(model: PreTrainedModel, config: TrainingConfig) -> torch.optim.AdamW:
    """AdamW; weight decay only on matrices, as usual, not on norms and biases."""
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(config.beta1, config.beta2))


class _Start(NamedTuple):
    checkpoint: Path
    state: RunState


def _find_start(output: Path, config: TrainingConfig, resume: bool) -> _Start | None:
    """The checkpoint to go on from; None for a new run."""
    found = checkpoints(output)
    if not resume:
        if found:
            raise InputError("a run is here already", where=str(output), mend="add --resume, or choose another folder")
        return None
    if not found:
        raise InputError("there is no checkpoint to resume", where=str(output), mend="leave out --resume")
    state = _state_of_newest(found)
    if state.step >= config.num_steps:
        raise InputError(
            f"the run is complete at step {state.step}", where=str(found[-1]), mend="ask for more steps to go on"
        )
    _refuse_other_config(state.config, config, found[-1])
    return _Start(found[-1], state)


def _state_of_newest(found: list[Path]) -> RunState:
    """A damaged checkpoint is not passed over in silence: to lose steps is for its owner to decide."""
    try:
        return read_state(found[-1])
    except DamagedFileError as damage:
        older = found[-2].name if len(found) > 1 else None
        advice = f"--resume then goes on from {older}" if older else "start a new run; there is no older one"
        raise DamagedFileError(
            damage.what, where=damage.where, mend=f"remove the folder {found[-1].name}; {advice}"
        ) from damage


def _refuse_other_config(recorded: dict[str, JsonValue], config: TrainingConfig, where: Path) -> None:
    """A resumed run is the same run: only its length and its checkpoints may change."""
    changed = [
        f"{key} was {recorded.get(key)!r} and is now {value!r}"
        for key, value in config.to_json().items()
        if key not in _MAY_CHANGE and recorded.get(key) != value
    ]
    if changed:
        raise InputError(
            f"the run was started with another configuration: {'; '.join(changed)}",
            where=str(where),
            mend="resume with the values it was started with, or start a new run",
        )


def _refuse_many_processes() -> None:
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise InputError(
            "the bundled trainer runs in one process so far",
            where="WORLD_SIZE",
            mend="start it without torchrun, or export the shards to a distributed trainer",
        )


class _Metrics:
    """``metrics.jsonl``: lines after the checkpoint that is resumed from are dropped, they will be made again."""

    def __init__(self, path: Path, *, keep_until: int) -> None:
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        # A line without its end is what a killed writer left of it.
        rows = [StepMetrics(**json.loads(line)) for line in lines if line.endswith("\n")]
        self.rows = [row for row in rows if row.step <= keep_until]
        self._path = path
        with written_whole(path) as file:
            file.write("".join(map(_line, self.rows)).encode())

    def append(self, row: StepMetrics) -> None:
        self.rows.append(row)
        with storage_errors(self._path), self._path.open("a") as file:
            file.write(_line(row))


def _line(row: StepMetrics) -> str:
    return json.dumps(asdict(row)) + "\n"
