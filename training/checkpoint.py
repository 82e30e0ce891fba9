"""Checkpoints: whole or not there, and enough to go on as if nothing had happened.

A checkpoint is a folder ``step-00000042`` with the model in the Hugging Face layout, ``optimiser.safetensors`` (AdamW's
moments by parameter name, and the random state) and ``state.json`` (step, position in the data, configuration).
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel
from transformers.utils.logging import disable_progress_bar

from sharding.folders import folder_written_whole
from trajectories import InputError, JsonValue
from trajectories.files import storage_errors

_RANDOM_STATE = "random_state"


@dataclass(frozen=True, slots=True)
class RunState:
    """Where a run stands, besides its tensors."""

    step: int
    data: dict[str, JsonValue]
    """``PackedDataset.state_dict()``."""
    config: dict[str, JsonValue]


def save_checkpoint(folder: Path, model: PreTrainedModel, optimiser: torch.optim.AdamW, state: RunState) -> Path:
    """Write ``folder/step-…`` aside, sync it and rename it into place; returns it."""
    final = folder / f"step-{state.step:08d}"
    disable_progress_bar()
    with storage_errors(final), folder_written_whole(final) as aside:
        model.save_pretrained(aside)
        save_file(_optimiser_tensors(model, optimiser), aside / "optimiser.safetensors")
        record = {"step": state.step, "data": state.data, "config": state.config}
        (aside / "state.json").write_text(json.dumps(record, indent=1))
        for file in aside.iterdir():
            _sync_file(file)
    return final


def checkpoints(folder: Path) -> list[Path]:
    """The whole checkpoints of a run, oldest first."""
    return sorted(folder.glob("step-*"))


def drop_old_checkpoints(folder: Path, num_kept: int) -> None:
    for old in checkpoints(folder)[:-num_kept]:
        shutil.rmtree(old)


def read_state(checkpoint: Path) -> RunState:
    try:
        record: dict[str, Any] = json.loads((checkpoint / "state.json").read_text())
        return RunState(record["step"], record["data"], record["config"])
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            "this is no checkpoint of worldtape", where=str(checkpoint), mend="resume from a step-… folder of a run"
        ) from error


def load_optimiser(checkpoint: Path, model: PreTrainedModel, optimiser: torch.optim.AdamW) -> None:
    """Put AdamW's moments and the random state back. The model's weights are loaded by ``build_model``."""
    tensors = load_file(checkpoint / "optimiser.safetensors")
    torch.set_rng_state(tensors.pop(_RANDOM_STATE))
    for name, parameter in model.named_parameters():
        optimiser.state[parameter] = {
            key: tensors[f"{name}|{key}"].to("cpu" if key == "step" else parameter.device)
            for key in ("step", "exp_avg", "exp_avg_sq")
        }


def _optimiser_tensors(model: PreTrainedModel, optimiser: torch.optim.AdamW) -> dict[str, torch.Tensor]:
    tensors = {
        f"{name}|{key}": value
        for name, parameter in model.named_parameters()
        for key, value in optimiser.state[parameter].items()
    }
    return {**tensors, _RANDOM_STATE: torch.get_rng_state()}


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
