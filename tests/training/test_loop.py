from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import log_softmax
from transformers import PreTrainedModel

from tests.training.conftest import VOCABULARY, MakeDataset
from training import TrainingConfig, TrainingSummary, train
from training.batches import next_batch
from training.checkpoint import checkpoints
from training.loss import loss_for
from training.model import build_model
from training.schedule import learning_rate
from trajectories import DamagedFileError, InputError, WorldtapeError

CONFIG = TrainingConfig(num_steps=6, checkpoint_every=3, num_warmup_steps=2, learning_rate=0.01, num_kept_checkpoints=5)


def run(
    make_dataset: MakeDataset, output: Path, config: TrainingConfig = CONFIG, *, resume: bool = False
) -> TrainingSummary:
    return train(make_dataset(), output, config, resume=resume)


def weights(checkpoint: Path) -> bytes:
    return (checkpoint / "model.safetensors").read_bytes()


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


def losses(output: Path) -> list[float]:
    return [json.loads(line)["loss"] for line in (output / "metrics.jsonl").read_text().splitlines()]


def test_the_loss_is_the_mean_over_the_supervised_tokens_and_no_others(make_dataset: MakeDataset) -> None:
    """Against the definition, a token at a time."""
    model = build_model("tiny", vocabulary_size=VOCABULARY, seed=2)
    sample = make_dataset().sample_at(0)
    ids, positions = (torch.from_numpy(array)[None] for array in (sample.input_ids, sample.position_ids))
    with torch.no_grad():
        predictions = log_softmax(model(input_ids=ids, position_ids=positions, use_cache=False).logits[0].double(), -1)
        by_hand = -sum(
            predictions[place - 1, label].item() for place, label in enumerate(sample.labels) if label != -100
        )
        ours = loss_for(model)(model, next_batch(make_dataset(), 1)).item()
    assert ours == pytest.approx(by_hand, rel=1e-5)


def test_the_loss_falls(make_dataset: MakeDataset, output: Path) -> None:
    summary = run(make_dataset, output, replace(CONFIG, num_steps=30))
    assert summary.last.loss < 0.5 * summary.first.loss


def test_micro_batches_train_as_one_batch_does(make_dataset: MakeDataset, output: Path) -> None:
    """Two packs with unequal numbers of supervised tokens: every token has the same weight either way."""
    side_by_side = run(make_dataset, output / "a", replace(CONFIG, packs_per_micro_batch=2))
    one_by_one = run(make_dataset, output / "b", replace(CONFIG, num_micro_batches=2))
    assert losses(output / "a") == pytest.approx(losses(output / "b"), rel=1e-5)
    first, second = (
        build_model(str(s.checkpoint), vocabulary_size=VOCABULARY, seed=0) for s in (side_by_side, one_by_one)
    )
    for parameter, same in zip(first.parameters(), second.parameters(), strict=True):
        torch.testing.assert_close(parameter, same, rtol=1e-3, atol=1e-4)


def test_the_same_configuration_gives_the_same_bytes(make_dataset: MakeDataset, output: Path) -> None:
    one, two = (run(make_dataset, output / name).checkpoint for name in ("a", "b"))
    assert weights(one) == weights(two)


def test_a_resumed_run_ends_as_if_it_had_never_stopped(make_dataset: MakeDataset, output: Path) -> None:
    whole = run(make_dataset, output / "whole")
    run(make_dataset, output / "cut")
    shutil.rmtree(output / "cut" / "step-00000006")  # as if killed after step 5: metrics are ahead of the checkpoint
    resumed = run(make_dataset, output / "cut", resume=True)
    assert weights(resumed.checkpoint) == weights(whole.checkpoint)
    assert losses(output / "cut") == losses(output / "whole")
    assert resumed.first.step == 1


def test_what_a_killed_checkpoint_left_is_not_taken_for_one(make_dataset: MakeDataset, output: Path) -> None:
    half = output / ".step-00000003.part"
    half.mkdir(parents=True)
    (half / "model.safetensors").write_bytes(b"half")
    summary = run(make_dataset, output)
    assert [path.name for path in checkpoints(output)] == ["step-00000003", "step-00000006"]
    assert summary.checkpoint.name == "step-00000006"
    assert not half.exists()


def test_the_tokenizer_of_the_shards_lies_beside_the_model(make_dataset: MakeDataset, output: Path) -> None:
    checkpoint = run(make_dataset, output, replace(CONFIG, num_steps=1)).checkpoint
    for file in make_dataset().shards.tokenizer_folder.iterdir():
        assert (checkpoint / file.name).read_bytes() == file.read_bytes()


