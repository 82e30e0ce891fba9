"""Checkpoints: whole or not there, and enough to go on as if nothing had happened.

A checkpoint is a folder ``step-00000042`` with the model and its tokenizer in the Hugging Face layout,
``optimiser.safetensors`` (AdamW's moments by parameter name) and ``state.json`` (step, position in the data,
configuration, checksums of the other files). Random numbers need no state: every step draws them from its own seed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel

from sharding.manifest import FileFacts
from trajectories import DamagedFileError, JsonValue, StorageError
from trajectories.files import storage_errors
from trajectories.folders import folder_written_whole

_STATE = "state.json"
_FULL = "os error 28"
"""How safetensors says that there is no space left."""


@dataclass(frozen=True, slots=True)
class RunState:
    """Where a run stands, besides its tensors."""

    step: int
    data: dict[str, JsonValue]
    """``PackedDataset.state_dict()``."""
    config: dict[str, JsonValue]


def save_checkpoint(
    folder: Path, model: PreTrainedModel, optimiser: torch.optim.AdamW, state: RunState, *, tokenizer: Path
) -> Path:
    """Write ``folder/step-…`` aside, sync it and rename it into place; returns it.

    ``tokenizer`` is the folder of the shards' tokenizer, which goes beside the model.

    Raises:
        StorageError: the disk is full or fails; nothing half-written is left.
    """
    final = folder / f"step-{state.step:08d}"
    with storage_errors(final), _safetensors_errors(final), folder_written_whole(final) as aside:
        model.save_pretrained(aside)
        shutil.copytree(tokenizer, aside, dirs_exist_ok=True)
        save_file(_optimiser_tensors(model, optimiser), aside / "optimiser.safetensors")
        files = {name: facts.model_dump() for name, facts in FileFacts.below(aside).items()}
        record = {"step": state.step, "data": state.data, "config": state.config, "files": files}
        (aside / _STATE).write_text(json.dumps(record, indent=1))
    return final


@contextmanager
def _safetensors_errors(place: Path) -> Iterator[None]:
    """As ``storage_errors``, for a library whose errors are none of the operating system's."""
    try:
        yield
    except SafetensorError as error:
        what = "the disk is full" if _FULL in str(error) else str(error)
        raise StorageError(what, where=str(place), mend="free some space, and go on with --resume") from error


def checkpoints(folder: Path) -> list[Path]:
    """The whole checkpoints of a run, oldest first."""
    return sorted(folder.glob("step-*"))


def drop_old_checkpoints(folder: Path, num_kept: int) -> None:
    """Remove all but the newest ones; a kill meanwhile leaves nothing that looks like a checkpoint."""
    for old in checkpoints(folder)[:-num_kept]:
        aside = old.with_name(f".{old.name}.old")
        shutil.rmtree(aside, ignore_errors=True)
        old.rename(aside)
        shutil.rmtree(aside)


def read_state(checkpoint: Path) -> RunState:
    """Where the run stood, of a checkpoint that is whole.

    Raises:
        DamagedFileError: one of its files is not what was written.
    """
    try:
        record: dict[str, Any] = json.loads((checkpoint / _STATE).read_text())
        state = RunState(record["step"], record["data"], record["config"])
        files = {name: FileFacts.model_validate(facts) for name, facts in record["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedFileError("this checkpoint says not where its run stood", where=str(checkpoint)) from error
    for name, facts in files.items():
        path = checkpoint / name
        if not path.is_file() or FileFacts.of(path) != facts:
            raise DamagedFileError("a file of the checkpoint is not what was written", where=str(path))
    return state


def load_optimiser(checkpoint: Path, model: PreTrainedModel, optimiser: torch.optim.AdamW) -> None:
    """Put AdamW's moments back. The model's weights are loaded by ``build_model``."""
    tensors = load_file(checkpoint / "optimiser.safetensors")
    parameters = dict(model.named_parameters())
    for name, tensor in tensors.items():  # none of a parameter that has had no gradient yet
        parameter_name, key = name.split("|")
        parameter = parameters[parameter_name]
        optimiser.state[parameter][key] = tensor.to("cpu" if key == "step" else parameter.device)


def _optimiser_tensors(model: PreTrainedModel, optimiser: torch.optim.AdamW) -> dict[str, torch.Tensor]:
    return {
        f"{name}|{key}": value
        for name, parameter in model.named_parameters()
        for key, value in optimiser.state[parameter].items()
    }
