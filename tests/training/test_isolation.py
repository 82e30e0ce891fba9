from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForCausalLM, PreTrainedModel, Qwen3Config, Qwen3NextConfig

from sharding import TokenShards
from tests.training.conftest import VOCABULARY, MakeDataset
from training.batches import next_batch
from training.model import build_model, check_document_isolation
from trajectories import InputError


@pytest.fixture(scope="module")
def model() -> PreTrainedModel:
    model = build_model("tiny", vocabulary_size=VOCABULARY, seed=1)
    model.eval()
    return model


@torch.no_grad()
def test_packed_documents_have_the_logits_they_have_alone(
    model: PreTrainedModel, make_dataset: MakeDataset, shards: TokenShards
) -> None:
    dataset = make_dataset()
    seen = set()
    for number in range(len(dataset)):
        sample = dataset.sample(number)
        ids, positions = (torch.from_numpy(array)[None] for array in (sample.input_ids, sample.position_ids))
        packed = model(input_ids=ids, position_ids=positions, use_cache=False).logits[0]
        for begin, end in zip(sample.cu_seqlens, sample.cu_seqlens[1:], strict=False):
            document = int(sample.document_ids[begin])
            if document < 0:
                continue
            seen.add(document)
            alone = model(input_ids=ids[:, begin:end], use_cache=False).logits[0]
            torch.testing.assert_close(packed[begin:end], alone, rtol=0, atol=1e-5)
    assert seen == set(range(shards.num_documents))


@torch.no_grad()
def test_two_packs_side_by_side_have_the_logits_they_have_alone(
    model: PreTrainedModel, make_dataset: MakeDataset
) -> None:
    batch = next_batch(make_dataset(), 2)
    together = model(input_ids=batch.input_ids, position_ids=batch.position_ids, use_cache=False).logits
    for row in range(2):
        alone = model(
            input_ids=batch.input_ids[row : row + 1], position_ids=batch.position_ids[row : row + 1], use_cache=False
        ).logits
        torch.testing.assert_close(together[row], alone[0], rtol=0, atol=1e-5)


def test_a_model_that_carries_state_across_documents_is_refused() -> None:
    config = Qwen3NextConfig(
        vocab_size=128,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=16,
        linear_num_key_heads=2,
        linear_num_value_heads=2,
        linear_key_head_dim=16,
        linear_value_head_dim=16,
        num_experts=2,
        num_experts_per_tok=1,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
        layer_types=["linear_attention", "full_attention"],
    )
    with pytest.raises(InputError, match="packed documents see each other"):
        check_document_isolation(AutoModelForCausalLM.from_config(config), "linear")


def test_attention_that_ignores_boundaries_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a kernel does that takes the causal mask for granted: here, by hiding the position ids from the mask."""
    config = Qwen3Config(
        vocab_size=128, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2
    )
    model = AutoModelForCausalLM.from_config(config)
    forward = model.forward

    def deaf(**arguments: torch.Tensor) -> object:
        ids = arguments["input_ids"]
        return forward(**arguments | {"attention_mask": torch.ones_like(ids)})

    monkeypatch.setattr(model, "forward", deaf)
    with pytest.raises(InputError, match="packed documents see each other"):
        check_document_isolation(model, "deaf")


def test_a_model_with_too_few_embeddings_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("small")
    build_model("tiny", vocabulary_size=50, seed=0).save_pretrained(folder)
    with pytest.raises(InputError, match="50 token embeddings but the shards use ids up to 99"):
        build_model(str(folder), vocabulary_size=100, seed=0)


def test_a_model_that_is_not_there_is_one_clear_line(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("empty")
    with pytest.raises(InputError, match="give a checkpoint folder") as raised:
        build_model(str(folder), vocabulary_size=100, seed=0)
    assert "\n" not in str(raised.value)


def test_weights_that_are_cut_are_one_clear_line(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cut")
    build_model("tiny", vocabulary_size=50, seed=0).save_pretrained(folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InputError, match="no model can be built") as raised:
        build_model(str(folder), vocabulary_size=50, seed=0)
    assert "\n" not in str(raised.value)


def test_a_config_file_builds_a_model_from_its_seed(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("config")
    build_model("tiny", vocabulary_size=50, seed=0).config.save_pretrained(folder)
    one, same, other = (build_model(str(folder / "config.json"), vocabulary_size=50, seed=seed) for seed in (4, 4, 5))
    weight = "model.embed_tokens.weight"
    assert torch.equal(one.state_dict()[weight], same.state_dict()[weight])
    assert not torch.equal(one.state_dict()[weight], other.state_dict()[weight])
