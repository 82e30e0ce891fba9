"""The main job end to end, verb by verb, as a newcomer would type it; `make demo` runs it.

Everything it makes lies in ``demo-output`` and is made anew at every run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sandboxes.images import cache_folder
from trajectories import Dataset
from worldtape.console import note, show_facts, show_table

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = Path("demo-output")
DATASET = OUTPUT / "dataset"

Json = dict[str, Any]


def main() -> None:
    os.chdir(ROOT)
    started = time.monotonic()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    scripted = worldtape("collect", "examples/tasks", "--dataset", DATASET, "--run", "scripted")
    explored = worldtape(
        *("collect", "examples/tasks/explore.yaml", "--dataset", DATASET, "--run", "explore"),
        *("--policy", "explore", "--num", 2, "--seed", 7),
    )
    curated = worldtape("curate", DATASET)
    tokenizer = cache_folder() / "tokenizers/qwen3"
    packed = worldtape("pack", DATASET, "--tokenizer", tokenizer, "--context", 1024)
    trained = worldtape(
        *(
            "train",
            "--shards",
            DATASET / "shards/default",
            "--output",
            OUTPUT / "run",
            "--model",
            "tiny",
            "--lr",
            0.003,
        ),
        *("--steps", 30, "--warmup", 5),
    )
    show_summary(curated, packed, trained, failures={**scripted["failures"], **explored["failures"]})
    note(f"\nThe whole job took {time.monotonic() - started:.0f} s.")


def worldtape(*arguments: object) -> Json:
    """Run a verb of the command line, shown as typed, and return what it reports."""
    words = [str(argument) for argument in arguments]
    note(f"\n$ worldtape {' '.join(words)}")
    command = [str(Path(sys.executable).with_name("worldtape")), *words, "--json"]
    finished = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if finished.returncode:
        sys.exit(finished.returncode)
    report: Json = json.loads(finished.stdout)
    return report


def show_summary(curated: Json, packed: Json, trained: Json, *, failures: Mapping[str, str]) -> None:
    """What came out, and where it lies."""
    trajectories = Dataset(DATASET).scan_trajectories().select("domain", "num_turns").collect()
    per_domain = trajectories.group_by("domain").agg(pl.len(), pl.col("num_turns").sum()).sort("domain")
    note("")
    show_table("Recorded", ("domain", "trajectories", "turns"), per_domain.iter_rows())
    classes = [
        (name, count["turns"], f"{count['turns'] / curated['turns']:.1%}", count["kept"])
        for name, count in curated["classes"].items()
    ]
    show_table("The seven classes", ("class", "turns", "share", "in the loss"), classes)
    packs, first, last = packed["packs"], trained["first"], trained["last"]
    show_facts(
        "Came to",
        {
            "tokens": f"{packed['num_tokens']:,} ({packed['num_loss_tokens']:,} in the loss)",
            "packs": f"{packs['num_packs']} of {packs['context']:,} tokens, {packs['fill']:.1%} full",
            "loss": f"{first['loss']:.3f} → {last['loss']:.3f} in {last['step']} steps",
            "data set": DATASET,
            "report": os.path.relpath(curated["report"]),
            "model": trained["checkpoint"],
            "read it": f".venv/bin/worldtape inspect {DATASET}",
        },
    )
    for episode, reason in failures.items():
        note(f"failed: {episode}: {reason}")


if __name__ == "__main__":
    main()
