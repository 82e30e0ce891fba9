"""``worldtape train``: the bundled trainer."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trajectories import InputError
from trajectories.plurals import plural
from worldtape.console import note, progress, show_facts, show_json
from worldtape.extras import extra
from worldtape.options import path_here

if TYPE_CHECKING:
    from training import StepMetrics

NAME = "train"

_LONG_TO_CHECK = 2 * 10**9
"""Bytes that take a few seconds to read."""


@extra("train")
def run(
    shards: Annotated[
        Path,
        typer.Option(help="A folder of token shards, as pack wrote it.", parser=path_here, metavar="PATH"),
    ],
    output: Annotated[Path, typer.Option(help="Where checkpoints and metrics go.", parser=path_here, metavar="PATH")],
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
    from sharding import PackedDataset, TokenShards
    from training import TrainingConfig, train
    from worldtape.hub import quiet_hub

    quiet_hub()
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
    if opened.num_bytes > _LONG_TO_CHECK:
        note(f"train: comparing the checksums of {opened.num_bytes / 1e9:,.0f} GB of shards")
    opened.verify()
    dataset = PackedDataset(opened, context=context, seed=seed)
    if dataset.context > opened.num_tokens:
        raise InputError(
            f"a context of {dataset.context:,} tokens is longer than all documents together ({opened.num_tokens:,})",
            where=str(shards),
            mend="give a smaller --context; the rest of every pack would be padding",
        )
    headings = [f"{model} on {plural(len(dataset), 'pack')} of {plural(dataset.context, 'token')}"]
    if warmup >= steps:
        headings.append(
            f"the run ends within its warm-up of {plural(warmup, 'step')}, before the learning rate is at its highest"
        )
    with progress("train", "step", headings=headings) as report:

        def on_step(metrics: StepMetrics) -> None:
            rate = metrics.num_tokens / metrics.seconds
            report(metrics.step, steps, f"loss {metrics.loss:.3f}, {rate:,.0f} tokens/s")

        summary = train(dataset, output, config, resume=resume, on_step=on_step)
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
