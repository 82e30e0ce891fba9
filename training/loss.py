"""The loss of a batch, in memory that does not grow with how much of it is supervised."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Final, TypeAlias

import torch
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from training.batches import Batch

POSITIONS_AT_ONCE: Final = 4096
"""With 150,000 tokens in the vocabulary, the float32 logits of so many positions are 2.5 GB."""

Loss: TypeAlias = Callable[[PreTrainedModel, Batch], torch.Tensor]
"""The negative log-likelihood of a batch's targets, summed, in nats.

Position ids that start again at each document keep documents apart (checked by ``check_document_isolation``); only the
positions that predict a supervised token go through the vocabulary projection.
"""


def loss_for(model: PreTrainedModel) -> Loss:
    """``chunked_loss`` where it is the model's own, else (a model that caps or scales its logits) ``whole_loss``."""
    return chunked_loss if _projects_plainly(model) else whole_loss


def chunked_loss(model: PreTrainedModel, batch: Batch, *, positions_at_once: int = POSITIONS_AT_ONCE) -> torch.Tensor:
    """A ``Loss`` that holds the logits of so many positions at a time; the backward pass makes them again."""
    with _mixed_precision(batch.input_ids.device):
        body = model.base_model(input_ids=batch.input_ids, position_ids=batch.position_ids, use_cache=False)
    hidden = body.last_hidden_state[batch.predicts]
    chunks = zip(hidden.split(positions_at_once), batch.targets.split(positions_at_once), strict=True)
    head = model.get_output_embeddings()
    without_logits = partial(checkpoint, _projected_loss, head, use_reentrant=False, preserve_rng_state=False)
    return torch.stack([without_logits(*chunk) for chunk in chunks]).sum()


def whole_loss(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """A ``Loss`` that holds the logits of all supervised positions."""
    with _mixed_precision(batch.input_ids.device):
        logits = model(
            input_ids=batch.input_ids,
            position_ids=batch.position_ids,
            use_cache=False,
            logits_to_keep=batch.predicts,
        ).logits
    return cross_entropy(logits.float(), batch.targets, reduction="sum")


def _projected_loss(head: torch.nn.Module, hidden: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    with _mixed_precision(hidden.device):
        logits = head(hidden)
    return cross_entropy(logits.float(), targets, reduction="sum")


@torch.no_grad()
def _projects_plainly(model: PreTrainedModel) -> bool:
    """Whether the logits are the output embedding's of the last hidden states and nothing else, to the last bit."""
    was_training = model.training
    model.train(False)
    ids = torch.arange(2, device=model.device)[None]
    logits = model(input_ids=ids, use_cache=False).logits
    hidden = model.base_model(input_ids=ids, use_cache=False).last_hidden_state
    plain = model.get_output_embeddings()(hidden)
    model.train(was_training)
    return torch.equal(logits, plain)


def _mixed_precision(device: torch.device) -> AbstractContextManager[object]:
    return torch.autocast("cuda", dtype=torch.bfloat16) if device.type == "cuda" else nullcontext()
