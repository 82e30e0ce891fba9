"""The loss in chunks is the loss, and needs the memory of one of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from transformers import Gemma2Config, Gemma2ForCausalLM, PreTrainedModel

from tests.training.conftest import VOCABULARY, MakeDataset
from training.batches import Batch, next_batch
from training.loss import chunked_loss, loss_for, whole_loss
from training.model import build_model


@pytest.fixture
def model() -> PreTrainedModel:
    return build_model("tiny", vocabulary_size=VOCABULARY, seed=2).double()


@pytest.fixture
def batch(make_dataset: MakeDataset) -> Batch:
    return next_batch(make_dataset(), 2)


def gradients_of(model: PreTrainedModel, loss: torch.Tensor) -> list[torch.Tensor]:
    return list(torch.autograd.grad(loss, list(model.parameters())))


@pytest.mark.parametrize("positions_at_once", [1, 7, 4096])
def test_loss_and_gradients_in_chunks_are_those_of_the_whole(
    model: PreTrainedModel, batch: Batch, positions_at_once: int
) -> None:
    assert batch.num_targets > 7
    chunked, whole = chunked_loss(model, batch, positions_at_once=positions_at_once), whole_loss(model, batch)
    torch.testing.assert_close(chunked, whole, rtol=1e-6, atol=0)  # the sum itself is in float32
    for ours, theirs in zip(gradients_of(model, chunked), gradients_of(model, whole), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-8)


class LargestWidth(torch.overrides.TorchFunctionMode):
    """How many rows of logits were ever made at once."""

    rows = 0

    def __torch_function__(
        self, function: Callable[..., object], types: object, args: tuple[object, ...] = (), kwargs: object = None
    ) -> object:
        result = function(*args, **(kwargs or {}))  # type: ignore[arg-type]
        if isinstance(result, torch.Tensor) and result.ndim and result.shape[-1] == VOCABULARY:
            self.rows = max(self.rows, result.numel() // VOCABULARY)
        return result


def test_no_more_logits_are_made_at_a_time_than_a_chunk_has(model: PreTrainedModel, batch: Batch) -> None:
    with LargestWidth() as seen:
        chunked_loss(model, batch, positions_at_once=5).backward()
    assert seen.rows == 5
    with LargestWidth() as seen:
        whole_loss(model, batch).backward()
    assert seen.rows == batch.num_targets


def test_a_model_that_caps_its_logits_is_not_trained_without_the_cap() -> None:
    capped = Gemma2ForCausalLM(
        Gemma2Config(
            vocab_size=100,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
        )
    )
    assert loss_for(capped) is whole_loss
    capped.config.final_logit_softcapping = None
    assert loss_for(capped) is chunked_loss


def test_loss_for_leaves_the_model_as_it_was(model: PreTrainedModel) -> None:
    model.train()
    assert loss_for(model) is chunked_loss
    assert model.training
