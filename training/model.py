"""Build the model to train, and refuse one that cannot keep packed documents apart."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel, Qwen3Config
from transformers.utils.logging import disable_progress_bar

from trajectories import InputError

PRESETS = ("tiny",)


def build_model(name: str, *, vocabulary_size: int, seed: int) -> PreTrainedModel:
    """A causal language model in float32.

    Args:
        name: a preset, a ``config.json`` (random weights from ``seed``), or the folder or Hub name of a checkpoint.
        vocabulary_size: how many ids the shards use; the embedding must have at least as many rows.
        seed: of the random weights.

    Raises:
        InputError: there is no such model, its vocabulary is too small, or it leaks between packed documents.
    """
    disable_progress_bar()
    torch.manual_seed(seed)
    model = _from_name(name, vocabulary_size)
    num_rows = _num_embeddings(model)
    if num_rows < vocabulary_size:
        raise InputError(
            f"the model has {num_rows} token embeddings but the shards use ids up to {vocabulary_size - 1}",
            where=name,
            mend="train the model that belongs to the shards' tokenizer, or pack again with the model's own tokenizer",
        )
    check_document_isolation(model, name)
    return model


def _from_name(name: str, vocabulary_size: int) -> PreTrainedModel:
    if name in PRESETS:
        return _from_config(_tiny(vocabulary_size))
    try:
        if name.endswith(".json"):
            return _from_config(AutoConfig.from_pretrained(Path(name)))
        return AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32, attn_implementation="sdpa")
    except (OSError, ValueError, SafetensorError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise InputError(
            f"no model can be built: {first_line}",
            where=name,
            mend=f"give a checkpoint folder, a Hub name, a config.json, or a preset ({', '.join(PRESETS)})",
        ) from error


def _from_config(config: PreTrainedConfig) -> PreTrainedModel:
    built = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="sdpa")
    return cast("PreTrainedModel", built)


def _num_embeddings(model: PreTrainedModel) -> int:
    return cast("torch.nn.Embedding", model.get_input_embeddings()).num_embeddings


def _tiny(vocabulary_size: int) -> Qwen3Config:
    """A Qwen3 small enough to learn something on two CPU cores in a minute; nearly all of it is the embedding."""
    return Qwen3Config(
        vocab_size=vocabulary_size,
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=32768,
        tie_word_embeddings=True,
    )


@torch.no_grad()
def check_document_isolation(model: PreTrainedModel, name: str, *, tolerance: float = 1e-3) -> None:
    """Run two short documents packed and apart; refuse a model whose logits differ.

    Sliding windows, attention back-ends that ignore boundaries and recurrent states that run on all show up here,
    whatever the architecture calls itself.

    Raises:
        InputError: the largest difference of the second document's logits is above ``tolerance``.
    """
    was_training = model.training
    model.train(False)
    generator = torch.Generator().manual_seed(0)
    first, second = (torch.randint(_num_embeddings(model), (1, size), generator=generator) for size in (11, 13))
    positions = torch.cat([torch.arange(first.shape[1]), torch.arange(second.shape[1])])[None]
    packed = model(input_ids=torch.cat([first, second], 1), position_ids=positions, use_cache=False).logits
    apart = model(input_ids=second, use_cache=False).logits
    model.train(was_training)
    difference = float((packed[:, first.shape[1] :] - apart).abs().max())
    if not difference <= tolerance:
        raise InputError(
            f"this architecture lets packed documents see each other (logits differ by {difference:.2g})",
            where=f"{name}, {model.config.model_type}",
            mend="train an architecture whose attention honours document boundaries, or pack one document a pack",
        )
