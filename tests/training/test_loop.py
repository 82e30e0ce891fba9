from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn.functional import log_softmax

from tests.training.conftest import VOCABULARY, MakeDataset
from training import TrainingConfig, TrainingSummary, train
from training.batches import next_batch
from training.checkpoint import checkpoints
from training.loop import summed_loss
from training.model import build_model
from trajectories import InputError

CONFIG = TrainingConfig(num_steps=6, checkpoint_every=3, num_warmup_steps=2, learning_rate=0.01, num_kept_checkpoints=5)


def run(
    make_dataset: MakeDataset, output: Path, config: TrainingConfig = CONFIG, *, resume: bool = False
) -> TrainingSummary:
    return train(make_dataset(), output, config, vocabulary_size=VOCABULARY, resume=resume)


def weights(checkpoint: Path) -> bytes:
    return (checkpoint / "model.safetensors").read_bytes()


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
        ours = summed_loss(model, next_batch(make_dataset(), 1)).item()
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


def test_only_the_newest_checkpoints_are_kept(make_dataset: MakeDataset, output: Path) -> None:
    run(make_dataset, output, replace(CONFIG, checkpoint_every=1, num_kept_checkpoints=2))
    assert [path.name for path in checkpoints(output)] == ["step-00000005", "step-00000006"]


def test_a_folder_that_holds_a_run_is_not_trained_over(make_dataset: MakeDataset, output: Path) -> None:
    run(make_dataset, output)
    with pytest.raises(InputError, match="a run is here already"):
        run(make_dataset, output)


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
