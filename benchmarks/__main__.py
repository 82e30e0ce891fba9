"""Run every benchmark and print its table: `python -m benchmarks`, or with names, `python -m benchmarks packing`."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmarks import (
    bench_contamination,
    bench_curation,
    bench_duplicates,
    bench_packing,
    bench_secrets,
    bench_statistics,
    bench_terminal,
)
from worldtape.console import note, show_text

_BENCHMARKS = {
    "statistics": bench_statistics.run,
    "secrets": bench_secrets.run,
    "duplicates": bench_duplicates.run,
    "contamination": bench_contamination.run,
    "curation": bench_curation.run,
    "packing": bench_packing.run,
    "terminal": bench_terminal.run,
}


def main(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Some of: {', '.join(_BENCHMARKS)} (default: all, in this order).")
    ] = None,
) -> None:
    """Measure ours beside a peer in one run, and print the ratios.

    WORLDTAPE_BENCH_GB is the size of the data set of `curation` (10), which takes a quarter of an hour then.

    Example: python -m benchmarks statistics secrets
    """
    unknown = sorted(set(names or ()) - set(_BENCHMARKS))
    if unknown:
        raise typer.BadParameter(f"there is no benchmark {', '.join(unknown)}; choose from {', '.join(_BENCHMARKS)}")
    for name in names or _BENCHMARKS:
        note(f"bench: {name} …")
        _BENCHMARKS[name]().show()
        show_text("")


if __name__ == "__main__":
    typer.run(main)
