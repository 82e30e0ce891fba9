"""``worldtape train``: the bundled trainer."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from worldtape.console import note, progress, show_facts, show_json
from worldtape.extras import extra

if TYPE_CHECKING:
    from training import StepMetrics

NAME = "train"


def run(
    shards: Annotated[Path, typer.Option(help="A folder of token shards, as pack wrote it.")],
    output: Annotated[Path, typer.Option(help="Where checkpoints and metrics go.")],
    model: Annotated[
        str, typer.Option(help="A checkpoint's folder or Hub name, a config.json (random weights), or 'tiny'.")
    ] = "tiny",
    steps: Annotated[int, typer.Option(help="Optimiser steps.")] = 100,
    packs: Annotated[int, typer.Option(help="Packs a micro-batch.")] = 1,
    accumulate: Annotated[int, typer.Option(help="Micro-batches a step.")] = 1,
    context: Annotated[int | None, typer.Option(help="Tokens a pack (default: as packed).")] = None,
    lr: Annotated[float, typer.Option(help="Highest learning rate.")] = 3e-4,
    warmup: Annotated[int, typer.Option(help="Steps of linear warm-up.")] = 10,
    seed: Annotated[int, typer.Option(help="Of random weights and of the order of the packs.")] = 0,
    checkpoint_every: Annotated[int, typer.Option(help="Steps between checkpoints; there is one at the end.")] = 100,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint, exactly.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Train a causal language model on packs: documents isolated, loss on kept observations only.

    Runs on CUDA in bfloat16 where there is a GPU, else on the CPU in float32.

    Example: worldtape train --shards data/shards/default --output runs/first --model Qwen/Qwen3-0.6B
    """
    with extra("train"):
        from sharding import PackedDataset, TokenShards
        from training import TrainingConfig, train

    config = TrainingConfig(
        model=model,
        num_steps=steps,
        packs_per_micro_batch=packs,
        num_micro_batches=accumulate,
        learning_rate=lr,
        num_warmup_steps=warmup,
        seed=seed,
        checkpoint_every=checkpoint_every,
    )
    opened = TokenShards(shards)
    dataset = PackedDataset(opened, context=context, seed=seed)
    note(f"train: {model} on {len(dataset)} packs of {dataset.context} tokens")
    with progress("train", "steps") as report:

        def on_step(metrics: StepMetrics) -> None:
            rate = metrics.num_tokens / metrics.seconds
            report(metrics.step, steps, f"loss {metrics.loss:.3f}, {rate:,.0f} tokens/s")

        vocabulary_size = opened.manifest.tokenizer.vocabulary_size
        summary = train(dataset, output, config, vocabulary_size=vocabulary_size, resume=resume, on_step=on_step)
    if as_json:
        show_json(
            {
                "first": asdict(summary.first),
                "last": asdict(summary.last),
                "checkpoint": str(summary.checkpoint),
                "parameters": summary.num_parameters,
                "device": summary.device,
            }
        )
        return
    show_facts(
        f"Trained {model} on {summary.device}",
        {
            "loss": f"{summary.first.loss:.3f} → {summary.last.loss:.3f} nats a token",
            "steps": summary.last.step,
            "parameters": f"{summary.num_parameters:,}",
            "checkpoint": summary.checkpoint,
        },
    )
