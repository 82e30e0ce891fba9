"""Counts the lines that the search for secrets runs through in texts of one piece again and again.

A program: it reads a JSON list of pieces and writes ``{piece: [steps in a short text, steps in one eight times as
long]}``. Run it with ``NUMBA_DISABLE_JIT=1``, so that the compiled functions are counted too; what happens inside an
expression is not.
"""

from __future__ import annotations

import json
import sys
from types import FrameType
from typing import Any

from curation.secrets import find

_SHORT, _LONG = 1_000, 8_000


def _num_steps(text: str) -> int:
    count = 0

    def step(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        return step

    sys.settrace(step)
    try:
        find(text)
    finally:
        sys.settrace(None)
    return count


def main() -> None:
    find("password=")  # what is made once, is made
    counts = {
        piece: [_num_steps(piece * (size // len(piece))) for size in (_SHORT, _LONG)] for piece in json.load(sys.stdin)
    }
    print(json.dumps(counts))  # noqa: T201


if __name__ == "__main__":
    main()