def test_a_run_that_diverges_stops_and_its_last_checkpoint_stands(
    make_dataset: MakeDataset, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverging(step: int, config: TrainingConfig) -> float:
        return learning_rate(step, config) if step < 4 else float("inf")

    monkeypatch.setattr("training.loop.learning_rate", diverging)
    with pytest.raises(WorldtapeError, match=r"training diverged: the loss is nan.*step 5.*lower learning rate"):
        run(make_dataset, output)
    assert [path.name for path in checkpoints(output)] == ["step-00000003"]
    assert len(losses(output)) == 4


def test_a_line_of_metrics_cut_by_a_kill_is_made_again(make_dataset: MakeDataset, output: Path) -> None:
    run(make_dataset, output, replace(CONFIG, num_steps=3))
    whole = losses(output)
    with (output / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "loss": 1.')
    run(make_dataset, output, replace(CONFIG, num_steps=4), resume=True)
    assert losses(output)[:3] == whole
    assert len(losses(output)) == 4


def test_a_model_that_draws_random_numbers_resumes_exactly_too(make_dataset: MakeDataset, output: Path) -> None:
    config_file = output.parent / "dropout.json"
    config = build_model("tiny", vocabulary_size=VOCABULARY, seed=0).config
    config.attention_dropout = 0.5
    config_file.write_text(json.dumps(config.to_dict(), default=str))
    with_dropout = replace(CONFIG, model=str(config_file))
    whole = run(make_dataset, output / "whole", with_dropout)
    run(make_dataset, output / "cut", with_dropout)
    shutil.rmtree(output / "cut" / "step-00000006")
    torch.rand(7)  # as whatever else runs in the process that resumes
    resumed = run(make_dataset, output / "cut", with_dropout, resume=True)
    assert weights(resumed.checkpoint) == weights(whole.checkpoint)


def test_a_parameter_without_a_gradient_so_far_does_not_hinder_the_resumption(
    make_dataset: MakeDataset, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an expert that no token has been sent to."""

    def frozen(*arguments: Any, **options: Any) -> PreTrainedModel:
        model = build_model(*arguments, **options)
        model.model.norm.weight.requires_grad_(False)
        return model

    monkeypatch.setattr("training.loop.build_model", frozen)
    run(make_dataset, output, replace(CONFIG, num_steps=3))
    assert run(make_dataset, output, resume=True).last.step == 6


def test_only_the_newest_checkpoints_are_kept(make_dataset: MakeDataset, output: Path) -> None:
    run(make_dataset, output, replace(CONFIG, checkpoint_every=1, num_kept_checkpoints=2))
    assert [path.name for path in checkpoints(output)] == ["step-00000005", "step-00000006"]


def test_a_folder_that_holds_a_run_is_not_trained_over(make_dataset: MakeDataset, output: Path) -> None:
    run(make_dataset, output)
    with pytest.raises(InputError, match="a run is here already"):
        run(make_dataset, output)


@pytest.mark.parametrize("name", ["model.safetensors", "optimiser.safetensors", "state.json", "config.json"])
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b""), flip_a_bit])
def test_a_damaged_checkpoint_is_named_with_the_one_before(
    make_dataset: MakeDataset, output: Path, name: str, damage: Callable[[Path], object]
) -> None:
    longer = replace(CONFIG, num_steps=7)
    whole = run(make_dataset, output)
    damage(whole.checkpoint / name)
    with pytest.raises(DamagedFileError, match=r"remove the folder step-00000006; .* goes on from step-00000003"):
        run(make_dataset, output, longer, resume=True)
    shutil.rmtree(whole.checkpoint)
    assert run(make_dataset, output, longer, resume=True).last.step == 7


def test_there_must_be_something_to_resume(make_dataset: MakeDataset, output: Path) -> None:
    with pytest.raises(InputError, match="no checkpoint to resume"):
        run(make_dataset, output, resume=True)


def test_a_complete_run_is_not_resumed(make_dataset: MakeDataset, output: Path) -> None:
    run(make_dataset, output)
    with pytest.raises(InputError, match="complete at step 6"):
        run(make_dataset, output, resume=True)


def test_a_run_is_not_resumed_under_another_configuration(make_dataset: MakeDataset, output: Path) -> None:
    run(make_dataset, output, replace(CONFIG, num_steps=3))
    with pytest.raises(InputError, match=r"learning_rate was 0\.01 and is now 0\.5"):
        run(make_dataset, output, replace(CONFIG, learning_rate=0.5), resume=True)


def test_many_processes_are_refused_until_they_are_supported(
    make_dataset: MakeDataset, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="one process"):
        run(make_dataset, output)
