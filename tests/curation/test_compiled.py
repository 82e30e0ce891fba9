"""Compiled code is kept, and never outlives what it was made of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_CALL = """
import sys
import numpy as np
import curation.compiled
if len(sys.argv) > 1:
    curation.compiled.compiled_digest = lambda: sys.argv[1]
from curation.kernel import decode
assert decode(np.frombuffer("é".encode(), np.uint8), 0, 2) == (233, 2)
print(sum(decode.stats.cache_hits.values()), sum(decode.stats.cache_misses.values()))
"""


def test_what_was_compiled_of_other_sources_is_compiled_again(tmp_path: Path) -> None:
    def hits_and_misses(*sources: str) -> str:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", _CALL, *sources]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()

    assert [hits_and_misses(), hits_and_misses()] == ["0 1", "1 0"]
    assert [hits_and_misses("others"), hits_and_misses("others"), hits_and_misses()] == ["0 1", "1 0", "1 0"]
