"""Run every benchmark and print its table: `python -m benchmarks`, or with names, `python -m benchmarks packing`."""

from __future__ import annotations

import sys

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


def main() -> None:
    unknown = set(sys.argv[1:]) - set(_BENCHMARKS)
    if unknown:
        note(f"bench: there is no benchmark {', '.join(sorted(unknown))}; choose from {', '.join(_BENCHMARKS)}")
        sys.exit(2)
    for name in sys.argv[1:] or _BENCHMARKS:
        note(f"bench: {name} …")
        _BENCHMARKS[name]().show()
        show_text("")


if __name__ == "__main__":
    main()
